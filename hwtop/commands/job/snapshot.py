"""`hwtop snapshot`: everything once."""

from __future__ import annotations

import click

from hwtop.commands.shared.options import length, length_of, reading
from hwtop.commands.shared.target import target, target_or_none

_COST_SECONDS = 11.0
"""The slowest readings of a GPU, those of its health, happen every 10 s."""
_COST_INTERVAL_S = 1.0
"""As on the screen."""


@click.command()
@target
@reading
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@length
@click.option(
    "--costs",
    is_flag=True,
    help=f"Watch for {_COST_SECONDS:.0f} s, then print the time spent in each NVML function.",
)
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    as_json: bool,
    costs: bool,
) -> None:
    """Read the machine (and the job of PID, if given) once, with rates over one second."""
    from hwtop.feed.watch import RATES_S, last_frame, watch
    from hwtop.job.log.own_report import signed, signed_json
    from hwtop.report.frame import gpu_costs, json_report, text
    from hwtop.report.json_text import encode
    from hwtop.symptoms.summary import cut

    form = length_of(ctx, as_json=as_json)
    target_pid = target_or_none(ctx)
    if costs:
        frames = watch(
            target_pid, seconds=_COST_SECONDS, interval_s=_COST_INTERVAL_S, log_globs=logs, gpus=gpus, gpu_costs=True
        )
        frame = last_frame(gpu_costs.while_any(frames))
    else:
        frame = last_frame(watch(target_pid, seconds=RATES_S, log_globs=logs, gpus=gpus))
    if as_json:
        print(signed_json(encode(json_report.snapshot(frame, with_costs=costs))))
    elif costs:
        print(gpu_costs.table(frame), end="")
    elif form.is_oneline:
        print(cut(f"{frame.derived.host}  {frame.verdict.text}"))
    else:
        print(signed(text.machine(frame, is_brief=form.is_brief, most_bytes=form.most_bytes)), end="")

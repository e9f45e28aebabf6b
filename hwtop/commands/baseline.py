"""`hwtop baseline`: is it slower than a good run, and where."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from hwtop.commands.options import Seconds, reading, resolve_target
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.model.baseline import Baseline

_TARGETS = click.argument("targets", nargs=-1, required=True, metavar="PID|FILE...")
_NAME = click.option("--name", metavar="NAME", help="Of the baseline; else made of script and number of ranks.")
_FOR = click.option(
    "--for", "seconds", type=Seconds(5, 600), default="60s", show_default=True, help="How long to watch a process."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def command() -> None:
    """Store what a good run is like, and compare later runs with it: slower, and where?

    Stored in ~/.local/state/hwtop/baselines: medians and what identifies the job, no arguments, paths or environment.
    """


@command.command("save", short_help="Store a run that goes well.")
@_TARGETS
@_NAME
@_FOR
@reading
@_JSON
@click.option("--force", is_flag=True, help="Overwrite a baseline of that name.")
def save(
    targets: tuple[str, ...],
    name: str | None,
    seconds: float,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    as_json: bool,
    force: bool,
) -> None:
    """Watch the job of PID for a while, or read logs of a good run (pace only), and store it as a baseline."""
    from hwtop.report import json_report
    from hwtop.report.baseline import saved_text
    from hwtop.state import baselines

    if name is not None and baselines.checked_name(name) in baselines.names() and not force:
        raise UsageError(f"there is a baseline {name!r} already: overwrite it with --force, or give another --name")
    found = _measured(targets, seconds, logs, gpus)
    if not found.levels:
        raise CannotError("nothing could be measured: watch longer, with --for 2m")
    chosen = name or baselines.derived_name(found.identity)
    place = baselines.save(found, chosen, force=force)
    if as_json:
        print(json_report.encode({"name": chosen, "path": str(place), "baseline": json_report.plain(found)}))
        return
    for line in saved_text(found, chosen):
        print(line)
    if not {"step_time_s", "throughput"} & found.levels.keys():
        print("no step time or throughput is told: it cannot answer whether a run is slower; try --logs GLOB")


@command.command("compare", short_help="Is a run slower than its baseline, and where?")
@_TARGETS
@_NAME
@_FOR
@reading
@_JSON
@click.pass_context
def compare(
    ctx: click.Context,
    targets: tuple[str, ...],
    name: str | None,
    seconds: float,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    as_json: bool,
) -> None:
    """Watch the job of PID for a while, or read logs, and tell what differs clearly from the baseline.

    Exit code: 0 not slower, 1 clearly slower, 2 cannot tell (with the reason).
    """
    from hwtop.report import json_report
    from hwtop.report.baseline import comparison_json, comparison_text
    from hwtop.state import baselines
    from hwtop.symptoms.baseline import compare as compared

    then = baselines.load(name) if name is not None else None
    now = _measured(targets, seconds, logs, gpus)
    chosen = name or baselines.derived_name(now.identity)
    then = then or baselines.load(chosen)
    found = compared(then, now)
    if as_json:
        print(json_report.encode(comparison_json(found, then, now, chosen)))
    else:
        print("\n".join(comparison_text(found, then, now, chosen)))
    sys.stdout.flush()
    if found.is_slower is None:
        raise CannotError(
            "no step time or throughput (in one unit) is known of both runs: name the log with --logs GLOB, or see `hwtop heartbeat -h`"
        )
    ctx.exit(1 if found.is_slower else 0)


@command.command("list", short_help="The stored baselines.")
def list_() -> None:
    """The stored baselines, one a line; then what hwtop has learned by itself of quiet runs ([baselines] learn = false ends that)."""
    from hwtop.report.baseline import list_line
    from hwtop.state import baselines, learned

    for name in baselines.names():
        print(_line(name))
    runs = learned.everything()
    if runs:
        print(f"learned, in {learned.folder()} (may be deleted):")
    for run in runs:
        print(f"  {list_line(baselines.derived_name(run.identity), run)}")


def _line(name: str) -> str:
    """Of one that cannot be read, why."""
    from hwtop.report.baseline import list_line
    from hwtop.state import baselines

    try:
        return list_line(name, baselines.load(name))
    except UsageError as error:
        return f"{name}: {error}"


def _measured(
    targets: tuple[str, ...], seconds: float, logs: tuple[str, ...], gpus: tuple[int, ...] | None
) -> Baseline:
    import time

    from hwtop.feed.baseline import of_job, of_logs

    are_pids = [re.fullmatch(r"\d+|slurm:.*", target) is not None for target in targets]
    if not any(are_pids):
        return of_logs(targets, time.time())
    if len(targets) > 1:
        raise UsageError("give one PID, or log files, not both: a PID stands for its whole job")
    target_pid = resolve_target(targets[0], None, None, required=True)
    if target_pid is None:
        raise UsageError("which job? Give the PID of any of its processes")
    return of_job(target_pid, seconds=seconds, log_globs=logs, gpus=gpus)

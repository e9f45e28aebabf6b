"""`hwtop snapshot`: everything once."""

from __future__ import annotations

import click

from hwtop.commands.options import reading, resolve_target, target

_SECONDS = 1.0
"""Rates need two readings; a second lies between them."""


@click.command()
@target
@reading
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (the default is a short text).")
def command(
    pid: str | None,
    pid_option: str | None,
    name: str | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    as_json: bool,
) -> None:
    """Read the machine (and the job of PID, if given) once, with rates over one second."""
    from hwtop.feed.watch import last_frame, watch
    from hwtop.report import json_report, text

    target_pid = resolve_target(pid, pid_option, name, required=False)
    frame = last_frame(watch(target_pid, seconds=_SECONDS, log_globs=logs, gpus=gpus))
    if as_json:
        print(json_report.encode(json_report.snapshot(frame)))
    else:
        print(text.machine(frame), end="")

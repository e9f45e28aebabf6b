"""`hwtop baseline`: whether a run is slower than a good one, and where."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared.options import json_flag, reading
from hwtop.commands.shared.target import resolve_target
from hwtop.commands.shared.values import Seconds
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.model.baseline import Baseline

_TARGETS = click.argument("targets", nargs=-1, required=True, metavar="PID|FILE...")
_NAME = click.option("--name", metavar="NAME", help="Name of the baseline.  [default: script name and number of ranks]")
_FOR = click.option(
    "--for", "seconds", type=Seconds(5, 600), default="60s", show_default=True, help="How long to watch the job."
)


@click.group()
def command() -> None:
    """Save a good run as a baseline, and compare later runs with it: slower or not, and where.

    Baselines are in ~/.local/state/hwtop/baselines. They hold medians and what identifies the job; no arguments, paths or
    environment variables.
    """


@command.command("save", short_help="Save a good run as a baseline.")
@_TARGETS
@_NAME
@_FOR
@reading
@json_flag
@click.option("--force", is_flag=True, help="Overwrite an existing baseline of that name.")
def save(
    targets: tuple[str, ...],
    name: str | None,
    seconds: float,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    as_json: bool,
    force: bool,
) -> None:
    """Watch the job of PID, or read logs of a good run (step time and throughput only), and save it as a baseline."""
    from hwtop.report.baseline import SavedBaseline, saved_text
    from hwtop.report.json_text import encode
    from hwtop.state import baselines

    if name is not None and baselines.checked_name(name) in baselines.names() and not force:
        raise UsageError(f"baseline {name!r} already exists: overwrite it with --force, or choose another --name")
    found = _measured(targets, seconds, logs, gpus)
    if not found.levels:
        raise CannotError("nothing could be measured: watch longer, e.g. --for 2m")
    chosen = name or baselines.derived_name(found.identity)
    place = baselines.save(found, chosen, force=force)
    if as_json:
        print(encode(SavedBaseline(name=chosen, path=str(place), baseline=found)))
        return
    for line in saved_text(found, chosen):
        print(line)
    if not {"step_time_s", "throughput"} & found.levels.keys():
        print(
            "no step time or throughput in it, so it cannot show whether a run is slower: name the log with --logs GLOB"
        )


@command.command("compare", short_help="Compare a run with its baseline.")
@_TARGETS
@_NAME
@_FOR
@reading
@json_flag
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
    """Watch the job of PID, or read logs, and print what clearly differs from the baseline.

    Exit code: 0 not slower, 1 clearly slower, 2 unknown (with the reason).
    """
    from hwtop.report.baseline import comparison_report, comparison_text
    from hwtop.report.json_text import encode
    from hwtop.state import baselines
    from hwtop.symptoms.runs.baseline import compare as compared

    then = baselines.load(name) if name is not None else None
    now = _measured(targets, seconds, logs, gpus)
    chosen = name or baselines.derived_name(now.identity)
    then = then or baselines.load(chosen)
    found = compared(then, now)
    if as_json:
        print(encode(comparison_report(found, then, now, chosen)))
    else:
        print("\n".join(comparison_text(found, then, now, f"baseline {chosen}")))
    sys.stdout.flush()
    if found.is_slower is None:
        raise CannotError(
            "the two runs have no step time and no throughput in the same unit: name the log with --logs GLOB, or see `hwtop heartbeat -h`"
        )
    ctx.exit(1 if found.is_slower else 0)


@command.command("list", short_help="List the baselines.")
def list_() -> None:
    """List the baselines, one per line, then what hwtop has learned from runs without problems.

    Setting: [baselines] learn = false turns learning off.
    """
    from hwtop.report.baseline import list_line
    from hwtop.state import baselines, learned

    for name in baselines.names():
        print(_line(name))
    runs = learned.everything()
    if runs:
        print(f"learned, in {learned.folder()} (can be deleted):")
    for run in runs:
        print(f"  {list_line(baselines.derived_name(run.identity), run)}")


def _line(name: str) -> str:
    """Its line, or why it cannot be read."""
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
        raise UsageError("give one PID or log files, not both; a PID stands for its whole job")
    target_pid = resolve_target(targets[0], None, None, required=True)
    if target_pid is None:
        raise UsageError("no job given: pass the PID of any of its processes")
    return of_job(target_pid, seconds=seconds, log_globs=logs, gpus=gpus)

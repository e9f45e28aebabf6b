"""`hwtop stacks`: where all ranks are in their Python code."""

from __future__ import annotations

import click

from hwtop.commands.job.stacks_export import FORMATS, export
from hwtop.commands.shared.options import json_flag, length, length_of, sudo
from hwtop.commands.shared.target import given_target, target, target_of
from hwtop.commands.shared.values import Seconds
from hwtop.errors import UsageError

_EXPORT_S = 10.0


@click.command()
@target
@sudo
@json_flag
@length
@click.option(
    "--flight-recorder",
    "flight_folder",
    metavar="DIR",
    help="Analyse the Flight Recorder dumps in DIR; takes no PID.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Sample for some seconds and print the samples for a flame graph.",
)
@click.option("--for", "seconds", type=Seconds(1, 600), help="With --format: how long to sample.  [default: 10s]")
@click.option("-o", "--output", metavar="FILE", help="With --format: output file.  [default: standard output]")
@click.option("--rank", type=click.IntRange(0), help="With --format: sample only this rank.")
@click.pass_context
def command(
    ctx: click.Context,
    as_json: bool,
    flight_folder: str | None,
    form: str | None,
    seconds: float | None,
    output: str | None,
    rank: int | None,
) -> None:
    """Print the Python stacks of all ranks of PID's job, grouped: which ranks differ, and where.

    PID can be any process of the job. The job is not paused.
    """
    if form is None and (seconds is not None or output is not None or rank is not None):
        raise UsageError("--for, --output and --rank require --format speedscope or --format collapsed")
    if form is not None and (as_json or flight_folder is not None):
        raise UsageError(f"--format {form} prints samples: leave out {'--json' if as_json else '--flight-recorder'}")
    size = length_of(ctx, as_json=as_json)
    if size.is_short and (form is not None or flight_folder is not None):
        raise UsageError(
            "--brief, --max-bytes and --oneline are for the stacks of now: leave out --format and --flight-recorder"
        )
    if flight_folder is not None:
        _flight(flight_folder, [value for value in given_target(ctx) if value is not None], as_json)
        return
    from hwtop.report.job.stacks_now import stacks_now
    from hwtop.report.job.stacks_text import stacks_text
    from hwtop.report.json_text import encode
    from hwtop.symptoms.summary import cut

    target_pid = target_of(ctx)
    if form is not None:
        export(target_pid, seconds or _EXPORT_S, form, output, rank)
        return
    report = stacks_now(target_pid)
    if as_json:
        print(encode(report))
    elif size.is_oneline:
        print(cut(report.sentence))
    else:
        print(stacks_text(report, size.most_bytes), end="")


def _flight(folder: str, given: list[str], as_json: bool) -> None:
    """Report on dump files alone."""
    from hwtop.collectors.flight.folder import dumps_in
    from hwtop.errors import UsageError
    from hwtop.report.job.flight import flight_report, flight_text
    from hwtop.report.json_text import encode

    if given:
        raise UsageError(f"--flight-recorder reads only files: leave out {given[0]}")
    report = flight_report(folder, dumps_in(folder))
    print(encode(report) if as_json else flight_text(report), end="\n" if as_json else "")

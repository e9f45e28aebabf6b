"""`hwtop wait`: returns on an event."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared import status_line
from hwtop.commands.shared.options import json_flag, on_finding, reading, report_failure, settings, settings_of
from hwtop.commands.shared.target import target, target_of
from hwtop.commands.shared.values import Seconds

if TYPE_CHECKING:
    from hwtop.model.frame import Frame

_DAY_S = 86400.0


@click.command()
@target
@reading
@settings
@click.option(
    "--until",
    "events",
    multiple=True,
    metavar="EVENT",
    help="ended, stalled, symptom, symptom:ID, step=N or loss<X (quote it); may be given several times.  [default: stalled]",
)
@click.option(
    "--timeout", type=Seconds(1, 30 * _DAY_S), default="24h", show_default=True, help="Return at the latest then."
)
@click.option(
    "--quiet-for", type=Seconds(1, _DAY_S), help="Also return as stalled after so long without a log line or step."
)
@on_finding
@json_flag
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    events: tuple[str, ...],
    timeout: float,
    quiet_for: float | None,
    on_finding: str | None,
    as_json: bool,
) -> None:
    """Wait until the job that PID belongs to ends, or one of the events happens; then print why, and how the job is.

    Exit code: 0 the job ended well, or a step or loss was reached; 1 it ended badly, stalled or has a symptom; 2 not possible
    (with the reason); 124 timeout.
    """
    from hwtop.bundle.incident import keeper
    from hwtop.feed.call import Announcer
    from hwtop.feed.feed import both
    from hwtop.feed.flight import Flight
    from hwtop.feed.learn import learner
    from hwtop.feed.until import first_event
    from hwtop.feed.vigil import conditions, vigil
    from hwtop.job.log.own_report import signed, signed_json
    from hwtop.report.frame.wait import exit_code_of, wait_report, wait_text
    from hwtop.report.json_text import encode

    until = conditions(events or ("stalled",))
    target_pid = target_of(ctx)
    config = settings_of(ctx)
    announcer = Announcer(on_finding, report_failure)
    flight = Flight(config.recording.flight, target_pid)
    incident = keeper(config.incidents.save, flight.snapshots)

    def each(frame: Frame) -> None:
        status_line.show(f"{frame.watched_s:.0f} s: {frame.verdict.text}")
        announcer.advance(frame)
        incident.advance(frame)

    coming = vigil(
        target_pid,
        most_s=timeout,
        log_globs=logs,
        gpus=gpus,
        symptoms=config.symptoms,
        learner=learner(config.baselines.learn),
        store=both(flight.store, incident.store),
    )
    frame, found = first_event(target_pid, coming, until, quiet_for_s=quiet_for, timeout_s=timeout, each=each)
    status_line.show("")
    announcer.finish()
    saved = incident.finish()
    if as_json:
        print(signed_json(encode(wait_report(frame, found, target_pid, saved))))
    else:
        print(signed(wait_text(frame, found, saved)), end="")
    sys.stdout.flush()
    ctx.exit(exit_code_of(frame, found))

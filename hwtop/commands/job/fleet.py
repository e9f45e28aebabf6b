"""`hwtop fleet`: a job on several nodes."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from hwtop.commands.job.diagnose import print_report, report_flags
from hwtop.commands.saved.record import max_size as size_option
from hwtop.commands.saved.record import summary, until_interrupted
from hwtop.commands.serve.export import exporter, listening, pushing
from hwtop.commands.shared import screen
from hwtop.commands.shared.nodes import launcher_of, nodes
from hwtop.commands.shared.options import (
    F,
    end_as_interrupted,
    length,
    length_of,
    on_finding,
    report_failure,
    settings_of,
)
from hwtop.commands.shared.values import Seconds
from hwtop.errors import CannotError, HwtopError, UsageError

if TYPE_CHECKING:
    from hwtop.config import SymptomConfig
    from hwtop.feed.call import Announcer
    from hwtop.fleet.live import LiveFleet
    from hwtop.model.frame import Frame
    from hwtop.store.writer import Writer
    from hwtop.ui.options import Show

_DIAGNOSE_S = 20.0


def job(function: F) -> F:
    """Which job on each node, and how to run hwtop there."""
    for option in (
        click.option(
            "--agent",
            metavar="COMMAND",
            help="How to run hwtop on the nodes, e.g. 'uvx hwtop'.  [default: as here, or from PATH]",
        ),
        click.option(
            "-p", "--pid", metavar="PID", help="The job, by the same PID on each node. Also slurm:JOBID[.STEP]."
        ),
        click.option(
            "--name",
            metavar="PATTERN",
            help="The job whose command line matches this regular expression; {host} is the node.  [default: the only training job]",
        ),
    ):
        function = option(function)
    return function


@click.command()
@nodes
@job
@screen.looks
@click.option("--diagnose", is_flag=True, help="Print what is wrong, without a screen.")
@click.option(
    "--for",
    "seconds",
    type=Seconds(1, 86400),
    help=f"How long to watch.  [default: {_DIAGNOSE_S:.0f}s with --diagnose; until the job ends with --record]",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Record into FILE, without a screen, until the job ends or Ctrl-C. `hwtop replay` shows it.",
)
@size_option("With --record: size of the file beyond which the oldest part is removed.")
@click.option(
    "--details", metavar="NODE", help="With --record: record this node in full, so that a replay can open it."
)
@click.option(
    "-i",
    "--interval",
    type=Seconds(0.2, 60),
    default="1s",
    show_default=True,
    help="Time between two reports of a node.",
)
@report_flags
@click.option("--prometheus", is_flag=True, help="Serve metrics of all nodes, without a screen, until Ctrl-C.")
@listening
@pushing
@length
@on_finding
@click.pass_context
def command(
    ctx: click.Context,
    /,
    name: str | None,
    pid: str | None,
    agent: str | None,
    diagnose: bool,
    seconds: float | None,
    record: Path | None,
    max_size: int,
    details: str | None,
    interval: float,
    as_json: bool,
    markdown: bool,
    on_finding: str | None,
    fail_on: str,
    prometheus: bool,
    otlp: str | None,
    **_: Any,
) -> None:
    """Watch one job on several nodes: hwtop runs on each of them, started by ssh, Slurm, Ray or Kubernetes, and ends with this one.

    The screen shows all nodes, the worst first, and opens one with Enter. --diagnose prints what is wrong instead; its exit code is as
    of hwtop diagnose. --record keeps it all in a file. Nothing is installed, no port is opened.
    """
    from hwtop.feed.call import Announcer
    from hwtop.feed.watch import last_frame
    from hwtop.fleet.assemble import FleetAssembler
    from hwtop.fleet.launchers.launcher import Agent
    from hwtop.fleet.live import LiveFleet
    from hwtop.fleet.watch import watch, without_job
    from hwtop.store.kind import FLEET
    from hwtop.store.writer import Writer

    form = length_of(ctx, as_json=as_json)
    diagnose = diagnose or as_json or markdown or form.is_oneline
    if record is not None and (diagnose or prometheus or otlp is not None):
        raise UsageError("--record only records: `hwtop replay FILE --diagnose` prints what is wrong in the file")
    if details is not None and record is None:
        raise UsageError("--details needs --record: the screen opens a node with Enter")
    launcher = launcher_of(ctx)
    if prometheus and otlp is not None:
        raise UsageError("choose --prometheus or --otlp")
    export = exporter(ctx, otlp) if prometheus or otlp is not None else None
    fleet = LiveFleet(launcher, Agent(program=agent, name=name, pid=pid, interval_s=interval), interval_s=interval)
    if export is not None:
        with contextlib.closing(fleet):
            export(map(FleetAssembler(settings_of(ctx).symptoms).advance, fleet))
        return
    if not (diagnose or record is not None):
        _show(ctx, fleet)
        return
    announcer, symptoms = Announcer(on_finding, report_failure), settings_of(ctx).symptoms
    if record is not None:
        if details is not None:
            fleet.check_name(details)
            fleet.set_focus(details)
        writer = Writer(record, kind=FLEET, most_bytes=max_size)
        _record(fleet, writer, record, seconds, symptoms, announcer)
        return
    end_as_interrupted()
    frame = last_frame(watch(fleet, seconds=seconds or _DIAGNOSE_S, symptoms=symptoms), announcer.advance)
    announcer.finish()
    if frame.derived.job is None:
        raise CannotError(without_job(frame.nodes))
    ctx.exit(print_report(frame, form, as_json=as_json, markdown=markdown, fail_on=fail_on))


def _record(
    fleet: LiveFleet,
    writer: Writer,
    place: Path,
    seconds: float | None,
    symptoms: SymptomConfig,
    announcer: Announcer,
) -> None:
    """Into the file, until the job ends, the time is up, or Ctrl-C.

    Raises:
        HwtopError: the file cannot be written, or no node could be reached.
    """
    from hwtop.feed.record import Recorder
    from hwtop.fields import units
    from hwtop.fleet.watch import watch
    from hwtop.job.log.text import visible

    recorder = Recorder(lambda: writer)
    until = f"for {units.duration(seconds)}" if seconds else "until the job ends or Ctrl-C"
    print(visible(f"recording all nodes into {place} {until}"), flush=True)
    watched = watch(fleet, seconds=seconds or math.inf, symptoms=symptoms, store=recorder.put, is_short=False)
    newest: deque[Frame] = deque(maxlen=1)
    try:
        with until_interrupted(), contextlib.closing(watched):
            for frame in watched:
                newest.append(frame)
                announcer.advance(frame)
                if recorder.error is not None:
                    break
    except HwtopError:
        recorder.close()
        if not any(node.report is not None for frame in newest for node in frame.nodes):
            place.unlink()  # nothing was seen, and the next try may have the same name
        raise
    recorder.close()
    announcer.finish()
    print(visible(f"recorded {place}: {summary(newest[0], place.stat().st_size) if newest else 'nothing'}"))
    if recorder.left_out:
        print(f"{recorder.left_out} readings are missing: the disk was too slow")
    if recorder.error is not None:
        raise recorder.error


def _show(ctx: click.Context, fleet: LiveFleet) -> None:
    """The screen, until the user quits.

    Raises:
        HwtopError: the screen cannot be shown, or no agent could be started.
    """
    from hwtop.commands.job import live
    from hwtop.feed.record import RecordingSwitch
    from hwtop.fleet.feed import FleetFeed
    from hwtop.store.kind import FLEET

    opening = screen.opening(ctx)
    recording = RecordingSwitch(kind=FLEET)
    feeds: list[FleetFeed] = []

    def start(show: Show) -> FleetFeed:
        feeds.append(FleetFeed(fleet, show, opening.config.symptoms, recording.store))
        feeds[0].start()
        return feeds[0]

    live.run(replace(opening, options=replace(opening.options, record=recording.toggle)), start)
    recording.close()
    for feed in feeds:
        feed.finish()
        if feed.failure is not None:
            raise feed.failure

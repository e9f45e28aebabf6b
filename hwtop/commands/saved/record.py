"""`hwtop record`: a watch in a file."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared import screen
from hwtop.commands.shared.options import F, end_as_interrupted, reading, settings, settings_of
from hwtop.commands.shared.target import target, target_or_none
from hwtop.commands.shared.values import Bytes, Seconds

if TYPE_CHECKING:
    from hwtop.model.frame import Frame

_LEAST_BYTES = 4 << 20
"""Holds several key frames of a large job."""
_WEEK_S = 7 * 86400


def max_size(words: str) -> Callable[[F], F]:
    """--max-size, with this help text."""
    return click.option("--max-size", type=Bytes(_LEAST_BYTES), default="1G", show_default=True, help=words)


@click.command()
@target
@reading
@settings
@screen.interval
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to create, e.g. run.hwtop.")
@click.option("--for", "seconds", type=Seconds(1, _WEEK_S), help="How long to record.  [default: until the job ends]")
@max_size("Size of the file beyond which the oldest part is removed.")
@click.option(
    "--keep", type=Seconds(60, _WEEK_S), help="Remove what is older, e.g. 30m.  [default: nothing is too old]"
)
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    interval: float,
    output: Path,
    seconds: float | None,
    max_size: int,
    keep: float | None,
) -> None:
    """Record the job that PID belongs to until it ends; without PID, the machine until Ctrl-C. `hwtop replay` shows the file.

    It holds what was read, with secrets masked: GPUs, host, processes, stacks, log lines. Only you can read it. It stays readable
    however the recording ends.
    """
    from hwtop.bundle.incident import keeper
    from hwtop.feed.feed import both
    from hwtop.feed.flight import Flight
    from hwtop.feed.live import LIVE_STACK_BUDGET_PCT
    from hwtop.feed.record import Recorder
    from hwtop.feed.watch import watch
    from hwtop.fields import units
    from hwtop.job.log.text import visible
    from hwtop.report.frame.wait import incident_line
    from hwtop.store.writer import Writer

    target_pid = target_or_none(ctx)
    who = "this machine" if target_pid is None else f"the job of PID {target_pid}"
    until = units.duration(seconds) if seconds else "Ctrl-C" if target_pid is None else "the job ends or Ctrl-C"
    writer = Writer(output, most_bytes=max_size, keep_s=keep)
    recorder = Recorder(lambda: writer)
    print(visible(f"recording {who} into {output} {'for' if seconds else 'until'} {until}"), flush=True)
    flight = Flight(settings_of(ctx).recording.flight, target_pid)
    incident = keeper(settings_of(ctx).incidents.save, flight.snapshots)
    newest: deque[Frame] = deque(maxlen=1)
    with until_interrupted():
        for frame in watch(
            target_pid,
            seconds=seconds or math.inf,
            interval_s=interval,
            log_globs=logs,
            gpus=gpus,
            symptoms=settings_of(ctx).symptoms,
            store=both(recorder.put, flight.store, incident.store),
            stack_budget_pct=LIVE_STACK_BUDGET_PCT,
        ):
            newest.append(frame)
            incident.advance(frame)
            if recorder.error is not None:
                break
    recorder.close()
    print(visible(f"recorded {output}: {summary(newest[0], output.stat().st_size) if newest else 'nothing'}"))
    if (saved := incident.finish()) is not None:
        print(incident_line(saved))
    if recorder.left_out:
        print(f"{recorder.left_out} snapshots are missing: the disk was too slow")
    if recorder.error is not None:
        raise recorder.error


def summary(frame: Frame, size_bytes: int) -> str:
    """What a recording of this size holds, by its last frame."""
    from hwtop.fields import units

    found = ", ".join(dict.fromkeys(episode.symptom for episode in frame.episodes)) or "nothing"
    return f"{units.duration(frame.watched_s)}, {units.size(size_bytes)}; found: {found}. {frame.verdict.text}"


@contextlib.contextmanager
def until_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end the recording as Ctrl-C does, unless they are ignored (nohup)."""
    end_as_interrupted()
    with contextlib.suppress(KeyboardInterrupt):
        yield

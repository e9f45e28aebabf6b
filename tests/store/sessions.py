"""Snapshots to record, and files made of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hwtop.model.reported.log import LogLine, LogReading
from hwtop.model.snapshot import Snapshot
from hwtop.store.reader import Recording
from hwtop.store.writer import Writer
from tests import recording


@cache
def hang() -> tuple[Snapshot, ...]:
    """108 s of a job of 8 ranks on 8 GPUs."""
    return tuple(recording.load("hang"))


def minutes(count: int) -> list[Snapshot]:
    """`hang` again and again, one Snapshot a second."""
    wanted, source = 60 * count, hang()
    return [at(source[second % len(source)], second) for second in range(wanted)]


def at(snapshot: Snapshot, second: float) -> Snapshot:
    """The Snapshot as one of this second."""
    return replace(snapshot, at_s=1000.0 + second, time_s=1_700_000_000.0 + second)


def flooded(snapshot: Snapshot, texts: Iterable[str]) -> Snapshot:
    """With these log lines, the newest last."""
    lines = tuple(LogLine(path="/runs/job.log", line_no=None, text=text, at_s=snapshot.at_s) for text in texts)
    return replace(snapshot, logs=LogReading(at_s=snapshot.at_s, files=(), lines=lines))


def written(place: Path, snapshots: Iterable[Snapshot], **limits: float | None) -> Path:
    """A recording of them."""
    writer = Writer(place, **limits)  # type: ignore[arg-type]
    for snapshot in snapshots:
        writer.add(snapshot)
    writer.close()
    return place


def read(place: Path) -> list[Snapshot]:
    """All that can be read."""
    found = Recording(place)
    try:
        return list(found.snapshots())
    finally:
        found.close()

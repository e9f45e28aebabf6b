"""Readings of a whole watch of two nodes, made of a recorded session of one machine, and their files.

python -m tests.fleet.sessions    write tests/data/recordings/fleet.hwtop anew, after a change that old files do not survive
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hwtop.model.fleet import FleetReading, NodeReport
from hwtop.model.frame import Frame
from hwtop.store.kind import FLEET
from hwtop.store.reader import FleetRecording
from hwtop.store.writer import Writer
from tests.fleet.nodes import OFFSET_S, node, reports
from tests.recording import RECORDINGS, load, replay

NAMES = ("a", "b")
STORED = RECORDINGS / "fleet.hwtop"
"""Kept as the first version that could do so has written it: files of users are as old."""
STORED_COUNT = 10
FOCUSED = range(40, 60)
"""Readings with whole Snapshots of node b."""
THROTTLED_FROM = 10
"""Reading from which GPU 0 of node a has less than half of its clock."""
LOST_FROM = 100
"""Reading from which node a is silent."""


@cache
def hang() -> tuple[FleetReading, ...]:
    """Rank 5, on node b, does not come to a collective; before that a GPU of node a is slow, after that the node is lost."""
    found: list[FleetReading] = []
    for frame, snapshot in zip(replay("hang"), load("hang"), strict=True):
        job = frame.derived.job
        if job is None or len(job.ranks) != 8:
            continue
        number = len(found)
        is_focused = number in FOCUSED
        whole = _reading(frame, number, found[-1] if found else None)
        found.append(
            replace(whole, focus="b" if is_focused else None, snapshots=(snapshot,) if is_focused else ()),
        )
    assert len(found) > LOST_FROM + 5
    return tuple(found)


def _reading(frame: Frame, number: int, before: FleetReading | None) -> FleetReading:
    first, second = reports(frame, NAMES)
    if number >= THROTTLED_FROM:
        first = _throttled(first)
    nodes = [node("a", first), node("b", second)]
    if number >= LOST_FROM and before is not None:
        silent_s = float(number - LOST_FROM + 11)
        nodes[0] = replace(
            before.nodes[0], status="lost", age_s=silent_s, reason=f"silent for {silent_s:.0f} s", skipped=3
        )
    derived = frame.derived
    return FleetReading(time_s=derived.time_s, at_s=derived.at_s + OFFSET_S, interval_s=1.0, nodes=tuple(nodes))


def _throttled(report: NodeReport) -> NodeReport:
    slow, *others = report.gpus
    slow = replace(slow, sm_clock_mhz=0.4 * (slow.sm_clock_mhz or 0.0), throttle=("hw_thermal",), temp_c=93.0)
    return replace(report, gpus=(slow, *others))


def at(reading: FleetReading, second: int) -> FleetReading:
    """The same so long after the first one of `hang`."""
    first = hang()[0]
    return replace(reading, time_s=first.time_s + second, at_s=first.at_s + second)


def written(place: Path, readings: Iterable[FleetReading]) -> Path:
    """The file."""
    writer = Writer(place, kind=FLEET)
    for reading in readings:
        writer.add(reading)
    writer.close()
    return place


def read(place: Path) -> list[FleetReading]:
    """All that can be read."""
    recording = FleetRecording(place)
    try:
        return list(recording.readings())
    finally:
        recording.close()


if __name__ == "__main__":
    STORED.unlink(missing_ok=True)
    written(STORED, hang()[FOCUSED[0] : FOCUSED[0] + STORED_COUNT])

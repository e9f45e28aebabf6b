"""Reports of nodes, made of the frames of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from hwtop.fleet.condense import condensed
from hwtop.model.fleet import FleetReading, Node, NodeReport
from hwtop.model.frame import Frame
from tests import frames, recording

OFFSET_S = 1000.0


def reports(frame: Frame, names: Sequence[str]) -> list[NodeReport]:
    """The job of this frame as if its ranks and GPUs were on so many nodes, in equal parts."""
    whole = condensed(frame)
    job = whole.job
    assert job is not None
    size = len(job.ranks) // len(names)
    found = []
    for place, name in enumerate(names):
        ranks = job.ranks[place * size : (place + 1) * size]
        numbers = {rank.rank for rank in ranks}
        groups = tuple(
            replace(group, ranks=here)
            for group in job.stacks.groups
            if (here := tuple(rank for rank in group.ranks if rank in numbers))
        )
        part = replace(
            job,
            ranks=tuple(replace(rank, gpus=tuple(index - place * size for index in rank.gpus)) for rank in ranks),
            stacks=replace(job.stacks, groups=groups),
        )
        gpus = tuple(
            replace(gpu, index=index) for index, gpu in enumerate(whole.gpus[place * size : (place + 1) * size])
        )
        found.append(replace(whole, host=name, job=part, gpus=gpus, findings=()))
    return found


def node(name: str, report: NodeReport | None, **values: Any) -> Node:
    """A node that reports."""
    known: dict[str, Any] = {"status": "reporting", "age_s": 0.2, "offset_s": OFFSET_S}
    return Node(name=name, report=report, **(known | values))


def reading(nodes: Sequence[Node], at_s: float = OFFSET_S) -> FleetReading:
    """All of them at one moment."""
    return FleetReading(time_s=1.7e9 + at_s, at_s=at_s, interval_s=1.0, nodes=tuple(nodes))


def hanging(names: Sequence[str] = ("a", "b")) -> list[NodeReport]:
    """Rank 5 of 8 never came."""
    return reports(recording.replay("hang")[-1], names)


def healthy(names: Sequence[str] = ("a", "b")) -> list[NodeReport]:
    """Of `frames.healthy`."""
    return reports(frames.healthy(), names)

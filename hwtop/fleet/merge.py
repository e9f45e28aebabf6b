"""The reports of all nodes to one job over all of them, as if one machine held its ranks and GPUs. Pure.

Ranks and GPUs carry the name of their node; GPUs are numbered on, node after node. Times on a node's monotonic clock become times of
this machine's. Nodes that are lost are left out: what they said last would compare with nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from hwtop.fleet.words import named_nodes
from hwtop.job.hang.rank_state import settled
from hwtop.model.fleet import FleetReading, Node, NodeReport
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.job import Job, JobLogs, JobStacks, StackGroup
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent
from hwtop.model.symptom import Blind

_MOST_EVENTS = 500
"""Matches of log patterns of all nodes that are kept, the newest."""
_HEARD = ("reporting", "late", "ended")
"""Nodes whose newest report counts."""


class Part(NamedTuple):
    """One node's share of the job."""

    name: str
    report: NodeReport
    gpus: tuple[Gpu, ...]
    ranks: tuple[Rank, ...]


def heard(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Those whose newest report counts."""
    return tuple(node for node in nodes if node.report is not None and node.status in _HEARD)


class Merger:
    """Remembers what it has made of a report, because most ticks bring only some new ones."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._parts: dict[str, tuple[int, float, Part]] = {}

    def merged(self, reading: FleetReading) -> tuple[DerivedState, tuple[Blind, ...]]:
        """The state of the job over all nodes, and what of it cannot be seen."""
        nodes = heard(reading.nodes)
        parts, first_gpu = [], 0
        kept: dict[str, tuple[int, float, Part]] = {}
        for node in nodes:
            report, offset_s = node.report, node.offset_s or 0.0
            assert report is not None
            known = self._parts.get(node.name)
            if known is None or known[0] != first_gpu or known[1] != offset_s or known[2].report is not report:
                known = (first_gpu, offset_s, _part(node.name, report, first_gpu, offset_s))
            kept[node.name] = known
            parts.append(known[2])
            first_gpu += 1 + max((gpu.index for gpu in report.gpus), default=-1)
        self._parts = kept
        job, doubles = _job(parts)
        return _state(reading, parts, job), (*_blind(reading.nodes, job), *doubles)


def _part(name: str, report: NodeReport, first_gpu: int, offset_s: float) -> Part:
    gpus = tuple(replace(gpu, index=first_gpu + gpu.index, node=name, local_index=gpu.index) for gpu in report.gpus)
    ranks = report.job.ranks if report.job is not None else ()
    return Part(name, report, gpus, tuple(_rank(rank, name, first_gpu, offset_s) for rank in ranks))


def _rank(rank: Rank, node: str, first_gpu: int, offset_s: float) -> Rank:
    def moved(at_s: float | None) -> float | None:
        return None if at_s is None else at_s + offset_s

    return replace(
        rank,
        node=node,
        gpus=tuple(first_gpu + index for index in rank.gpus),
        gone_at_s=moved(rank.gone_at_s),
        progress=replace(rank.progress, reported_at_s=moved(rank.progress.reported_at_s)),
        stall=replace(rank.stall, asleep_since_s=moved(rank.stall.asleep_since_s)),
    )


def _state(reading: FleetReading, parts: Sequence[Part], job: Job | None) -> DerivedState:
    return DerivedState(
        time_s=reading.time_s,
        at_s=reading.at_s,
        host=named_nodes([node.name for node in reading.nodes]),
        interval_s=reading.interval_s,
        cores=float(sum(part.report.cpu.count for part in parts if part.report.cpu is not None)),
        gpus=tuple(gpu for part in parts for gpu in part.gpus),
        job=job,
    )


def _job(parts: Sequence[Part]) -> tuple[Job | None, tuple[Blind, ...]]:
    """The job, and who claims to be a rank that another node has."""
    jobs = [part.report.job for part in parts if part.report.job is not None]
    if not jobs:
        return None, ()
    ranks: dict[int, Rank] = {}
    doubles: dict[str, int] = {}
    for part in parts:
        for rank in part.ranks:
            if ranks.setdefault(rank.rank, rank) is not rank:
                doubles.setdefault(part.name, rank.rank)
    live = _same_moments(sorted(ranks.values(), key=lambda rank: rank.rank), parts)
    job = replace(
        jobs[0],
        world_size=next((job.world_size for job in jobs if job.world_size is not None), None),
        local_world_size=None,
        restarts=max((job.restarts for job in jobs if job.restarts is not None), default=None),
        ranks=settled(live),
        has_ended=all(job.has_ended for job in jobs),
        ended_for_s=min((job.ended_for_s or 0.0 for job in jobs if job.has_ended), default=None),
        exit_code=next((job.exit_code for job in jobs if job.exit_code), jobs[0].exit_code),
        logs=JobLogs(events=_events(parts)),
        stacks=JobStacks(
            groups=_groups(jobs),
            errors=tuple(dict.fromkeys(error for job in jobs for error in job.stacks.errors)),
        ),
        flight=next((job.flight for job in jobs if job.flight.verdict is not None), jobs[0].flight),
        ras=next((job.ras for job in jobs if job.ras.verdict is not None), jobs[0].ras),
        timeout=min(
            (job.timeout for job in jobs if job.timeout is not None), key=lambda each: each.left_s, default=None
        ),
        rendezvous=next((job.rendezvous for job in jobs if job.rendezvous is not None), None),
    )
    reason = "it also says that it has rank {}: is that another job? --name or --pid chooses the one to watch"
    return job, tuple(
        Blind(source=f"ranks on node {name}", reason=reason.format(rank)) for name, rank in doubles.items()
    )


def _same_moments(ranks: Sequence[Rank], parts: Sequence[Part]) -> list[Rank]:
    """Nodes look at different moments: ranks that were missed within one interval may have gone together."""
    apart_s = max((part.report.interval_s for part in parts), default=0.0)
    gone = sorted({rank.gone_at_s for rank in ranks if rank.gone_at_s is not None})
    first: dict[float, float] = {}
    for at_s in gone:
        last = next(reversed(first.values()), None)
        first[at_s] = last if last is not None and at_s - last <= apart_s else at_s
    return [rank if rank.gone_at_s is None else replace(rank, gone_at_s=first[rank.gone_at_s]) for rank in ranks]


def _events(parts: Sequence[Part]) -> tuple[LogEvent, ...]:
    found = [event for part in parts if part.report.job is not None for event in part.report.job.logs.events]
    return tuple(found[-_MOST_EVENTS:])


def _groups(jobs: Sequence[Job]) -> tuple[StackGroup, ...]:
    """Ranks at the same place, whatever the path of the file on their node."""
    found: dict[tuple[tuple[str, str, int], ...], tuple[StackGroup, list[int]]] = {}
    for job in jobs:
        for group in job.stacks.groups:
            key = tuple((frame.name, frame.short_filename, frame.line) for frame in group.frames)
            found.setdefault(key, (group, []))[1].extend(group.ranks)
    groups = [replace(group, ranks=tuple(sorted(set(ranks)))) for group, ranks in found.values()]
    return tuple(sorted(groups, key=lambda group: (-len(group.ranks), group.ranks[:1])))


def _blind(nodes: Sequence[Node], job: Job | None) -> tuple[Blind, ...]:
    """Nodes that do not report, and what the others cannot see; nodes with the same reason together."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        if node not in heard((node,)):
            by_reason.setdefault(("nodes", node.reason or "it has not reported yet"), []).append(node.name)
        if node.report is not None and node.report.job is None and node.status in _HEARD:
            by_reason.setdefault(("job", node.report.verdict.text), []).append(node.name)
        for spot in node.report.blind if node.report is not None and node.status in _HEARD else ():
            if spot.source != "ranks":
                by_reason.setdefault((spot.source, spot.reason), []).append(node.name)
    spots = [
        Blind(source=f"{source} on {named_nodes(names)}" if source != "nodes" else named_nodes(names), reason=reason)
        for (source, reason), names in by_reason.items()
    ]
    if (
        job is not None
        and job.world_size is not None
        and job.world_size > (here := sum(rank.is_alive for rank in job.ranks))
    ):
        spots.append(
            Blind(source="ranks", reason=f"{here} of {job.world_size} ranks are visible on the nodes that report")
        )
    return tuple(spots)

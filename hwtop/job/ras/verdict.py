"""What a report of RAS says about a job that stands still: who has not come to the collective that others have launched. Pure.

A rank of a communicator that has launched less than another keeps it waiting. Who is kept waiting itself, in another communicator, is
not the cause: left over is who is behind somewhere and ahead nowhere. Where nobody is, ranks have launched different collectives.
Send and recv are not counted: in a pipeline, a rank that waits for the stage before it looks like the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hwtop.job.rank_set import named
from hwtop.model.reported.ras import RasCommunicator, RasCount, RasKind, RasProcess, RasRank, RasReport, RasVerdict

_SHOWN = 8
"""Ranks and communicators of which the evidence has a line each; nodes and counts that a sentence names."""
_Key = tuple[RasProcess | str, int]
"""A rank in all its communicators: process and GPU; communicator and number where NCCL does not know them."""

_Span = dict[str, tuple[int, int]]
"""Operation -> the fewest and the most launched, where they differ."""


class _Member(Struct, frozen=True):
    """A rank of a communicator."""

    communicator: RasCommunicator
    rank: RasRank

    @property
    def key(self) -> _Key:
        if self.rank.process is None:
            return self.communicator.name, self.rank.rank
        return self.rank.process, self.rank.gpu or 0


class _Late(Struct, frozen=True):
    """It has launched less than others of its communicator."""

    member: _Member
    operation: str
    launched: int
    most: int


def ras_verdict(report: RasReport, own: Mapping[int, int], world_size: int | None) -> RasVerdict | None:
    """None where all have launched the same.

    `own`: PID in its own namespace -> rank, of the processes on this machine.
    """
    whole = whole_job(report, own, world_size)
    members = [_Member(each, rank) for each in report.communicators for rank in each.ranks]
    lost = [each for each in members if each.rank.state in ("missing", "dead")]
    if lost:
        one, many = "does not answer NCCL RAS", "do not answer NCCL RAS"
        if all(each.rank.state == "dead" for each in lost):
            one, many = "is dead (NCCL RAS)", "are dead (NCCL RAS)"
        return _verdict(report, "missing", lost, whole, one, many)
    spans = {each.name: _span(each) for each in report.communicators}
    late, ahead = list(_late(members, spans)), frozenset(_ahead(members, spans))
    roots = [each for each in late if each.member.key not in ahead]
    if roots:
        worst = max(roots, key=lambda each: (each.member.communicator.size or 0, each.most - each.launched))
        launched = f"launched {worst.launched} of {worst.most} {worst.operation} operations"
        one, many = f"has {launched}: it never came", f"have {launched}: they never came"
        return _verdict(report, "missing", [each.member for each in roots], whole, one, many)
    if late:
        found = _fewest([each.member for each in late])
        one, many = "has launched other collectives than the rest", "have launched different collectives"
        return _verdict(report, "mismatch", found, whole, one, many)
    return _nameless(report)


def whole_job(report: RasReport, own: Mapping[int, int], world_size: int | None) -> RasCommunicator | None:
    """The communicator whose ranks are those of the job: as large, and nothing on this machine contradicts it."""
    for communicator in report.communicators:
        if communicator.size is None or communicator.size != world_size:
            continue
        placed = {(rank.process.pid, rank.rank) for rank in communicator.ranks if rank.process is not None}
        pids = {pid for pid, _ in placed}
        if all((pid, number) in placed for pid, number in own.items() if pid in pids):
            return communicator
    return None


def differing(communicator: RasCommunicator) -> tuple[RasCount, ...]:
    """Counts of those operations that not all of its ranks have launched equally often."""
    groups = Counter(count.operation for count in communicator.counts)
    return tuple(count for count in communicator.counts if groups[count.operation] > 1)


def _span(communicator: RasCommunicator) -> _Span:
    found: _Span = {}
    for count in differing(communicator):
        fewest, most = found.get(count.operation, (count.launched, count.launched))
        found[count.operation] = min(fewest, count.launched), max(most, count.launched)
    return found


def _late(members: Sequence[_Member], spans: Mapping[str, _Span]) -> Iterator[_Late]:
    for each in members:
        for operation, (_, most) in spans[each.communicator.name].items():
            launched = each.rank.launched.get(operation, most)
            if launched < most:
                yield _Late(each, operation, launched, most)


def _ahead(members: Sequence[_Member], spans: Mapping[str, _Span]) -> Iterator[_Key]:
    for each in members:
        if any(
            each.rank.launched.get(operation, fewest) > fewest
            for operation, (fewest, _) in spans[each.communicator.name].items()
        ):
            yield each.key


def _fewest(members: Sequence[_Member]) -> Sequence[_Member]:
    """Those that launched what fewest did; all of them where that is no minority."""
    alike: dict[tuple[tuple[str, int], ...], list[_Member]] = {}
    for each in {each.key: each for each in members}.values():
        alike.setdefault(tuple(sorted(each.rank.launched.items())), []).append(each)
    groups = sorted(alike.values(), key=len)
    return groups[0] if len(groups) > 1 and len(groups[0]) < len(groups[1]) else members


def _verdict(
    report: RasReport,
    kind: RasKind,
    members: Sequence[_Member],
    whole: RasCommunicator | None,
    does: str,
    do: str,
) -> RasVerdict:
    culprits = {each.key: each for each in members}
    numbers = {each.key: each.rank.rank for each in members if each.communicator is whole}
    if whole is not None:
        of_process = {(rank.process, rank.gpu or 0): rank.rank for rank in whole.ranks if rank.process is not None}
        numbers |= {key: of_process[key] for key in culprits if key in of_process}
    lines = (_line(each, numbers.get(key)) for key, each in list(culprits.items())[:_SHOWN])
    return RasVerdict(
        kind=kind,
        culprits=tuple(sorted(numbers.values())) if len(numbers) == len(culprits) else (),
        processes=tuple(dict.fromkeys(each.rank.process for each in culprits.values() if each.rank.process)),
        text=f"{_who(culprits, numbers)} {does if len(culprits) == 1 else do}",
        evidence=(*_of_counts(report), *lines),
    )


def _nameless(report: RasReport) -> RasVerdict | None:
    """The text form names no rank where the groups are of similar size."""
    for communicator in report.communicators:
        found = differing(communicator)
        if found:
            last = found[-1]
            most = next(count.launched for count in found if count.operation == last.operation)
            text = f"{last.ranks} ranks have launched {last.launched} of {most} {last.operation} operations"
            return RasVerdict(kind="missing", text=f"{text} (NCCL RAS does not name them)", evidence=_of_counts(report))
    return None


def _who(culprits: Mapping[_Key, _Member], numbers: Mapping[_Key, int]) -> str:
    """ "rank 21 on node 172.16.64.213"; by its process where the rank of the job is not known."""
    hosts = tuple(dict.fromkeys(each.rank.process.host for each in culprits.values() if each.rank.process))
    nodes = ", ".join(hosts[:_SHOWN]) + (", ..." if len(hosts) > _SHOWN else "")
    place = f" on node{'s' if len(hosts) > 1 else ''} {nodes}" if hosts else ""
    if len(numbers) == len(culprits):
        return f"{named(numbers.values())}{place}"
    first = next(iter(culprits.values())).rank
    if len(culprits) > 1:
        return f"{len(culprits)} processes{place}"
    return f"PID {first.process.pid}{place}" if first.process else f"rank {first.rank} of a communicator"


def _of_counts(report: RasReport) -> tuple[str, ...]:
    return tuple(
        f"NCCL RAS: communicator {each.name} ({each.size or '?'} ranks): {counts_text(differing(each))}"
        for each in report.communicators
        if differing(each)
    )[:_SHOWN]


def counts_text(counts: Sequence[RasCount]) -> str:
    """ "26 ranks launched AllReduce 6650 times, 6 ranks 6649 times"; of many the first."""
    parts, before = [], ""
    for count in counts[:_SHOWN]:
        what = "" if count.operation == before else f" launched {count.operation}"
        parts.append(f"{count.ranks} rank{'s' if count.ranks > 1 else ''}{what} {count.launched} times")
        before = count.operation
    return ", ".join((*parts, "...")) if len(counts) > _SHOWN else ", ".join(parts)


def _line(member: _Member, number: int | None) -> str:
    rank, process = member.rank, member.rank.process
    who = f"rank {number}" if number is not None else f"rank {rank.rank} of communicator {member.communicator.name}"
    where = f": PID {process.pid} on node {process.host}" if process else ""
    gpu = f", GPU {rank.gpu}" if rank.gpu is not None else ""
    return f"{who}{where}{gpu}, {rank.state}" + (f": {rank.error}" if rank.error else "")

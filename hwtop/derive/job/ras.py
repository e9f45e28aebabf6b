"""NCCL RAS over time: when the port may be asked, and whether its newest report still says something."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.derive.job.flight import looks_stuck
from hwtop.job.hang.rank_state import STARTING
from hwtop.job.ras.verdict import ras_verdict
from hwtop.model.job import Job, JobRas
from hwtop.model.process import ProcessReading
from hwtop.model.rank import Rank
from hwtop.model.reported.ras import RasReading, RasReport, RasVerdict
from hwtop.model.snapshot import Snapshot

_OLD_ENOUGH_S = 60.0
"""NCCL has crashed when it was asked during its initialisation (NVIDIA/nccl #1669): a younger process is not asked. Engineering default."""
_IS_NEW_S = 60.0
"""An older report says nothing about now; the port is asked every 30 s while the job looks stuck. Engineering default."""


class RasTracker:
    """Remembers the report before the newest one: where a count has moved in between, the job does not stand still.

    One report is enough where there are no two: the hang tree asks only once nothing on this machine moves for longer than usual.
    """

    def __init__(self) -> None:
        self._own: dict[int, int] = {}
        self._newest: RasReading | None = None
        self._before: RasReading | None = None
        self._verdict: RasVerdict | None = None

    def advance(self, job: Job, snapshot: Snapshot) -> Job:
        """`job` with what RAS says about it."""
        if snapshot.process is not None:
            self._own = own_pids(job.ranks, snapshot.process)
        reading = snapshot.ras
        if reading is None:
            return replace(job, ras=JobRas(pids=may_ask(job.ranks)))
        if reading.report is not None and (self._newest is None or reading.reported_at_s != self._newest.reported_at_s):
            self._before, self._newest = self._newest, reading
            self._verdict = ras_verdict(reading.report, self._own, job.world_size)
        stepped_s = _newest_step_s(job.ranks)
        is_current = _is_current(reading, job.ranks, stepped_s, snapshot.at_s) and not self._has_moved(stepped_s)
        return replace(
            job,
            ras=JobRas(
                report=reading.report,
                age_s=None if reading.reported_at_s is None else snapshot.at_s - reading.reported_at_s,
                verdict=self._verdict if is_current else None,
                reason=reading.missing.get("report"),
                pids=may_ask(job.ranks),
            ),
        )

    def _has_moved(self, stepped_s: float) -> bool:
        """Both reports are of the time since the newest step, and differ: ranks on other nodes go on."""
        before, newest = self._before, self._newest
        if before is None or newest is None or before.report is None or newest.report is None:
            return False
        is_since = before.reported_at_s is not None and before.reported_at_s >= stepped_s
        return is_since and _counts(before.report) != _counts(newest.report)


def may_ask(ranks: Sequence[Rank]) -> tuple[int, ...]:
    """Live ranks of a job that looks stuck; of one that only is slow none, nor while any of them starts."""
    alive = [rank for rank in ranks if rank.is_alive]
    is_ready = all(rank.stack.phase not in STARTING and (rank.process.age_s or 0.0) >= _OLD_ENOUGH_S for rank in alive)
    return tuple(rank.pid for rank in alive) if is_ready and looks_stuck(alive) else ()


def own_pids(ranks: Sequence[Rank], reading: ProcessReading) -> dict[int, int]:
    """PID in its own namespace, as NCCL reports it -> rank."""
    inner = {process.pid: process.ns_pids[-1] for process in reading.processes if process.ns_pids}
    return {inner.get(rank.pid, rank.pid): rank.rank for rank in ranks if rank.is_alive}


def _is_current(reading: RasReading, ranks: Sequence[Rank], stepped_s: float, at_s: float) -> bool:
    """It is new, and of these processes."""
    if reading.reported_at_s is None or reading.reported_at_s < stepped_s:
        return False
    age_s = at_s - reading.reported_at_s
    return age_s <= min((_IS_NEW_S, *(rank.process.age_s or _IS_NEW_S for rank in ranks if rank.is_alive)))


def _newest_step_s(ranks: Sequence[Rank]) -> float:
    return max((rank.progress.reported_at_s for rank in ranks if rank.progress.reported_at_s is not None), default=0.0)


def _counts(report: RasReport) -> tuple[object, ...]:
    return tuple((each.name, each.counts) for each in report.communicators)

"""Slot: what must be remembered of one rank between two readings."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hwtop.derive.job.process import ProcessRates
from hwtop.job.hang.liveness import RUNS_PCT
from hwtop.job.stacks.series import WINDOW_S
from hwtop.model.member import Member
from hwtop.model.process import GoneProcess, ProcessInfo

_IDLE_SLACK_S = 0.05
"""The kernel counts CPU time in ticks of 10 ms, so over a short time one or two of them say nothing. Engineering
default."""


class RankProcesses(Struct, frozen=True, kw_only=True):
    """A rank with its loader workers and their rates, from one reading."""

    member: Member
    process: ProcessInfo
    rates: ProcessRates
    workers: tuple[tuple[ProcessInfo, ProcessRates], ...]


class RankSlot:
    """One rank number. A restarted rank takes the slot of the one before."""

    def __init__(self, processes: RankProcesses) -> None:
        self.processes = processes
        self.is_alive = True
        self.exit_code: int | None = None
        self.error: str | None = None
        """Its last words, once it is gone."""
        self.gone_at_s: float | None = None
        self.gpus: tuple[int, ...] = ()
        """Last known ones: a lost GPU no longer tells who was on it."""
        self.stopped_since_s: float | None = None
        self.awaits_rank: int | None = None
        """As RankStall.awaits_rank."""
        self._waits: deque[tuple[float, bool]] = deque()
        """Whether it waited for another rank, at the readings of the newest `WINDOW_S`."""
        self._seen_idle_since_s: float | None = None
        self._idle_cpu_s = 0.0
        self._idle_before_s: float | None = None
        """Since when nothing of it had run when it was first seen; None where that is not known, or it has worked since."""
        self._seen_at_s: float | None = None

    @property
    def idle_since_s(self) -> float | None:
        """Since when it has done nothing; None while it works."""
        since_s, before_s = self._seen_idle_since_s, self._idle_before_s
        return since_s if since_s is None or before_s is None else min(since_s, before_s)

    def update(self, processes: RankProcesses, at_s: float) -> None:
        """The rank was seen in this reading."""
        self.processes = processes
        state = processes.process.state
        self.is_alive = state not in ("Z", "X")
        self.gone_at_s = self.error = None
        self.exit_code = processes.process.exit_code if not self.is_alive else None
        if state not in ("T", "t"):
            self.stopped_since_s = None
        elif self.stopped_since_s is None or processes.rates.cpu_pct:  # it ran in between
            self.stopped_since_s = at_s
        self._count_idle(at_s)

    def await_rank(self, rank: int | None, at_s: float) -> None:
        """Whether it waited for another one in this reading."""
        self.awaits_rank = rank
        self._waits.append((at_s, rank is not None))
        while self._waits[0][0] < at_s - WINDOW_S:
            self._waits.popleft()

    @property
    def waits(self) -> tuple[int, int]:
        """In how many of how many readings of the newest `WINDOW_S` it waited for another rank."""
        return sum(waited for _, waited in self._waits), len(self._waits)

    def lost(self, gone: GoneProcess | None) -> None:
        """The rank was not in this reading."""
        self.is_alive = False
        self.stopped_since_s = None
        self._be_busy()
        if gone is not None:
            self.gone_at_s, self.error = gone.at_s, gone.error
            self.exit_code = self.exit_code if gone.exit_code is None else gone.exit_code

    def _count_idle(self, at_s: float) -> None:
        """Idle since the earliest time from which CPU time, all in all, stayed under the share."""
        everyone = (self.processes.rates, *(rates for _, rates in self.processes.workers))
        known = [rates.cpu_pct for rates in everyone if rates.cpu_pct is not None]
        moves = any(rates.read_bytes_per_s or rates.written_bytes_per_s for rates in everyone)
        last_s, self._seen_at_s = self._seen_at_s, at_s
        if last_s is None or len(known) < len(everyone) or moves:
            self._be_busy()
            self._idle_before_s = self._rested_since_s() if last_s is None else None
            return
        if self._seen_idle_since_s is None:
            self._seen_idle_since_s = last_s
        self._idle_cpu_s += sum(known) / 100 * (at_s - last_s)
        if self._idle_cpu_s > _IDLE_SLACK_S + RUNS_PCT / 100 * (at_s - self._seen_idle_since_s):
            self._be_busy()

    def _be_busy(self) -> None:
        self._seen_idle_since_s, self._idle_before_s, self._idle_cpu_s = None, None, 0.0

    def _rested_since_s(self) -> float | None:
        everyone = (self.processes.process, *(worker for worker, _ in self.processes.workers))
        known = [process.idle_since_s for process in everyone if process.idle_since_s is not None]
        return max(known) if len(known) == len(everyone) else None

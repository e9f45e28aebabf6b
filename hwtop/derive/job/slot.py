"""Slot: what must be remembered of one rank between two readings."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hwtop.derive.job.idle_clock import IdleClock
from hwtop.derive.job.process import ProcessRates
from hwtop.job.stacks.series import WINDOW_S
from hwtop.model.member import Member
from hwtop.model.process import GoneProcess, ProcessInfo


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
        self._idle = IdleClock()

    @property
    def idle_since_s(self) -> float | None:
        """Since when it has done nothing; None while it works."""
        return self._idle.since_s

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
        self._idle.restart()
        if gone is not None:
            self.gone_at_s, self.error = gone.at_s, gone.error
            self.exit_code = self.exit_code if gone.exit_code is None else gone.exit_code

    def _count_idle(self, at_s: float) -> None:
        everyone = (self.processes.rates, *(rates for _, rates in self.processes.workers))
        known = [rates.cpu_pct for rates in everyone if rates.cpu_pct is not None]
        moves = any(rates.read_bytes_per_s or rates.written_bytes_per_s for rates in everyone)
        is_known = len(known) == len(everyone) and not moves
        rested_since_s = self._rested_since_s() if self._idle.is_new else None
        self._idle.update(at_s, sum(known) if is_known else None, rested_since_s)

    def _rested_since_s(self) -> float | None:
        everyone = (self.processes.process, *(worker for worker, _ in self.processes.workers))
        known = [process.idle_since_s for process in everyone if process.idle_since_s is not None]
        return max(known) if len(known) == len(everyone) else None

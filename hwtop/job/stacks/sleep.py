"""Main threads that sleep and are not woken: what one look showed of such a thread holds as long as it sleeps. Pure."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hwtop.model.process import ProcessReading

_ASLEEP = ("S", "D")
_KEPT = 20
"""Sleeps of a thread that are over. Engineering default."""


class Sleep(Struct, frozen=True):
    """In every reading from `since_s` to `seen_s` the thread slept, and it was not switched in between; `since_s` may be before the
    first reading, where the kernel remembers it."""

    since_s: float
    seen_s: float
    switches: int


class Sleepers:
    """Takes in every process reading, in order.

    A thread that was woken must be switched out again before it can be seen asleep, which the kernel counts
    (`*_ctxt_switches` of /proc/PID/status, kernel/sched/core.c `__schedule`): the same count proves that it did not run. Where
    the kernel tells no count nothing is known.
    """

    def __init__(self) -> None:
        self._sleeps: dict[int, Sleep] = {}
        self._ended: dict[int, deque[float]] = {}

    def see(self, reading: ProcessReading) -> None:
        """Who still sleeps, and who does now."""
        before, self._sleeps = self._sleeps, {}
        for process in reading.processes:
            switches = process.switches
            if process.state not in _ASLEEP or switches is None:
                continue
            known = before.get(process.pid)
            since_s = reading.at_s
            if known is not None and known.switches == switches:
                since_s = known.since_s
            elif process.asleep_since_s is not None:
                since_s = min(since_s, process.asleep_since_s)
            self._sleeps[process.pid] = Sleep(since_s, reading.at_s, switches)
        for pid, sleep in before.items():
            now = self._sleeps.get(pid)
            if now is None or now.since_s != sleep.since_s:
                self._ended.setdefault(pid, deque(maxlen=_KEPT)).append(sleep.seen_s - sleep.since_s)
        here = {process.pid for process in reading.processes}
        self._ended = {pid: ended for pid, ended in self._ended.items() if pid in here}

    def of(self, pid: int) -> Sleep | None:
        """None: its main thread runs, or nobody knows."""
        return self._sleeps.get(pid)

    def longest_s(self, pid: int) -> float | None:
        """The longest of the newest sleeps that are over; None before the first."""
        return max(self._ended[pid], default=None) if pid in self._ended else None

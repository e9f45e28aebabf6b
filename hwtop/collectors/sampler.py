"""Sampler: runs all sources once a tick and assembles the Snapshot, whatever they do."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from hwtop.collectors.lane import Lane
from hwtop.collectors.source import Source
from hwtop.model.aim import Aim
from hwtop.model.snapshot import OwnCost, Snapshot

_EVENTS = frozenset({"stacks", "deep", "logs", "kernel", "witness", "heartbeat"})
"""Sources whose readings carry events: each reading goes into one snapshot only."""


class Sampler:
    """Asks every source, waits for all of them until one common deadline, and takes what there is.

    A source that was still out at an earlier tick is not waited for: it costs its own row, nobody else's time.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        host: str,
        interval_s: float,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        own_cost: Callable[[], OwnCost] | None = None,
    ) -> None:
        self._finished = threading.Condition()
        self._now = now
        self._wall = wall
        self._lanes = [Lane(source, self._finished, now) for source in sources]
        self._host = host
        self.interval_s = interval_s
        self._own_cost = own_cost or (lambda: read_own_cost(now()))

    def tick(self, planned_at_s: float | None = None) -> Snapshot:
        """One snapshot. Takes at most 40 % of the interval (and never over 0.5 s) plus assembling."""
        started_s = self._now()
        late_s = 0.0 if planned_at_s is None else max(0.0, started_s - planned_at_s)
        asked = [lane for lane in self._lanes if lane.ask()]
        self._wait(asked, started_s + min(0.5, 0.4 * self.interval_s))
        fields: dict[str, Any] = {}
        for lane in self._lanes:
            name = lane.source.name
            fields[name] = lane.take() if name in _EVENTS else lane.reading()
        return Snapshot(
            time_s=self._wall(),
            at_s=started_s,
            host=self._host,
            interval_s=self.interval_s,
            late_ms=late_s * 1000,
            cost_ms=(self._now() - started_s) * 1000,
            own=self._own_cost(),
            sources=tuple(lane.status() for lane in self._lanes),
            **fields,
        )

    def aim(self, aim: Aim) -> None:
        """Tell all sources where to look from now on."""
        for lane in self._lanes:
            lane.aim(aim)

    def close(self) -> None:
        """Let all threads end. Does not wait."""
        for lane in self._lanes:
            lane.close()

    def _wait(self, lanes: Sequence[Lane], deadline_s: float) -> None:
        with self._finished:
            while any(lane.is_busy for lane in lanes):
                left_s = deadline_s - self._now()
                if left_s <= 0 or not self._finished.wait(left_s):
                    return


def read_own_cost(at_s: float, statm: str = "/proc/self/statm") -> OwnCost:
    """What this process and its finished children have used so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        with open(statm) as file:
            rss_bytes: int | None = int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        rss_bytes = None
    cpu_s = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return OwnCost(cpu_s=cpu_s, rss_bytes=rss_bytes, at_s=at_s)

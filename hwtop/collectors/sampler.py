"""Sampler: runs all sources once a tick and assembles the Snapshot, whatever they do."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

from hwtop.collectors.source import Source
from hwtop.collectors.source_runner import SourceRunner
from hwtop.collectors.turns import Turns
from hwtop.model.plan import SamplingPlan
from hwtop.model.signal import SentSignal
from hwtop.model.snapshot import OwnCost, Snapshot

_EVENTS = frozenset({"stacks", "deep", "logs", "kernel", "metrics", "heartbeat"})
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
        self._turns = Turns()
        self._now = now
        self._wall = wall
        self._runners = [SourceRunner(source, self._turns, now) for source in sources]
        self._host = host
        self.interval_s = interval_s
        self.sent_signals: tuple[SentSignal, ...] = ()
        """Those of the Snapshots to come; replaced, so any thread may set it."""
        self._own_cost = own_cost or (lambda: read_own_cost(now()))

    def tick(self, planned_at_s: float | None = None) -> Snapshot:
        """One snapshot. Takes at most 40 % of the interval (and never over 0.5 s) plus assembling."""
        started_s = self._now()
        late_s = 0.0 if planned_at_s is None else max(0.0, started_s - planned_at_s)
        for runner in self._runners:
            runner.ask()
        self._turns.run(min(0.5, 0.4 * self.interval_s))
        fields: dict[str, Any] = {}
        for runner in self._runners:
            name = runner.source.name
            fields[name] = runner.take() if name in _EVENTS else runner.reading()
        return Snapshot(
            time_s=self._wall(),
            at_s=started_s,
            host=self._host,
            interval_s=self.interval_s,
            late_ms=late_s * 1000,
            cost_ms=(self._now() - started_s) * 1000,
            own=self._own_cost(),
            sources=tuple(runner.status() for runner in self._runners),
            sent_signals=self.sent_signals,
            **fields,
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """Pass the sampling plan to all sources."""
        for runner in self._runners:
            runner.set_plan(plan)

    def close(self) -> None:
        """Let all sources close. Does not wait."""
        for runner in self._runners:
            runner.close()
        self._turns.run(0.0)


def read_own_cost(at_s: float) -> OwnCost:
    """What this process and its finished children have used so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        rss_bytes: int | None = psutil.Process().memory_info().rss
    except (OSError, psutil.Error):
        rss_bytes = None
    cpu_s = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return OwnCost(cpu_s=cpu_s, rss_bytes=rss_bytes, at_s=at_s)

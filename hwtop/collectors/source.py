"""The contract of a source: any object with these members. The sampler reads the sources in turn; one that blocks keeps its thread."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from hwtop.model.plan import SamplingPlan


class Source(Protocol):
    """One thing that can be read.

    `read` may block or raise: the sampler then publishes the last reading as stale, or the error as the reason, and goes
    on. It is never called by two threads at once. It should not swallow its own failure: a reading with made-up zeros is a
    wrong number, an exception with a clear message is a reason.
    """

    name: str
    """The field of Snapshot that it fills."""
    every_s: float
    """Least time between two reads; 0 = at each tick."""

    def probe(self) -> str | None:
        """Why this source cannot run on this machine, or None. Called once before `read`, where it may block as well."""

    def read(self) -> Struct | None:
        """The `*Reading` of now; None where it is not asked for. Roots ("/proc") and clocks are constructor arguments."""

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take over the newest sampling plan. Called between two reads; most sources ignore it."""

    def close(self) -> None:
        """Release handles and children. Must not block."""

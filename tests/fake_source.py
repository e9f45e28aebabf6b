"""Sources and clocks that do what a test tells them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec import Struct

from hwtop.model.plan import SamplingPlan


class FakeClock:
    """A clock that moves when told."""

    def __init__(self, at_s: float = 100.0) -> None:
        self.at_s = at_s

    def __call__(self) -> float:
        return self.at_s


class FakeSource:
    """Answers with what `answer` returns; blocks while `gate` is closed."""

    every_s = 0.0

    def __init__(self, name: str, answer: Callable[[], Struct | None], *, refusal: str | None = None) -> None:
        self.name = name
        self.answer = answer
        self.refusal = refusal
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.closed = threading.Event()
        self.aims: list[SamplingPlan] = []

    def probe(self) -> str | None:
        return self.refusal

    def read(self) -> Struct | None:
        self.entered.set()
        self.gate.wait()
        return self.answer()

    def set_plan(self, plan: SamplingPlan) -> None:
        self.aims.append(plan)

    def close(self) -> None:
        self.closed.set()

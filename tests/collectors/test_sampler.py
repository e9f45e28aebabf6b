"""The sampler: whatever a source does, the tick goes on and says what is missing."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from hwtop.collectors.sampler import Sampler, read_own_cost
from hwtop.model.host.memory import MemoryReading
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.log import LogReading
from hwtop.model.snapshot import OwnCost, Snapshot, SourceStatus
from tests.fake_source import FakeClock, FakeSource


def memory(used: int = 1) -> MemoryReading:
    fields: dict[str, Any] = dict.fromkeys(
        ["total_bytes", "available_bytes", "free_bytes", "buffers_bytes", "cached_bytes", "shmem_bytes", "dirty_bytes"],
        used,
    )
    return MemoryReading(at_s=1.0, swap_total_bytes=0, swap_free_bytes=0, **fields)


def logs(count: Callable[[], int]) -> Callable[[], Struct]:
    return lambda: LogReading(at_s=float(count()), files=(), lines=())


def sampler(*sources: FakeSource, clock: FakeClock | None = None, interval_s: float = 0.05) -> Sampler:
    now = clock or time.monotonic
    return Sampler(sources, host="box", interval_s=interval_s, now=now)


def status(snapshot: Snapshot, name: str) -> SourceStatus:
    return next(source for source in snapshot.sources if source.name == name)


def until_ok(street: Sampler, name: str) -> Snapshot:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        snapshot = street.tick()
        if status(snapshot, name).status == "ok":
            return snapshot
    raise AssertionError(f"{name} never answered")


def test_a_reading_arrives_with_its_cost_and_age() -> None:
    street = sampler(FakeSource("memory", lambda: memory(7)), interval_s=5.0)
    snapshot = street.tick()
    assert snapshot.memory is not None
    assert snapshot.memory.total_bytes == 7
    source = status(snapshot, "memory")
    assert (source.status, source.reason) == ("ok", None)
    assert source.cost_ms is not None
    assert source.age_s is not None
    street.close()


def test_a_source_that_hangs_costs_its_own_row_only() -> None:
    hung = FakeSource("gpu", memory)
    hung.gate.clear()
    street = sampler(hung, FakeSource("memory", memory))
    snapshot = until_ok(street, "memory")
    assert snapshot.gpu is None
    gpu = status(snapshot, "gpu")
    assert gpu.status == "unavailable"
    assert gpu.reason is not None
    assert "gpu not answering" in gpu.reason
    hung.gate.set()
    street.close()


def test_a_source_that_hangs_later_keeps_its_last_reading_as_stale() -> None:
    clock = FakeClock()
    source = FakeSource("memory", lambda: memory(3))
    street = Sampler([source], host="box", interval_s=10.0, now=clock)
    assert street.tick().memory is not None
    source.gate.clear()
    source.entered.clear()
    street.interval_s = 0.0
    street.tick()
    assert source.entered.wait(60)
    clock.at_s += 12.0
    snapshot = street.tick()
    assert snapshot.memory is not None
    assert snapshot.memory.total_bytes == 3
    assert status(snapshot, "memory").status == "stale"
    assert status(snapshot, "memory").reason == "memory not answering for 12.0 s"
    assert status(snapshot, "memory").age_s == 12.0
    source.gate.set()
    street.close()


def test_a_hung_source_is_asked_once_only() -> None:
    calls = itertools.count()

    def read() -> Struct:
        next(calls)
        return memory()

    source = FakeSource("memory", read)
    source.gate.clear()
    street = sampler(source)
    for _ in range(5):
        street.tick()
    source.gate.set()
    until_ok(street, "memory")
    assert next(calls) <= 2, "reads were queued up behind the one that hung"
    street.close()


def test_an_error_and_a_refusal_become_reasons() -> None:
    def broken() -> Struct:
        raise OSError("disk on fire")

    street = sampler(FakeSource("disk", broken), FakeSource("gpu", memory, refusal="no driver"), interval_s=5.0)
    snapshot = street.tick()
    assert [(source.name, source.status, source.reason) for source in snapshot.sources] == [
        ("disk", "unavailable", "disk on fire"),
        ("gpu", "unavailable", "no driver"),
    ]
    street.close()


def test_events_are_in_one_snapshot_only() -> None:
    ticks = itertools.count()
    source = FakeSource("logs", logs(lambda: next(ticks)))
    street = sampler(source, interval_s=5.0)
    assert street.tick().logs is not None
    source.every_s = 3600.0
    assert street.tick().logs is None, "the same lines were delivered twice"
    street.close()


def test_the_aim_reaches_every_source_before_its_next_read() -> None:
    source = FakeSource("memory", memory)
    street = sampler(source, interval_s=5.0)
    street.tick()
    street.set_plan(SamplingPlan(target_pid=42))
    street.tick()
    assert source.aims[-1] == SamplingPlan(target_pid=42)
    street.close()
    assert source.closed.wait(60)


def test_lateness_is_measured_against_the_plan() -> None:
    clock = FakeClock(50.0)
    street = Sampler([], host="box", interval_s=1.0, now=clock)
    assert street.tick(planned_at_s=48.5).late_ms == 1500.0
    assert street.tick(planned_at_s=51.0).late_ms == 0.0


def test_own_cost_is_that_of_this_process() -> None:
    before = read_own_cost(1.0)
    sum(range(3_000_000))
    after = read_own_cost(2.0)
    assert isinstance(after, OwnCost)
    assert after.cpu_s > before.cpu_s
    assert after.rss_bytes is not None
    assert after.rss_bytes > 5_000_000, f"RSS of PID {os.getpid()}"


def test_a_source_that_nobody_asks_is_well_and_has_nothing() -> None:
    answers: list[MemoryReading | None] = [memory(7), None]
    street = sampler(FakeSource("memory", lambda: answers.pop(0)), interval_s=5.0)
    assert street.tick().memory is not None
    snapshot = street.tick()
    assert snapshot.memory is None
    source = status(snapshot, "memory")
    assert (source.status, source.reason, source.age_s) == ("ok", None, None)
    street.close()

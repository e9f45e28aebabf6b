from __future__ import annotations

import msgspec

from hwtop.collectors.host.memory import MemorySource
from hwtop.derive.host.memory import memory_rates
from hwtop.model.host.memory import MemoryRates, MemoryReading
from tests.host import Clock, RecordedSystem, proc


def recorded(when: str, at_s: float, tree: str = "two-sockets") -> MemoryReading:
    return MemorySource(proc=proc(tree, when), now=Clock(at_s), system=RecordedSystem(proc(tree, when))).read()


def test_levels_and_paging_over_two_seconds() -> None:
    assert memory_rates(recorded("first", 100.0), recorded("second", 102.0)) == MemoryRates(
        total_bytes=1056508300 * 1024,
        used_bytes=(1056508300 - 805306368 + 4096) * 1024,
        available_bytes=(805306368 - 4096) * 1024,
        cached_bytes=301989888 * 1024,
        shmem_bytes=16 * 1024**3,
        dirty_bytes=20 * 1024**2,
        swap_total_bytes=8388604 * 1024,
        swap_used_bytes=2 * 1024**3,
        swap_in_pages_per_s=200.0,
        swap_out_pages_per_s=25.0,
        major_faults_per_s=15.0,
        file_refaults_per_s=2500.0,
    )


def test_first_repeated_and_reset_readings_have_no_paging_rates() -> None:
    first, second = recorded("first", 100.0), recorded("second", 102.0)
    for rates in (
        memory_rates(None, first),
        memory_rates(first, first),
        memory_rates(second, msgspec.structs.replace(first, at_s=104.0)),
    ):
        assert (rates.swap_in_pages_per_s, rates.swap_out_pages_per_s, rates.major_faults_per_s) == (None, None, None)
        assert rates.total_bytes == 1056508300 * 1024


def test_nothing_swapped_is_zero_and_a_machine_without_swap_uses_none() -> None:
    rates = memory_rates(recorded("first", 1.0, "host-v1"), recorded("second", 2.0, "host-v1"))
    assert (rates.swap_in_pages_per_s, rates.swap_used_bytes) == (0.0, 0)
    assert rates.used_bytes == 8192 * 1024


def test_a_counter_that_is_missing_has_no_rate() -> None:
    first = msgspec.structs.replace(recorded("first", 100.0), pages_swapped_in=None)
    rates = memory_rates(first, recorded("second", 102.0))
    assert (rates.swap_in_pages_per_s, rates.swap_out_pages_per_s) == (None, 25.0)


def test_more_available_than_there_is_does_not_make_used_negative() -> None:
    odd = msgspec.structs.replace(recorded("first", 1.0), available_bytes=2000 * 1024**3)
    assert memory_rates(None, odd).used_bytes == 0

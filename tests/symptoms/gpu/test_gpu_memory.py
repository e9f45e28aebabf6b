"""gpu-memory-near-full and gpu-memory-leak."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.symptoms.gpu.memory import check_leak, check_near_full, leak_of
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from tests.symptoms.derived_states import GIB, constant, derived, event, gpu, history, job, rank

ONE = rank(0, gpus=(0,))


def used(share: float, **fields: Any) -> Gpu:
    return gpu(0, mem_used_bytes=int(share * 80 * GIB), **fields)


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (used(0.95), False),  # what a healthy run with a caching allocator shows
        (used(0.98), False),
        (used(0.985), True),
        (used(0.97, mem_reserved_bytes=GIB), True),  # 98.2 % of what is left to programs
        (used(0.985, status="stale"), False),
        (gpu(0, mem_used_bytes=None), False),
    ],
)
def test_a_full_gpu_is_told_as_information(device: Gpu, expected: bool) -> None:
    seen = check_near_full(constant(job(ONE), gpus=(device,)))
    assert (seen is not None) is expected
    if seen is not None:
        assert (seen.severity, seen.ranks) == ("info", (0,))
        assert "no retries so far" in seen.title


def test_a_full_gpu_of_others_is_not_told() -> None:
    assert check_near_full(constant(job(rank(0, gpus=(1,))), gpus=(used(0.99),))) is None


@pytest.mark.parametrize(
    ("age_s", "is_past", "expected"), [(5.0, False, "warning"), (5.0, True, "info"), (121.0, False, "info")]
)
def test_retries_in_the_log_make_it_a_warning(age_s: float, is_past: bool, expected: str) -> None:
    line = event(
        "gpu-memory-near-full", "context", text="2 pytorch allocator cache flushes", at_s=30.0 - age_s, is_past=is_past
    )
    seen = check_near_full(constant(job(ONE, events=(line,)), gpus=(used(0.99),)))
    assert seen is not None
    assert seen.severity == expected
    assert ("2 pytorch allocator cache flushes" in seen.evidence) is (expected == "warning")


@pytest.mark.parametrize(
    ("period", "depth", "expected"), [(20, 0.10, "warning"), (20, 0.01, "info"), (100, 0.10, "info")]
)
def test_an_allocator_that_flushes_its_cache_is_seen_without_a_log(period: int, depth: float, expected: str) -> None:
    def at(second: int) -> Any:
        return derived(float(second), job(ONE), gpus=(used(0.99 - (depth if second % period == 5 else 0.0)),))

    seen = check_near_full(history(79, at))
    assert seen is not None
    assert seen.severity == expected


def holding(size: Callable[[float], float], seconds: int = 600, every: int = 2, **fields: Any) -> History:
    """GiB that rank 0 holds on GPU 0, by second; a GiB more is in use by the driver."""

    def at(second: float) -> Any:
        held = int(size(second) * GIB)
        entry = GpuProcess(pid=1000, mem_bytes=held)
        device = gpu(0, mem_used_bytes=held + GIB, processes=(entry,))
        return derived(second, job(rank(0, gpus=(0,), **fields)), gpus=(device,), interval_s=float(every))

    return History([at(float(second)) for second in range(0, seconds + 1, every)])


def leaks(size: Callable[[float], float], seconds: int = 600, **fields: Any) -> Observation | None:
    return check_leak(holding(size, seconds, **fields))


@pytest.mark.parametrize(
    ("per_min", "seconds", "expected"),
    [
        (0.0, 600, False),
        (0.009, 600, False),
        (0.0115, 600, True),
        (0.0115, 400, False),  # 60 min to go: wait for the ten minutes
        (0.10, 400, True),  # full in 4 min
        (0.10, 170, False),
    ],
)
def test_steady_growth(per_min: float, seconds: int, expected: bool) -> None:
    assert (leaks(lambda s: 30.0 * (1 + per_min * s / 60), seconds) is not None) is expected


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(lambda s: 60.0 + (4.0 if s > 300 else 0.0), id="one evaluation"),
        pytest.param(lambda s: 40.0 + 4.0 * (s // 200), id="three batches, each longer than all before"),
        pytest.param(lambda s: 60.0 - 30.0 * 0.9 ** (s / 20), id="an allocator that fills up"),
        pytest.param(lambda s: 60.0 + 5.0 * (s // 40 % 2), id="memory taken and given back"),
        pytest.param(lambda s: 40.0 + 8.0 * (s % 300) / 300, id="freed at each epoch"),
    ],
)
def test_what_allocators_and_evaluations_do_is_no_leak(size: Callable[[float], float]) -> None:
    assert leaks(size) is None


def test_longer_and_longer_batches_by_chance_are_no_leak() -> None:
    """The largest of n random lengths grows less and less."""
    for seed in range(20):
        dice = random.Random(seed)
        largest, sizes = 0.0, []
        for _ in range(301):
            largest = max(largest, dice.lognormvariate(0.0, 0.5))
            sizes.append(20.0 + 5.0 * largest)
        assert leaks(lambda s, sizes=sizes: sizes[int(s) // 2]) is None, seed  # type: ignore[misc]


def test_a_leak_in_blocks_of_the_allocator_is_seen_through_noise() -> None:
    """20 MiB blocks, and a working set that goes up and down by 200 MiB."""
    dice = random.Random(1)
    seen = leaks(lambda s: 20.0 + (s * 7 // 20) * 20 / 1024 + dice.uniform(0, 0.2))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("warning", (0,))
    assert seen.title == "GPU memory of rank 0 grows by 430 MiB/min, full in 2.2 h", "420 MiB in truth"


def test_a_leak_that_takes_days_is_information() -> None:
    seen = leaks(lambda s: 2.0 * (1 + 0.012 * s / 60))
    assert seen is not None
    assert seen.severity == "info"


@pytest.mark.parametrize("state", ["starting", "eval", "checkpoint"])
def test_growth_beside_the_training_does_not_count(state: str) -> None:
    assert leaks(lambda s: 30.0 * (1 + 0.02 * s / 60), state=state) is None


def test_where_the_driver_does_not_tell_by_process_the_whole_gpu_counts() -> None:
    def at(second: float) -> Any:
        entry = GpuProcess(pid=1000, mem_bytes=None)
        device = gpu(0, mem_used_bytes=int((30 + second / 60) * GIB), processes=(entry,))
        return derived(second, job(ONE), gpus=(device,))

    rising = History([at(float(second)) for second in range(601)])
    found = leak_of(rising, ONE, rising.now.gpus[0])
    assert found is not None
    assert found.bytes_per_s * 60 == pytest.approx(GIB, rel=0.05)
    assert found.full_in_s == pytest.approx(40 * 60, rel=0.05)

"""gpu-low-utilization."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuActivity, GpuProcess
from hwtop.symptoms.gpu.utilization import check_low
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import constant, derived, gpu, history, job, rank, shares

TRAINS = {"gpus": (0,), "main_thread_cpu_pct": 40.0, "samples": 40, "wait_samples": 40}


def over(device: Callable[[int], Gpu], seconds: int = 65, **fields: Any) -> History:
    watched = job(rank(0, **(TRAINS | fields)))
    return history(seconds, lambda second: derived(float(second), watched, gpus=(device(second),)))


@pytest.mark.parametrize(
    ("fields", "device", "expected"),
    [
        ({}, {"util_pct": 49.0}, "warning"),
        ({}, {"util_pct": 51.0}, None),
        ({}, {"util_pct": None}, None),
        ({}, {"util_pct": 20.0, "status": "stale"}, None),
        ({"samples": 19}, {"util_pct": 20.0}, "info"),
        ({"state": "unknown", "samples": 0, "phase_shares": ()}, {"util_pct": 20.0}, "info"),
        ({"state": "unknown", "samples": 0, "phase_shares": ()}, {"util_pct": 4.0}, None),  # perhaps a notebook
        ({"state": "slow"}, {"util_pct": 20.0}, "warning"),
        ({"state": "eval"}, {"util_pct": 20.0}, None),
        ({"state": "checkpoint"}, {"util_pct": 20.0}, None),
        ({"state": "starting"}, {"util_pct": 20.0}, None),
        ({"state": "stuck"}, {"util_pct": 20.0}, None),
        ({"gpus": ()}, {"util_pct": 20.0}, None),
        ({}, {"activity": GpuActivity(sm_active_pct=49.0)}, "info"),
        ({}, {"activity": GpuActivity(sm_active_pct=51.0)}, None),
        ({"state": "collective-wait"}, {"activity": GpuActivity(sm_active_pct=12.0)}, None),  # spins for the others
        ({}, {"util_pct": None, "activity": GpuActivity(sm_active_pct=30.0)}, "warning"),
    ],
)
def test_half_of_the_time_without_work(fields: dict[str, Any], device: dict[str, Any], expected: str | None) -> None:
    seen = check_low(over(lambda _: gpu(**device), **fields))
    assert (seen.severity if seen else None) == expected


def test_a_minute_must_have_been_seen() -> None:
    assert check_low(over(lambda _: gpu(util_pct=10.0), seconds=50)) is None
    assert check_low(over(lambda _: gpu(util_pct=10.0), seconds=60)) is not None


def test_moments_of_a_checkpoint_do_not_count() -> None:
    """20 s of saving in each 60: 62 % busy on the whole, 92 % while it trains."""

    def at(second: int) -> Any:
        saves = second % 60 < 20
        one = rank(0, **(TRAINS | {"state": "checkpoint" if saves else "training"}))
        return derived(float(second), job(one), gpus=(gpu(util_pct=0.0 if saves else 92.0),))

    assert check_low(history(119, at)) is None


def test_a_restarted_rank_begins_anew() -> None:
    def at(second: int) -> Any:
        one = rank(0, **(TRAINS | {"pid": 1000 if second < 50 else 2000}))
        return derived(float(second), job(one), gpus=(gpu(util_pct=10.0),))

    assert check_low(history(70, at)) is None


@pytest.mark.parametrize(
    ("fields", "util", "expected"),
    [
        (
            {},
            lambda s: 30.0,
            "GPU 0 only 30 % busy over 60 s, not explained by data loading, a core or the network",
        ),
        ({}, lambda s: 95.0 if s % 4 == 0 else 2.0, "alternately full and empty, something in each step stops it"),
        ({"main_thread_cpu_pct": 97.0}, lambda s: 30.0, "one core is always busy and limits it"),
        (
            {"main_thread_cpu_pct": 97.0, "phase_shares": shares(sync=0.9, forward=0.1)},
            lambda s: 30.0,
            "not explained by data loading, a core or the network",  # a core that spins feeds nothing
        ),
        ({"wait_share": 0.6}, lambda s: 30.0, "rank 0 waits for other ranks"),
    ],
)
def test_the_title_says_what_is_known(fields: dict[str, Any], util: Callable[[int], float], expected: str) -> None:
    seen = check_low(over(lambda second: gpu(util_pct=util(second)), **fields))
    assert seen is not None
    assert seen.title.endswith(expected)


def test_small_kernels_are_told_by_the_hardware_only() -> None:
    seen = check_low(over(lambda _: gpu(util_pct=98.0, activity=GpuActivity(sm_active_pct=21.0))))
    assert seen is not None
    assert seen.title == "GPU 0: 98 % busy, but only 21 % of its SMs: small batches or small kernels"


def shared(own_sm: float, other_sm: float, **fields: Any) -> Gpu:
    others = GpuProcess(pid=4242, mem_bytes=10**9, sm_pct=other_sm, name="python", **fields)
    return gpu(util_pct=97.0, processes=(GpuProcess(pid=1000, mem_bytes=10**10, sm_pct=own_sm), others))


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (shared(45.0, 50.0), True),
        (shared(80.0, 15.0), False),  # it does not lack much
        (shared(45.0, 4.0), False),
        (shared(45.0, 50.0, kind="graphics"), False),
        (shared(45.0, 50.0, kind="mps"), False),
    ],
)
def test_a_neighbour_on_the_same_gpu(device: Gpu, expected: bool) -> None:
    seen = check_low(over(lambda _: device))
    assert (seen is not None) is expected
    if seen is not None:
        assert (seen.severity, seen.ranks) == ("warning", (0,))
        assert seen.title == "GPU 0: other processes (PID 4242) use it instead of rank 0"
        assert (
            "GPU 0 (rank 0): PID 4242 (python) had a kernel on it 50 % of the time, the rank itself 45 %"
            in seen.evidence
        )


def test_where_the_drivers_pids_are_of_another_namespace_nobody_is_a_neighbour() -> None:
    """The rank's own PID is in no list."""
    watched = job(rank(0, **(TRAINS | {"pid": 77})))
    assert check_low(constant(watched, seconds=65, gpus=(shared(45.0, 50.0),))) is None


def test_ranks_with_the_same_trouble_stand_together() -> None:
    watched = job(*(rank(number, **(TRAINS | {"gpus": (number,)})) for number in range(8)))
    devices = tuple(gpu(index, util_pct=30.0 if index < 6 else 95.0) for index in range(8))
    seen = check_low(constant(watched, seconds=65, gpus=devices))
    assert seen is not None
    assert seen.ranks == (0, 1, 2, 3, 4, 5)
    assert seen.title.startswith("GPUs 0-5 only 30 % busy over 60 s")


def test_healthy_noise_raises_nothing() -> None:
    """A minute of a training that logs every 20 s and saves every 5 min, as NVML samples it."""
    for seed in range(10):
        dice = random.Random(seed)

        def at(second: int, dice: random.Random = dice) -> Any:
            util = min(100.0, max(0.0, dice.gauss(93, 6))) if second % 20 else dice.uniform(0, 60)
            activity = GpuActivity(sm_active_pct=util * dice.uniform(0.75, 0.95))
            watched = job(*(rank(number, **(TRAINS | {"gpus": (number,)})) for number in range(2)))
            return derived(float(second), watched, gpus=(gpu(0, util_pct=util, activity=activity), gpu(1)))

        made = history(130, at)
        assert not any(check_low(History(made.derived_states[:end])) for end in range(62, 130, 7)), seed

"""gpu-idle-cpu-busy beside what the tests of data loading say of it: who only spins, and what a rank may do meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import GpuActivity
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.idle import check_gpu_idle
from tests.symptoms.derived_states import constant, derived, gpu, history, job, rank, shares, worker

IDLE = gpu(util_pct=4.0)
SPINNING = shares(sync=0.8, forward=0.2)


def busy(**fields: Any) -> Rank:
    return rank(0, **({"gpus": (0,), "main_thread_cpu_pct": 99.0, "samples": 40} | fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"phase_shares": SPINNING}, False),  # cudaStreamSynchronize takes a core and computes nothing
        ({"phase_shares": SPINNING, "samples": 2}, True),  # two samples prove nothing
        ({"phase_shares": shares(sync=0.5, forward=0.5)}, True),
        ({"phase_shares": shares(collective=0.9, forward=0.1)}, False),
        ({"phase_shares": SPINNING, "workers": (worker(cpu_pct=95.0),)}, True),  # they do compute
        ({"phase_shares": SPINNING, "workers": (worker(cpu_pct=5.0, state="S"),)}, False),
        ({"phase_shares": SPINNING, "main_thread_cpu_pct": 60.0, "os_state": "R"}, False),
        ({"state": "slow"}, True),
        ({"state": "collective-wait"}, False),
        ({"state": "starting"}, False),  # imports, compiles, loads
        ({"state": "checkpoint"}, False),
        ({"state": "eval"}, False),
    ],
)
def test_who_computes_while_the_gpu_waits(fields: dict[str, Any], expected: bool) -> None:
    assert (check_gpu_idle(constant(job(busy(**fields)), gpus=(IDLE,))) is not None) is expected


@pytest.mark.parametrize(
    ("state", "expected"), [("eval", False), ("checkpoint", False), ("starting", False), ("training", True)]
)
def test_idle_moments_of_an_evaluation_just_over_do_not_count(state: str, expected: bool) -> None:
    """4 s of something else in the last ten, with a GPU that is idle then and busy before and after."""

    def at(second: int) -> Any:
        is_away = 21 <= second <= 28
        device = gpu(util_pct=1.0 if is_away else 96.0)
        return derived(float(second), job(busy(state=state if is_away else "training")), gpus=(device,))

    assert (check_gpu_idle(history(30, at)) is not None) is expected


def test_what_the_hardware_counts_is_told_as_well() -> None:
    seen = check_gpu_idle(constant(job(busy()), gpus=(gpu(util_pct=12.0, activity=GpuActivity(sm_active_pct=3.0)),)))
    assert seen is not None
    assert "GPU 0: 12 % busy over 10 s, its SMs 3 %" in seen.evidence


def test_where_utilization_is_not_told_the_sms_are() -> None:
    """In MIG mode NVML knows none for the GPU."""
    device = gpu(util_pct=None, activity=GpuActivity(sm_active_pct=3.0))
    assert check_gpu_idle(constant(job(busy()), gpus=(device,))) is not None

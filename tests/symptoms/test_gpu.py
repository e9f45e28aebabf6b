"""gpu-lost and gpu-driver-hang."""

from __future__ import annotations

import pytest

from hwtop.model.gpu import Gpu, GpuStatus
from hwtop.symptoms.gpu import check_driver_hang, check_lost
from tests.symptoms.moments import constant, event, job, rank


def gpus(status: GpuStatus, age_s: float = 0.0) -> tuple[Gpu, ...]:
    bad = Gpu(index=1, vendor="nvidia", name="H100", uuid=None, status=status, age_s=age_s, reason="the reason")
    return (Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok"), bad)


WATCHED = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)))


def test_a_lost_gpu_and_its_rank_are_named() -> None:
    seen = check_lost(constant(WATCHED, gpus=gpus("lost")))
    assert seen is not None
    assert (seen.title, seen.ranks) == ("GPU 1 has fallen off the bus", (1,))
    assert "the reason" in seen.evidence[0]


def test_the_log_is_a_witness_too() -> None:
    assert check_lost(constant(WATCHED)) is None
    watched = job(rank(0), events=(event("gpu-lost"),))
    assert check_lost(constant(watched)) is not None


@pytest.mark.parametrize(("age_s", "expected"), [(4.9, False), (5.0, True)])
def test_a_driver_that_does_not_answer(age_s: float, expected: bool) -> None:
    seen = check_driver_hang(constant(WATCHED, gpus=gpus("stale", age_s)))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.severity == "warning", "one of two"
        assert seen.ranks == (1,)

"""logging-overhead, device-sync-heavy and launch-bound."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import HotLine, Phase
from hwtop.model.reported.log import Progress
from hwtop.symptoms.training.overhead import check_launch, check_logging, check_sync
from tests.symptoms.derived_states import constant, job, rank, shares, spot


def line(phase: Phase, code: str | None, share: float = 0.4) -> HotLine:
    return HotLine(
        function="train_step", file="/home/me/train.py", line=88, code=code, phase=phase, share=share, samples=10
    )


def gpu(util_pct: float | None = 50.0, power_w: float | None = 300.0) -> Gpu:
    return Gpu(
        index=0,
        vendor="nvidia",
        name="H100",
        uuid=None,
        status="ok",
        util_pct=util_pct,
        power_w=power_w,
        power_limit_w=700.0,
    )


@pytest.mark.parametrize(
    ("share", "samples", "expected"),
    [(0.14, 100, False), (0.18, 100, True), (0.12, 1000, True), (0.09, 1000, False), (0.30, 20, True), (0.9, 7, False)],
)
def test_logging_must_be_proven_to_cost(share: float, samples: int, expected: bool) -> None:
    one = rank(phase_shares=shares(logging=share, forward=1 - share), samples=samples)
    assert (check_logging(constant(job(one))) is not None) is expected


def test_the_line_that_logs_is_named() -> None:
    lines = (line("forward", "y = model(x)", 0.6), line("logging", 'wandb.log({"loss": loss})'))
    seen = check_logging(constant(job(rank(phase_shares=shares(logging=0.4, forward=0.6), hot_lines=lines))))
    assert seen is not None
    assert seen.title == 'Rank 0 spends 40 % of the time on logging: `wandb.log({"loss": loss})` (train.py:88)'


@pytest.mark.parametrize("state", ["starting", "stopped", "stuck"])
def test_a_rank_that_does_not_train_is_left_alone(state: str) -> None:
    assert check_logging(constant(job(rank(phase_shares=shares(logging=0.9), state=state)))) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"progress": None, "phase_shares": shares(logging=1.0)}, False),  # it writes its data set as CSV first
        ({"progress": Progress(step=9, total_steps=40), "phase_shares": shares(logging=1.0)}, False),  # a bar over that
        ({"progress": Progress(step=9, loss=2.0), "phase_shares": shares(logging=1.0)}, True),
        ({"progress": Progress(step=9, reward=-3.0), "phase_shares": shares(logging=1.0)}, True),
        ({"progress": Progress(step=9, lr=0.1), "phase_shares": shares(logging=1.0)}, True),
        ({"progress": Progress(step=9, epoch=2), "phase_shares": shares(logging=1.0)}, True),
        ({"progress": None, "phase_shares": shares(logging=0.9, backward=0.1)}, True),
    ],
)
def test_what_is_written_before_the_training_costs_no_step(fields: dict[str, Any], expected: bool) -> None:
    assert (check_logging(constant(job(rank(**fields)))) is not None) is expected


def syncing(share: float = 0.6, **fields: Any) -> Rank:
    known: dict[str, Any] = {
        "gpus": (0,),
        "samples": 50,
        "phase_shares": shares(sync=share, forward=1 - share),
        "hot_lines": (line("sync", "running += loss.item()"),),
    }
    return rank(0, **(known | fields))


@pytest.mark.parametrize(
    ("share", "util_pct", "expected"),
    [
        (0.6, 50.0, True),
        (0.6, 69.0, True),
        (0.6, 71.0, False),
        (0.6, None, False),
        (0.45, 20.0, True),
        (0.38, 20.0, False),
    ],
)
def test_waits_for_a_gpu_that_has_breaks(share: float, util_pct: float | None, expected: bool) -> None:
    assert (check_sync(constant(job(syncing(share)), gpus=(gpu(util_pct),))) is not None) is expected


def test_a_job_without_a_gpu_has_no_device_to_wait_for() -> None:
    assert check_sync(constant(job(syncing(gpus=())), gpus=(gpu(10.0),))) is None


def test_the_line_that_waits_is_named() -> None:
    seen = check_sync(constant(job(syncing()), gpus=(gpu(50.0),)))
    assert seen is not None
    assert seen.title == (
        "Rank 0 stops to wait for the GPU 60 % of the time, at `running += loss.item()` (train.py:88), and the GPU is only "
        "50 % busy"
    )
    assert "GPU 0: 50 % busy over 10 s: it runs dry after each wait" in seen.evidence


def launching(**fields: Any) -> Rank:
    known: dict[str, Any] = {
        "gpus": (0,),
        "samples": 50,
        "main_thread_cpu_pct": 98.0,
        "cpu_pct": 99.0,
        "phase_shares": shares(forward=0.5, backward=0.3, optimizer=0.15, data=0.05),
        "hot": (spot("forward", 0.5),),
    }
    return rank(0, **(known | fields))


@pytest.mark.parametrize(
    ("fields", "device", "expected"),
    [
        ({}, gpu(), True),
        ({}, gpu(29.0), False),  # that is gpu-idle-cpu-busy
        ({}, gpu(31.0), True),
        ({}, gpu(79.0), True),
        ({}, gpu(81.0), False),
        ({}, gpu(None), False),
        ({}, gpu(power_w=430.0), False),  # 61 % of its limit: the kernels are large
        ({}, gpu(power_w=410.0), True),
        ({}, gpu(power_w=None), True),
        ({"main_thread_cpu_pct": 40.0, "cpu_pct": 89.0, "os_state": "S"}, gpu(), False),
        ({"main_thread_cpu_pct": 60.0, "cpu_pct": 60.0, "os_state": "R"}, gpu(), True),  # on a full machine
        ({"main_thread_cpu_pct": 40.0, "cpu_pct": 99.0}, gpu(), True),  # autograd's thread launches
        ({"phase_shares": shares(forward=0.7, data=0.3)}, gpu(), False),
        ({"phase_shares": shares(forward=0.7, sync=0.3)}, gpu(), False),  # spins in a wait for the device
        ({"samples": 5}, gpu(), False),
        ({"state": "checkpoint"}, gpu(), False),
        ({"gpus": ()}, gpu(), False),
    ],
)
def test_one_core_launches_what_the_gpu_does_too_quickly(fields: dict[str, Any], device: Gpu, expected: bool) -> None:
    assert (check_launch(constant(job(launching(**fields)), gpus=(device,))) is not None) is expected


def test_fifteen_seconds_must_have_been_seen() -> None:
    assert check_launch(constant(job(launching()), seconds=12, gpus=(gpu(),))) is None


def test_the_numbers_are_told() -> None:
    seen = check_launch(constant(job(launching()), gpus=(gpu(),)))
    assert seen is not None
    assert seen.title == "Rank 0 is bound by kernel launches: one core at 99 %, GPU 0 only 50 % busy"
    assert "GPU 0 takes 43 % of its power limit: small kernels" in seen.evidence

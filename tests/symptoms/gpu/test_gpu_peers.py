"""multi-gpu-imbalance."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.symptoms.gpu.peers import check_imbalance
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from tests.symptoms.derived_states import GIB, constant, derived, gpu, history, job, rank, row


def ranks(count: int = 8, **fields: Any) -> Any:
    return job(*(rank(number, gpus=(number,), samples=40, **fields) for number in range(count)))


def unlike(odd: dict[int, dict[str, Any]], count: int = 8, **fields: Any) -> Observation | None:
    """All GPUs alike, but for those in `odd`."""
    devices = tuple(gpu(index, **odd.get(index, {})) for index in range(count))
    return check_imbalance(constant(ranks(count, **fields), 65, gpus=devices))


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ({}, None),
        ({3: {"util_pct": 79.0}}, None),
        ({3: {"util_pct": 77.0}}, "warning"),
        ({3: {"power_w": 540.0}}, None),
        ({3: {"power_w": 530.0}}, "warning"),  # 110 W, 15 % of 700 W are 105
        ({3: {"power_w": 530.0, "power_limit_w": None}}, None),
        ({3: {"mem_used_bytes": 75 * GIB}}, None),
        ({3: {"mem_used_bytes": 77 * GIB}}, "info"),
        ({0: {"mem_used_bytes": 78 * GIB}}, None),  # rank 0 holds more as a rule
        ({0: {"mem_used_bytes": 40 * GIB}}, "info"),
        ({2: {"util_pct": 60.0}, 3: {"util_pct": 60.0}}, "warning"),
        ({index: {"util_pct": 60.0} for index in (2, 3, 4)}, None),  # another kind of work, no outlier
        ({3: {"util_pct": 60.0, "status": "lost"}}, None),
        ({3: {"util_pct": 60.0, "name": "NVIDIA A100"}}, None),
        ({3: {"util_pct": None}}, None),
    ],
)
def test_one_is_unlike_the_others(odd: dict[int, dict[str, Any]], expected: str | None) -> None:
    seen = unlike(odd)
    assert (seen.severity if seen else None) == expected


@pytest.mark.parametrize("state", ["starting", "eval", "checkpoint", "stuck"])
def test_it_is_not_asked_while_ranks_do_something_else(state: str) -> None:
    assert unlike({3: {"util_pct": 20.0}}, state=state) is None


def test_without_stacks_or_logs_it_is_information() -> None:
    seen = unlike({3: {"util_pct": 70.0}}, state="unknown")
    assert seen is not None
    assert seen.severity == "info"


@pytest.mark.parametrize(("util", "expected"), [(60.0, None), (57.0, (1,))])
def test_of_two_the_idler_one_by_twice_as_much(util: float, expected: tuple[int, ...] | None) -> None:
    seen = unlike({1: {"util_pct": util}}, count=2)
    assert (seen.ranks if seen else None) == expected


def test_who_it_is_and_what_is_set_otherwise() -> None:
    seen = unlike({6: {"power_w": 390.0, "power_limit_w": 400.0, "sm_clock_mhz": 1200.0}})
    assert seen is not None
    assert seen.ranks == (6,)
    assert seen.title == "GPUs are used unevenly: GPU 6 (rank 6): power 390 W; the other 7: 640 W"
    assert "GPU 6: power limit 400 W, the others 700 W" in seen.evidence
    assert "GPU 6: SM clock 1200 MHz, the others 1740 MHz" in seen.evidence


def test_stages_of_a_pipeline_may_differ() -> None:
    staged = row(command="python pretrain_gpt.py --tensor-model-parallel-size 1 --pipeline-model-parallel-size 8")
    watched = job(*ranks().ranks, processes=(staged,))
    devices = tuple(gpu(index, util_pct=70.0 if index == 7 else 98.0) for index in range(8))
    seen = check_imbalance(constant(watched, 65, gpus=devices))
    assert seen is not None
    assert seen.severity == "info"
    assert "the command line asks for pipeline stages, which are expected to differ" in seen.evidence


def test_contexts_on_another_ranks_gpu_are_told() -> None:
    """torch.load without map_location: every rank has a small context on GPU 0."""
    own = [GpuProcess(pid=1000 + number, mem_bytes=50 * GIB) for number in range(4)]
    strays = tuple(GpuProcess(pid=1000 + number, mem_bytes=GIB // 2) for number in range(1, 4))
    devices = tuple(gpu(index, processes=(own[index], *(strays if index == 0 else ()))) for index in range(4))
    watched = job(*(rank(number, gpus=tuple(sorted({0, number})), samples=40) for number in range(4)))
    seen = check_imbalance(constant(watched, 65, gpus=devices))
    assert seen is not None
    assert seen.severity == "info"
    assert seen.title == "Ranks hold memory on GPUs of other ranks: ranks 1-3 also hold 1.5 GiB on GPU 0"


def series(device: Callable[[int, int], Gpu], seconds: int = 65) -> History:
    watched = ranks()
    return history(
        seconds, lambda second: derived(float(second), watched, gpus=tuple(device(index, second) for index in range(8)))
    )


def test_it_must_persist() -> None:
    """20 s of 60 at half power: a step with a long validation on one rank."""
    assert (
        check_imbalance(series(lambda index, s: gpu(index, power_w=100.0 if index == 3 and s > 45 else 640.0))) is None
    )


def test_of_two_as_well() -> None:
    def at(second: int) -> Any:
        return derived(float(second), ranks(2), gpus=(gpu(0), gpu(1, util_pct=0.0 if second > 45 else 98.0)))

    assert check_imbalance(history(65, at)) is None


def test_healthy_noise_raises_nothing() -> None:
    """Chips differ by some percent, steps swing by 10 %, readings by 5 %."""
    for seed in range(10):
        dice = random.Random(seed)
        chips = [dice.gauss(1.0, 0.03) for _ in range(8)]

        def device(index: int, second: int, dice: random.Random = dice, chips: list[float] = chips) -> Gpu:
            swing = 1.0 - 0.1 * ((second + index) % 12) / 12
            return gpu(
                index,
                util_pct=min(100.0, dice.gauss(94.0, 5.0)),
                power_w=min(700.0, 640.0 * chips[index] * swing * dice.gauss(1.0, 0.05)),
                mem_used_bytes=int((60 + dice.uniform(-1, 1) + (6 if index == 0 else 0)) * GIB),
            )

        assert check_imbalance(series(device)) is None, seed

"""Eleven minutes of a healthy job on eight GPUs, with all that healthy jobs do: the rules about GPUs stay silent."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuProcess, GpuRates
from hwtop.model.rank import RankState
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.rules import RULES
from tests.symptoms.derived_states import GIB, derived, gpu, job, rank

EVERY_S = 4
GPUS = 8


def doing(second: int) -> RankState:
    """It starts for a minute, saves for 20 s every 5 min and evaluates for 30 s every 4."""
    if second < 60:
        return "starting"
    if second % 300 < 20:
        return "checkpoint"
    return "eval" if second % 240 < 30 else "training"


def device(index: int, second: int, chip: float, dice: random.Random) -> Gpu:
    """A chip that differs from its peers by some percent, read at random points of its steps; memory fills up in steps."""
    state = doing(second)
    util = {"starting": 0.0, "checkpoint": dice.uniform(0, 5), "eval": dice.uniform(20, 90)}.get(
        state, dice.gauss(95, 4)
    )
    util = max(0.0, min(100.0, util))
    held = int((2 + 72 * (1 - 0.5 ** (second / 60)) + 0.4 * (index == 0) + dice.uniform(0, 0.1)) * GIB)
    return gpu(
        index,
        util_pct=round(util),
        mem_util_pct=round(0.55 * util),
        power_w=min(700.0, 90 + (chip * 560 + dice.gauss(0, 20)) * util / 100),
        mem_used_bytes=held + GIB // 2,
        processes=(GpuProcess(pid=1000 + index, mem_bytes=held, sm_pct=util, state="R"),),
        unlisted_bytes=GIB // 2,
        activity=GpuActivity(sm_active_pct=0.85 * util, tensor_active_pct=0.5 * util, dram_bw_pct=0.5 * util),
    )


def at(second: int, chips: list[float], dice: random.Random) -> DerivedState:
    state = doing(second)
    fields: dict[str, Any] = {"state": state, "phase": None if state == "starting" else "forward", "samples": 40}
    ranks = [rank(number, gpus=(number,), wait_samples=40, **fields) for number in range(GPUS)]
    return derived(
        float(second),
        job(*ranks),
        interval_s=float(EVERY_S),
        cores=192.0,
        gpus=tuple(device(index, second, chips[index], dice) for index in range(GPUS)),
        gpu_rates=tuple(GpuRates(index=index, nvlink_tx_bytes_per_s=1e11) for index in range(GPUS)),
    )


@pytest.mark.parametrize("seed", range(2))
def test_nothing_above_information_is_raised(seed: int) -> None:
    dice = random.Random(seed)
    chips = [dice.gauss(1.0, 0.03) for _ in range(GPUS)]
    judge = Judge([rule for rule in RULES if "gpu" in rule.symptom or rule.symptom == "numa-misplaced"])
    derived_states: list[DerivedState] = []
    raised: set[tuple[str, str]] = set()
    for second in range(0, 661, EVERY_S):
        derived_states.append(at(second, chips, dice))
        found = judge.advance(History([each for each in derived_states if second - each.at_s <= 600]), float(second))
        raised |= {(finding.symptom, finding.severity) for finding in found if finding.severity != "info"}
    assert raised == set()
    assert judge.failures == ()

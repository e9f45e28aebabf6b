"""A hang on GPUs: a kernel that waits keeps them at 100 %, and is no long step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hwtop.job.hang.stall import Patience
from hwtop.job.hang.tree import HangCause, hang_cause
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.job import Job
from hwtop.symptoms.hang import stall
from hwtop.symptoms.hang.hang import check_missing
from hwtop.symptoms.hang.stall import HANG, stall_cause
from hwtop.symptoms.rule import Limits
from hwtop.symptoms.rules import RULES
from tests.symptoms.derived_states import constant, derived, gpu, history, job, still

SPIN_WAIT: dict[str, Any] = {
    "util_pct": 100.0,
    "mem_util_pct": 0.0,
    "power_w": 160.0,
    "pcie_tx_bytes_per_s": 1e6,
    "pcie_rx_bytes_per_s": 1e6,
}
RANKS = tuple(still(number, 20.0, gpus=(number,)) for number in range(2))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"mem_util_pct": 40.0}, False),  # a kernel that reads memory computes: a minute is given
        ({"mem_util_pct": None}, False),  # nobody knows what it does
        ({"util_pct": 60.0}, False),
        ({"sm_clock_mhz": 900.0}, False),
    ],
)
def test_full_gpus_that_do_nothing_do_not_excuse_a_still_job(fields: dict[str, Any], expected: bool) -> None:
    gpus = tuple(gpu(index, **(SPIN_WAIT | fields)) for index in range(2))
    assert (stall_cause(constant(job(*RANKS), gpus=gpus)) is not None) is expected


def test_nearly_each_look_of_ten_seconds_must_show_it() -> None:
    def at(second: int) -> DerivedState:
        mem_util_pct = 30.0 if second in (24, 25) else 0.0
        gpus = tuple(gpu(index, **(SPIN_WAIT | {"mem_util_pct": mem_util_pct})) for index in range(2))
        return derived(float(second), job(*RANKS), gpus=gpus)

    assert stall_cause(history(30, at)) is None
    assert stall_cause(history(35, at)) is not None


def test_the_silence_that_is_asked_can_be_set() -> None:
    watched = constant(job(*RANKS, still(2, 20.0, phase="other", is_waiting=False)))
    assert check_missing(watched) is not None
    assert check_missing(watched, Limits({**HANG, "quiet_s": 30.0})) is None


def test_the_cause_is_worked_out_once_a_frame_for_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Job] = []

    def counted(job: Job, gpus: Sequence[Gpu], patience: Patience) -> HangCause | None:
        asked.append(job)
        return hang_cause(job, gpus, patience)

    monkeypatch.setattr(stall, "hang_cause", counted)
    watched = constant(job(*RANKS, still(2, 20.0, phase="other", is_waiting=False)))
    seen = [rule.symptom for rule in RULES if rule.look(watched) is not None]
    assert "rank-missing-from-collective" in seen
    assert len(asked) == 1

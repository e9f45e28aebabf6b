from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.rank_state import is_stuck, rank_state, settled, share_of
from hwtop.model.log import Progress
from tests.symptoms.moments import rank, shares, still


@pytest.mark.parametrize(
    ("fields", "is_it"),
    [
        ({}, True),
        ({"step_age_s": 9.9}, False),  # a step was told: it moves
        ({"step_age_s": None}, True),  # a log that tells no steps proves nothing
        ({"is_alive": False}, False),
        ({"phase": None}, False),
        ({"phase": "rendezvous"}, False),
        ({"phase": "compile"}, False),
        ({"phase": "startup"}, False),
        ({"same_stack_for_s": 9.9}, False),
        ({"same_stack_for_s": None}, False),
        ({"idle_for_s": 0.0}, True),  # spins in a collective
        ({"idle_for_s": 0.0, "phase": "sync"}, True),
        ({"idle_for_s": 0.0, "is_waiting": False}, False),
        ({"idle_for_s": 0.0, "phase": "forward"}, False),  # one long computation
        ({"phase": "forward"}, True),  # asleep in its own code: a lock
        ({"phase": "data"}, True),
    ],
)
def test_is_stuck(fields: dict[str, Any], is_it: bool) -> None:
    assert is_stuck(still(0, 10.0, **fields)) is is_it


STILL = {
    "phase": "data",
    "same_stack_for_s": 10.0,
    "idle_for_s": 10.0,
    "step_age_s": 10.0,
    "phase_shares": shares(data=1.0),
}


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "training"),
        ({"is_alive": False, "os_state": "T"}, "dead"),
        ({"os_state": "T"}, "stopped"),
        ({"os_state": "t"}, "stopped"),
        ({"phase": None}, "training"),
        ({"phase": None, "progress": None}, "unknown"),
        ({"phase": None, "progress": Progress(loss=2.0)}, "unknown"),
        ({"phase": "startup"}, "starting"),
        ({"phase": "rendezvous"}, "starting"),
        ({"phase": "compile"}, "starting"),
        ({"phase": "checkpoint"}, "checkpoint"),
        ({"phase": "eval"}, "eval"),
        ({"phase_shares": shares(data=0.3, data_main=0.2, forward=0.5)}, "data-wait"),
        ({"phase_shares": shares(data=0.49, forward=0.51)}, "training"),
        ({"phase": "data", "phase_shares": shares(forward=1.0)}, "training"),  # one look is not the rule
        ({"wait_share": 0.5}, "collective-wait"),
        ({"wait_share": 0.49}, "training"),
        ({"wait_share": None}, "training"),
        ({"phase_shares": shares(data=0.6, collective=0.4), "wait_share": 0.6}, "data-wait"),
        (STILL, "stuck"),
        (STILL | {"phase": "checkpoint"}, "stuck"),
        (STILL | {"os_state": "T"}, "stopped"),
    ],
)
def test_rank_state(fields: dict[str, Any], state: str) -> None:
    assert rank_state(rank(0, **fields)) == state


def test_share_of_adds_phases() -> None:
    watched = rank(0, phase_shares=shares(data=0.3, data_main=0.2, forward=0.5))
    assert share_of(watched, "data", "data-main") == pytest.approx(0.5)
    assert share_of(watched, "eval") == 0


def states(*ranks: Any) -> list[str]:
    return [each.state for each in settled(ranks)]


def test_who_waits_for_a_rank_that_works_is_not_stuck() -> None:
    assert states(still(0), still(1), rank(2)) == ["collective-wait", "collective-wait", "training"]


def test_who_is_still_without_waiting_is_stuck_whatever_the_others_do() -> None:
    assert states(still(0, is_waiting=False, phase="other"), rank(1)) == ["stuck", "training"]


def test_all_are_stuck_when_nobody_works() -> None:
    assert states(still(0), still(1)) == ["stuck", "stuck"]
    assert states(still(0), rank(1, state="stopped", os_state="T")) == ["stuck", "stopped"]
    assert states(still(0), rank(1, state="dead", is_alive=False)) == ["stuck", "dead"]

"""How improbable a gap is, and what that is called."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.hang.liveness import LEVEL, PRIOR_S, SUSPECT, confidence, phi, phi_of_silence
from hwtop.job.hang.rank_state import settled
from hwtop.job.hang.stall import wait_phi
from hwtop.model.rank import Rank
from tests.job.hang.standstill import is_standing_still
from tests.symptoms.derived_states import rank, still

SPINS: dict[str, Any] = {"phase": "other", "is_waiting": False, "idle_for_s": 0.0, "cpu_pct": 99.0, "os_state": "R"}
POLLS: dict[str, Any] = {"phase": "other", "is_waiting": False, "same_stack_for_s": 0.0, "asleep_for_s": 0.0}


def polls(number: int, seconds: float, **fields: Any) -> Rank:
    """It looks for a file again and again: its line changes, its function does not."""
    return still(number, seconds, same_function_for_s=seconds, **POLLS | fields)


def test_phi_grows_with_the_gap_and_reaches_the_level_where_the_prior_says() -> None:
    seen = [phi(still(0, seconds)) for seconds in (1.0, 5.0, 9.9, 10.0, 60.0)]
    assert seen == sorted(seen)
    assert seen[2] < LEVEL <= seen[3]


@pytest.mark.parametrize(("gap_s", "is_it"), [(2.9, False), (3.0, True)])
def test_three_times_the_rhythm_is_improbable(gap_s: float, is_it: bool) -> None:
    assert (phi_of_silence(gap_s, 1.0) >= LEVEL) is is_it


def test_the_surer_the_gap_the_surer_the_finding() -> None:
    seen = [confidence(surprise) for surprise in (0.0, 2.0, LEVEL, 4.0, 20.0)]
    assert seen == sorted(seen)
    assert seen[0] == pytest.approx(0.01)
    assert seen[2] == pytest.approx(0.91, abs=0.01)


@pytest.mark.parametrize(
    ("alone", "called"),
    [
        (still(1, 30.0, phase="other", is_waiting=False, asleep_for_s=30.0), "stuck asleep"),
        (polls(1, 30.0), "stuck polling"),
        (still(1, 30.0, **SPINS), "stuck spinning"),
        (rank(1, os_state="T", stopped_for_s=30.0), "stopped"),
        (rank(1, is_alive=False), "gone"),
        (rank(1), "slow"),
    ],
)
def test_each_rank_is_called_by_what_it_does(alone: Rank, called: str) -> None:
    first, second = settled([still(0, 30.0), alone])
    assert second.liveness is not None
    assert second.liveness.state == called
    assert first.liveness is not None
    assert (first.liveness.state, first.liveness.waits_for) == ("waiting", (1,))


def test_a_rank_that_polls_while_another_waits_for_it_stands_still() -> None:
    silent: dict[str, Any] = {"progress": None, "step_age_s": None, "phase_shares": ()}
    joins = still(0, 30.0, phase="rendezvous", phase_for_s=30.0, is_waiting=False, **silent)
    assert is_standing_still([joins, polls(1, 20.0, log_age_s=30.0, **silent)])
    assert not is_standing_still([joins, polls(1, 19.0, log_age_s=30.0, **silent)])


def test_a_rank_that_works_in_one_function_before_the_first_step_is_given_half_an_hour() -> None:
    silent: dict[str, Any] = {"progress": None, "step_age_s": None, "log_age_s": None, "log_interval_s": None}
    silent |= {"step_time_s": None, "phase_shares": ()}
    waits = still(0, 300.0, **silent)
    assert not is_standing_still([waits, still(1, 300.0, **SPINS | silent)])
    assert is_standing_still([still(0, 1801.0, **silent), still(1, 1801.0, **SPINS | silent)])


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, True),
        ({"helpers_idle_for_s": 40.0}, True),
        ({"helpers_idle_for_s": 3.0}, False),  # a program that it started works
        ({"phase": "data"}, False),  # threads that load
        ({"same_function_for_s": 5.0, "same_stack_for_s": 5.0}, False),
        ({"step_age_s": 10.0, "log_age_s": 10.0}, False),
    ],
)
def test_threads_in_the_background_are_no_progress(others: dict[str, Any], expected: bool) -> None:
    waits: dict[str, Any] = {
        "phase": "other",
        "is_waiting": False,
        "idle_for_s": 0.0,
        "asleep_for_s": 1.0,
        "cpu_pct": 12.0,
        "main_thread_cpu_pct": 0.0,
        "same_function_for_s": 40.0,
        "step_time_s": 0.8,
    }
    assert is_standing_still([still(0, 40.0, **(waits | others))]) is expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, True),
        ({"idle_for_s": 1.0}, False),  # it computes
        ({"helpers_idle_for_s": 1.0}, False),  # a program that it started does
        ({"step_age_s": 2.0, "log_age_s": 2.0}, False),  # it reports
        ({"log_interval_s": 60.0}, False),  # as seldom as ever
        ({"progress": None, "step_age_s": None}, False),  # it never trained: a server that nobody asks
    ],
)
def test_a_rank_whose_stack_cannot_be_read_stands_still_by_what_the_kernel_and_its_log_show(
    others: dict[str, Any], expected: bool
) -> None:
    unread: dict[str, Any] = {"phase": None, "is_waiting": None, "same_stack_for_s": None, "phase_shares": ()}
    assert is_standing_still([still(0, 30.0, **(unread | others))]) is expected


def test_an_endless_loop_without_a_log_is_seen_by_who_misses_it() -> None:
    silent: dict[str, Any] = {"progress": None, "step_age_s": None, "log_age_s": None, "log_interval_s": None}
    waits = still(0, PRIOR_S["training", "busy"], phase="backward", **silent)
    spins = still(1, PRIOR_S["training", "busy"], **SPINS | silent)
    assert is_standing_still([waits, spins])
    assert not is_standing_still([spins])


@pytest.mark.parametrize(("earlier_s", "expected"), [(17.0, False), (4.0, True), (None, True)])
def test_a_pause_as_long_as_an_earlier_one_is_usual(earlier_s: float | None, expected: bool) -> None:
    pauses = still(0, 15.0, phase="other", is_waiting=False, asleep_for_s=15.0, woken_every_s=earlier_s)
    assert is_standing_still([pauses]) is expected


def test_lines_that_come_at_their_own_pace_are_no_report() -> None:
    ticks: dict[str, Any] = {"phase": "other", "is_waiting": False, "log_age_s": 1.0, "step_age_s": 30.0}
    assert not is_standing_still([still(0, 30.0, **ticks)])
    assert is_standing_still([still(0, 30.0, **ticks, news_age_s=30.0)])


def test_a_collective_that_returned_is_no_missing_rank() -> None:
    long = {"step_age_s": 7.0, "log_age_s": 7.0}
    assert wait_phi(still(0, 7.0, asleep_for_s=7.0, **long)) >= SUSPECT
    assert wait_phi(still(0, 7.0, asleep_for_s=1.0, **long)) < SUSPECT, "it was woken a second ago"
    assert wait_phi(still(0, 7.0, asleep_for_s=7.0, woken_every_s=6.0, **long)) < SUSPECT, "as long as usual"

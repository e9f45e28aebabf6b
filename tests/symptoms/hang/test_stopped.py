"""rank-stopped."""

from __future__ import annotations

import pytest

from hwtop.model.rank import Rank
from hwtop.symptoms.hang.stopped import check_stopped
from hwtop.symptoms.text import percent
from tests.symptoms.derived_states import constant, derived, history, job, rank


@pytest.mark.parametrize(("seconds", "expected"), [(4.9, False), (5.0, True)])
def test_a_stopped_rank(seconds: float, expected: bool) -> None:
    stopped = rank(1, os_state="T", state="stopped", cpu_pct=0.0, stopped_for_s=seconds)
    seen = check_stopped(constant(job(rank(0), stopped)))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.ranks == (1,)
        assert seen.next_steps[0].startswith("kill -CONT 1001")


@pytest.mark.parametrize(
    ("looks", "share"),
    [
        ("TTTRTTTRTTTR" * 3, 0.74),  # caught in the fifth of a second in which it runs
        ("TtttTtttTttt" * 3, 1.0),  # never caught running, but it used CPU time in between
        ("RRRTRRRRRRRR" * 3, None),  # a debugger that was attached for a moment, once in a while
        ("R" * 10 + "TTTRTTTRTTTR" + "R" * 14, None),  # it is over
    ],
)
def test_a_rank_that_is_stopped_again_and_again(looks: str, share: float | None) -> None:
    """T: stopped, and used CPU time since the look before; t: stopped and used none."""
    states = [
        rank(1, os_state="R" if look == "R" else "T", cpu_pct=0.0 if look == "t" else 20.0, stopped_for_s=0.5)
        for look in looks
    ]
    seen = check_stopped(history(len(states) - 1, lambda second: derived(float(second), job(rank(0), states[second]))))
    assert (seen is not None) is (share is not None)
    if seen is not None and share is not None:
        assert (seen.severity, seen.ranks) == ("warning", (1,))
        assert f"again and again, {percent(share)} of the time" in seen.title


def test_who_traces_a_stopped_rank_is_told() -> None:
    seen = check_stopped(constant(job(rank(0, os_state="t", stopped_for_s=6.0, tracer_pid=77))))
    assert seen is not None
    assert "traced by PID 77" in seen.evidence[0]
    assert "ps -fp 77" in seen.next_steps[1]


def test_the_title_says_that_others_wait_only_once_they_do() -> None:
    stopped = rank(1, os_state="T", state="stopped", cpu_pct=0.0, stopped_for_s=6.0)
    waiting = rank(0, phase="collective", is_waiting=True)

    def title(*ranks: Rank) -> str:
        seen = check_stopped(constant(job(*ranks)))
        assert seen is not None
        return seen.title

    assert title(rank(0), stopped) == "Rank 1 is stopped (SIGSTOP or a debugger)"
    assert title(waiting, stopped).endswith("): the whole job waits")
    assert title(waiting, stopped, rank(2)).endswith("): rank 0 waits")

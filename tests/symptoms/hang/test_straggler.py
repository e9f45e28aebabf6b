"""straggler-rank."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.frame import DerivedState
from hwtop.model.rank_stack import PhaseInterval
from hwtop.symptoms.hang.straggler import check_straggler
from tests.symptoms.derived_states import constant, derived, history, job, rank, shares, spot, worker

SLOW = {"wait_share": 0.05, "phase_shares": shares(forward=0.9, collective=0.05), "hot": (spot("augment"),)}
NOT_RETURNED = {
    "wait_share": 1.0,
    "phase": "collective",
    "is_waiting": True,
    "phase_shares": shares(collective=1.0),
    "same_stack_for_s": 6.0,
    "log_age_s": 6.0,
    "step_age_s": 6.0,
}
WAITS = {"wait_share": 0.8, "phase_shares": shares(collective=0.8, forward=0.2)}


def test_the_rank_that_waits_least_is_the_straggler() -> None:
    seen = check_straggler(constant(job(rank(0, **WAITS), rank(1, **SLOW), rank(2, **WAITS))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert "ranks 0,2 wait 80 % of the time for it" in seen.title
    assert "augment" in seen.title


@pytest.mark.parametrize(("since_s", "severity"), [(0, "warning"), (15, "warning"), (25, "info")])
def test_a_rank_that_lost_its_core_for_some_seconds_is_noted(since_s: int, severity: str) -> None:
    def at(second: int) -> DerivedState:
        slow = SLOW if second >= since_s else {**SLOW, "wait_share": 0.5}
        return derived(float(second), job(rank(0, **WAITS), rank(1, **slow)))

    seen = check_straggler(history(30, at))
    assert seen is not None
    assert seen.severity == severity


@pytest.mark.parametrize(
    ("why", "others", "slow"),
    [
        ("all wait alike", WAITS, WAITS),
        ("the others wait too little to tell", {**WAITS, "wait_share": 0.35}, SLOW),
        ("too few samples", {**WAITS, "samples": 7}, SLOW),
        ("only two looks tell whether they wait", {**WAITS, "wait_share": 1.0, "wait_samples": 2}, SLOW),
        ("it saves a checkpoint", WAITS, {**SLOW, "phase_shares": shares(checkpoint=0.9, forward=0.1)}),
        ("it evaluates", WAITS, {**SLOW, "phase_shares": shares(eval=0.9, forward=0.1)}),
        ("the collective has not returned: it may be missing", NOT_RETURNED, {**SLOW, "hot": ()}),
        ("it is stopped: another symptom", WAITS, {**SLOW, "state": "stopped"}),
        ("no samples of it", WAITS, {**SLOW, "samples": 0, "wait_share": None}),
    ],
)
def test_no_straggler_when(why: str, others: dict[str, Any], slow: dict[str, Any]) -> None:
    assert check_straggler(constant(job(rank(0, **others), rank(1, **slow)))) is None, why


def _evaluation(at_s: float, looks: int) -> PhaseInterval:
    return PhaseInterval(
        phase="eval", from_s=at_s, to_s=at_s + looks, looks=looks, looks_before=int(at_s), over_by_s=at_s + looks
    )


@pytest.mark.parametrize(
    ("why", "starts_s", "looks", "is_slow"),
    [
        ("70 % of the time, again and again", (0.0, 10.0, 20.0, 30.0), 7, True),
        ("once, however long", (0.0,), 40, False),
        ("twice a minute, for 5 s", (0.0, 30.0, 60.0), 5, False),
    ],
)
def test_a_rank_that_evaluates_while_the_others_wait(
    why: str, starts_s: tuple[float, ...], looks: int, is_slow: bool
) -> None:
    intervals = tuple(_evaluation(at_s, looks) for at_s in starts_s)
    evaluates = {**SLOW, "phase_shares": shares(eval=0.7, forward=0.25), "hot": (spot("evaluate"),)}
    seen = check_straggler(constant(job(rank(0, **evaluates, intervals=intervals), rank(1, **WAITS))))
    assert (seen is not None) == is_slow, why
    if seen is not None:
        assert seen.ranks == (0,)
        assert "evaluate" in seen.title


@pytest.mark.parametrize(("waited_s", "severity"), [(18.0, "info"), (22.0, "warning")])
def test_a_rank_that_works_on_while_the_collective_does_not_return(waited_s: float, severity: str) -> None:
    """A long step, or an endless loop: whichever it is, the others wait for this rank."""
    silent = {"log_age_s": waited_s, "step_age_s": waited_s, "log_interval_s": 0.3, "step_time_s": 0.3}
    waiting = {**NOT_RETURNED, **silent, "same_stack_for_s": waited_s}
    loops = {**SLOW, **silent, "phase": "other", "cpu_pct": 99.0, "idle_for_s": 0.0}
    seen = check_straggler(constant(job(rank(0, **waiting), rank(1, **loops), rank(2, **waiting))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == (severity, (1,))
    assert seen.title == f"Rank 1 has kept ranks 0,2 waiting for {waited_s:.0f} s: it is in augment (data.py:33)"
    assert f"last step {waited_s:.0f} s ago, usually 0.30 s each" in seen.evidence


def test_a_rank_that_waits_at_a_barrier_keeps_nobody_waiting() -> None:
    """The others are in another collective: a mismatch, which takes longer to prove."""
    silent = {"log_age_s": 22.0, "step_age_s": 22.0, "log_interval_s": 0.3, "step_time_s": 0.3}
    waiting = {**NOT_RETURNED, **silent, "same_stack_for_s": 22.0}
    barrier = {**SLOW, **silent, "phase": "collective", "cpu_pct": 1.0, "idle_for_s": 5.0}
    assert check_straggler(constant(job(rank(0, **waiting), rank(1, **barrier)))) is None


def test_a_straggler_with_slow_data_is_told_with_its_data() -> None:
    loads = {"wait_share": 0.05, "phase_shares": shares(data=0.9, forward=0.1), "worker_hot": (spot("read_shard"),)}
    seen = check_straggler(constant(job(rank(0, **WAITS), rank(1, **loads, workers=(worker(cpu_pct=2.0),)))))
    assert seen is not None
    assert "Rank 1 is slow, for its data: rank 0 waits 80 % of the time for it" in seen.title
    assert "read_shard" in seen.title
    assert any("what loads its data" in line for line in seen.evidence)
    assert "Swap its GPU" not in " ".join(seen.next_steps)


def test_advice_about_gpus_is_for_jobs_that_have_some() -> None:
    without = check_straggler(constant(job(rank(0, **WAITS), rank(1, **SLOW))))
    with_gpu = check_straggler(constant(job(rank(0, **WAITS), rank(1, **SLOW, gpus=(1,)))))
    assert without is not None and with_gpu is not None
    assert "GPU" not in " ".join(without.next_steps)
    assert "Swap its GPU" in " ".join(with_gpu.next_steps)

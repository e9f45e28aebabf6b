"""rank-dead, rank-stopped, straggler-rank."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.member import Launcher
from hwtop.model.rank import Rank
from hwtop.symptoms.hang.ranks import check_dead, check_stopped, check_straggler
from tests.symptoms.derived_states import constant, derived, event, history, job, rank, row, shares, spot, still, worker


def gone(number: int, **fields: object) -> Rank:
    return rank(number, is_alive=False, os_state="X", state="dead", **fields)


def test_a_rank_with_a_bad_exit_code_is_dead_at_once() -> None:
    seen = check_dead(constant(job(rank(0), gone(1, exit_code=-9, last_line="step 41 loss 2.1"))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert seen.title == "Rank 1 is dead (killed by SIGKILL)"
    assert any("step 41 loss 2.1" in line for line in seen.evidence)


def test_a_rank_that_vanished_is_dead_when_the_others_wait_for_it() -> None:
    seen = check_dead(constant(job(still(0), gone(1), still(2))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert "ranks 0,2 wait for it" in seen.title


def test_a_rank_that_is_done_while_others_still_work_is_not_dead() -> None:
    assert check_dead(constant(job(rank(0, phase="checkpoint"), gone(1)))) is None
    assert check_dead(constant(job(rank(0), gone(1, exit_code=0)))) is None


def test_a_rank_that_left_with_success_while_the_others_still_wait_for_it() -> None:
    seen = check_dead(constant(job(still(0), gone(1, exit_code=0))))
    assert seen is not None
    assert any("exit code 0" in line for line in seen.evidence)


def test_a_rank_that_died_before_hwtop_came_is_missed() -> None:
    seen = check_dead(constant(job(still(0), still(2), local_world_size=3, world_size=3)))
    assert seen is not None
    assert seen.ranks == (1,)
    assert any("LOCAL_WORLD_SIZE is 3" in line for line in seen.evidence)


def test_where_nobody_tells_how_many_ranks_are_here_a_gap_does() -> None:
    seen = check_dead(constant(job(still(0), still(2), world_size=4)))
    assert seen is not None
    assert seen.ranks == (1,)
    assert any(line.startswith("LOCAL_RANK 2 is on this machine, but") for line in seen.evidence)
    assert check_dead(constant(job(still(0), still(1), world_size=4))) is None, "the others may be elsewhere"
    other_node = [still(number, local_rank=None) for number in (0, 2)]
    assert check_dead(constant(job(*other_node, world_size=4))) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (2,)),
        ({"command": "[pt_main_thread]"}, (2,)),
        ({"command": "[nvidia-smi]"}, None),  # a tool
        ({"ppid": 1000}, None),  # a helper of a rank
        ({"state": "S", "command": "python train.py"}, None),
    ],
)
def test_a_zombie_that_nobody_saw_alive_is_the_rank_that_lacks(
    fields: dict[str, Any], expected: tuple[int, ...] | None
) -> None:
    zombie = row(1002, **({"ppid": 999, "state": "Z", "command": "[python]", "exit_code": -9} | fields))
    launcher = Launcher(pid=999, kind="python", command="python start.py")
    seen = check_dead(constant(job(still(0), still(1), world_size=3, launcher=launcher, processes=(zombie,))))
    assert (seen.ranks if seen else None) == expected
    if seen is not None:
        assert any("PID 1002 is a zombie, killed by SIGKILL" in line for line in seen.evidence)


def test_more_ranks_than_zombies_lack_where_some_are_on_other_machines() -> None:
    zombie = row(1002, ppid=999, state="Z", command="[python]")
    launcher = Launcher(pid=999, kind="python", command="python start.py")
    assert check_dead(constant(job(still(0), still(1), world_size=8, launcher=launcher, processes=(zombie,)))) is None


def test_nobody_is_missed_while_the_job_starts() -> None:
    starting = [rank(0, phase="rendezvous", state="starting"), rank(2)]
    assert check_dead(constant(job(*starting, local_world_size=3))) is None


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
        assert f"again and again, {share:.0%} of the time" in seen.title


def test_who_traces_a_stopped_rank_is_told() -> None:
    seen = check_stopped(constant(job(rank(0, os_state="t", stopped_for_s=6.0, tracer_pid=77))))
    assert seen is not None
    assert "traced by PID 77" in seen.evidence[0]
    assert "ps -fp 77" in seen.next_steps[1]


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
    assert "ranks 0,2 wait 80% of the time for it" in seen.title
    assert "augment" in seen.title


@pytest.mark.parametrize(
    ("why", "others", "slow"),
    [
        ("all wait alike", WAITS, WAITS),
        ("the others wait too little to tell", {**WAITS, "wait_share": 0.35}, SLOW),
        ("too few samples", {**WAITS, "samples": 7}, SLOW),
        ("it saves a checkpoint", WAITS, {**SLOW, "phase_shares": shares(checkpoint=0.9, forward=0.1)}),
        ("it evaluates", WAITS, {**SLOW, "phase_shares": shares(eval=0.9, forward=0.1)}),
        ("the collective has not returned: it may be missing", NOT_RETURNED, {**SLOW, "hot": ()}),
        ("it is stopped: another symptom", WAITS, {**SLOW, "state": "stopped"}),
        ("no samples of it", WAITS, {**SLOW, "samples": 0, "wait_share": None}),
    ],
)
def test_no_straggler_when(why: str, others: dict[str, Any], slow: dict[str, Any]) -> None:
    assert check_straggler(constant(job(rank(0, **others), rank(1, **slow)))) is None, why


def test_the_rank_that_went_first_is_named_when_the_others_failed_after_it() -> None:
    first = gone(1, gone_at_s=20.0)
    second = gone(0, gone_at_s=21.0, exit_code=1)
    seen = check_dead(constant(job(second, first)))
    assert seen is not None
    assert seen.ranks == (1,)
    assert seen.title == "Rank 1 ended first (exit code unknown); rank 0 failed after it (exit code 1)"
    together = check_dead(constant(job(second, gone(1, gone_at_s=20.9))))
    assert together is not None
    assert together.ranks == (0,), "two that went in one look cannot be ordered"


def test_a_rank_that_left_quietly_is_named_where_the_failed_one_lost_its_peer() -> None:
    closed = event("nccl-error", "cascade", rank=0)
    seen = check_dead(constant(job(gone(0, exit_code=1), gone(1), events=(closed,))))
    assert seen is not None
    assert seen.title == "Rank 0 is dead (exit code 1); rank 1 ended too, with no error of its own"
    assert any("rank 1 ended without an error message: check there first" in line for line in seen.evidence)
    alone = check_dead(constant(job(gone(0, exit_code=1), gone(1))))
    assert alone is not None
    assert alone.title == "Rank 0 is dead (exit code 1)"


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


def test_a_straggler_with_slow_data_is_told_with_its_data() -> None:
    loads = {"wait_share": 0.05, "phase_shares": shares(data=0.9, forward=0.1), "worker_hot": (spot("read_shard"),)}
    seen = check_straggler(constant(job(rank(0, **WAITS), rank(1, **loads, workers=(worker(cpu_pct=2.0),)))))
    assert seen is not None
    assert "Rank 1 is slow, for its data: rank 0 waits 80% of the time for it" in seen.title
    assert "read_shard" in seen.title
    assert any("what loads its data" in line for line in seen.evidence)
    assert "Swap its GPU" not in " ".join(seen.next_steps)

"""rank-dead."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hwtop.model.member import Launcher
from hwtop.model.rank import Rank
from hwtop.symptoms.hang.dead import check_dead
from tests.symptoms.derived_states import constant, event, job, rank, row, still


def gone(number: int, **fields: object) -> Rank:
    return rank(number, is_alive=False, os_state="X", state="dead", **fields)


def test_a_rank_with_a_bad_exit_code_is_dead_at_once() -> None:
    seen = check_dead(constant(job(rank(0), gone(1, exit_code=-9, last_line="step 41 loss 2.1"))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert seen.title == "Rank 1 is dead (killed by SIGKILL)"
    assert any("step 41 loss 2.1" in line for line in seen.evidence)


@pytest.mark.parametrize(("code", "asks_kernel"), [(1, False), (-9, True), (137, True), (None, True)])
def test_the_kernel_is_asked_where_no_exception_ended_the_rank(code: int | None, asks_kernel: bool) -> None:
    seen = check_dead(constant(job(still(0), gone(1, exit_code=code))))
    assert seen is not None
    assert any("dmesg" in step for step in seen.next_steps) == asks_kernel


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


def test_of_ranks_that_got_one_signal_between_two_looks_the_launcher_knows_the_first() -> None:
    ended = [gone(number, gone_at_s=20.0, exit_code=-15) for number in range(3)]
    first = replace(event("rank-crash", "confirmation", rank=1), groups={"exit": "-15", "first": "yes"})
    seen = check_dead(constant(job(*ended, events=(replace(first, rank=0, groups={"exit": "-15"}), first))))
    assert seen is not None
    assert (seen.title, seen.ranks) == ("Rank 1 is dead (killed by SIGTERM)", (1,))


def test_a_rank_that_only_lost_its_peer_is_no_cause() -> None:
    """Gloo, a plain socket, NCCL: the words differ, the role of the line does not."""
    killed, lost = gone(1, exit_code=-9), gone(0, exit_code=1)
    seen = check_dead(constant(job(lost, killed, events=(event("rank-crash", "cascade", rank=0),))))
    assert seen is not None
    assert (seen.title, seen.ranks) == ("Rank 1 is dead (killed by SIGKILL)", (1,))
    assert any(line.startswith("after that: rank 0 ") for line in seen.evidence)
    own = (event("rank-crash", "cascade", rank=0), event("rank-crash", "root", rank=0))
    both = check_dead(constant(job(lost, killed, events=own)))
    assert both is not None
    assert both.ranks == (0, 1), "one with a failure of its own is a cause"


def test_a_rank_that_left_quietly_is_named_where_the_failed_one_lost_its_peer() -> None:
    closed = event("nccl-error", "cascade", rank=0)
    seen = check_dead(constant(job(gone(0, exit_code=1), gone(1), events=(closed,))))
    assert seen is not None
    assert seen.title == "Rank 0 is dead (exit code 1); rank 1 ended too, with no error of its own"
    assert any("rank 1 ended without an error message: check there first" in line for line in seen.evidence)
    alone = check_dead(constant(job(gone(0, exit_code=1), gone(1))))
    assert alone is not None
    assert alone.title == "Rank 0 is dead (exit code 1)"


@pytest.mark.parametrize(("failed_at_s", "first"), [(22.0, 1), (19.0, 0)])
def test_a_rank_that_was_ended_before_any_other_failed_is_the_first(failed_at_s: float, first: int) -> None:
    ended = gone(1, gone_at_s=20.0, exit_code=-15)
    found = check_dead(constant(job(gone(0, gone_at_s=failed_at_s, exit_code=1), ended)))
    assert found is not None
    assert found.ranks == (first,)

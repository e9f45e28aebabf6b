from __future__ import annotations

from hwtop.derive.job.outlier_vote import ROUND_S, OutlierVotes
from hwtop.job.stacks.outlier_vote import ROUNDS
from hwtop.model.job import OutlierVote
from hwtop.model.rank import Rank
from hwtop.model.stack import StackDump
from tests.parts import rank_of
from tests.stack_jobs import grouped, stack

WAITS = stack("all_reduce torch/distributed/distributed_c10d.py 3252", "main train.py 21")
WORKS = stack("forward model.py 9", "main train.py 20")
GROUPS = grouped({0: WAITS, 1: WAITS, 2: WORKS})


def ranks(*looked_at_s: float | None) -> list[Rank]:
    return [
        rank_of(
            rank=number,
            pid=1000 + number,
            is_alive=True,
            os_state="S",
            stack=None if at_s is None else StackDump(pid=1000 + number, at_s=at_s),
        )
        for number, at_s in enumerate(looked_at_s)
    ]


def test_five_complete_rounds_make_a_vote() -> None:
    votes = OutlierVotes()
    said = [votes.take(ranks(at_s, at_s, at_s), GROUPS, at_s + 0.5) for at_s in (10.0, 14.0, 18.0, 22.0, 26.0)]
    assert said == [None] * (ROUNDS - 1) + [OutlierVote(rank=2, votes=5, rounds=5)]


def test_a_round_needs_a_new_look_at_every_rank_and_time_to_pass() -> None:
    votes = OutlierVotes()
    for tick in range(40):  # rank 1 is never looked at again
        assert votes.take(ranks(10.0 + tick, 10.0, 10.0 + tick), GROUPS, 11.0 + tick) is None
    hurried = OutlierVotes()
    step_s = ROUND_S / 10
    assert all(hurried.take(ranks(*[tick * step_s] * 3), GROUPS, tick * step_s) is None for tick in range(40))


def test_a_rank_without_any_look_makes_no_round() -> None:
    votes = OutlierVotes()
    assert all(votes.take(ranks(at, None, at), GROUPS, at) is None for at in map(float, range(0, 100, 5)))

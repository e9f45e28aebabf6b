from __future__ import annotations

import pytest

from hwtop.job.stacks.outlier_vote import outliers, vote
from hwtop.model.job import OutlierVote
from hwtop.model.stack import ThreadStack
from tests.stack_jobs import grouped, stack

WAITS = stack("all_reduce torch/distributed/distributed_c10d.py 3252", "main train.py 21")
WAITS_ELSEWHERE = stack("barrier torch/distributed/distributed_c10d.py 4800", "main train.py 25")
WORKS = stack("forward model.py 9", "main train.py 20")


@pytest.mark.parametrize(
    ("stacks", "marked"),
    [
        ([WAITS, WAITS, WAITS, WORKS], (3,)),
        ([WAITS, WAITS, WAITS, WAITS_ELSEWHERE], ()),
        ([WAITS] * 4, ()),
        ([WORKS, WORKS, WORKS, WAITS], None),  # the majority works: nobody is waited for
        ([WAITS, WAITS, WORKS, WORKS], None),  # no majority
        ([WAITS, WORKS], None),  # of two nobody is the majority
    ],
)
def test_who_works_while_the_majority_waits(stacks: list[ThreadStack], marked: tuple[int, ...] | None) -> None:
    assert outliers(grouped(dict(enumerate(stacks)))) == marked


def test_three_of_five_rounds_blame_a_rank() -> None:
    assert vote([(3,), (), (3,), (1,), (3,)]) == OutlierVote(rank=3, votes=3, rounds=5)


@pytest.mark.parametrize(
    "rounds",
    [
        [(3,), (3,), (3,), (3,)],  # too few rounds
        [(3,), (3,), (), (1,), ()],  # too few votes
        [(3, 4), (3, 4), (3, 4), (), ()],  # no clear one
        [(3,), (3,), (3,), (), (), (), ()],  # long ago
    ],
)
def test_nobody_is_blamed_without_a_clear_vote(rounds: list[tuple[int, ...]]) -> None:
    assert vote(rounds) is None

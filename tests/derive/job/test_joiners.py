"""Who trains where a script waits for processes that it started."""

from __future__ import annotations

import pytest

from hwtop.derive.job.joiners import Joiners
from hwtop.model.reported.log import Progress


def looks(*seen: tuple[bool, int | None], children: int = 1, loss: float | None = 0.5) -> bool:
    """Of each look whether it joins, and the newest step in its log."""
    joiners, answer = Joiners(), False
    for joins, step in seen:
        if joins:
            answer = joiners.are_ranks_below(7, None if step is None else Progress(step=step, loss=loss), children)
        else:
            joiners.works(7)
    return answer


@pytest.mark.parametrize(
    ("seen", "children", "expected"),
    [
        (((True, 10), (True, 11), (True, 13)), 1, True),  # steps come while it waits
        (((True, 10), (False, 11), (True, 13)), 1, False),
        (((True, 10), (True, 10)), 1, False),  # a helper that does not end
        (((True, None), (True, 10)), 2, True),  # trained before, and one of several is dead or stuck
        (((False, 10), (True, 10)), 2, False),  # it trained itself, and ends its helpers
    ],
)
def test_a_parent_that_only_waits_is_no_rank(
    seen: tuple[tuple[bool, int | None], ...], children: int, expected: bool
) -> None:
    assert looks(*seen, children=children) is expected


def test_without_a_loss_its_children_may_prepare_data() -> None:
    assert not looks((True, 10), (True, 99), children=2, loss=None)

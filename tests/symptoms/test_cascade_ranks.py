"""Whose end it was, where the log does not tell."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.symptom import Finding
from hwtop.symptoms.cascade import fold


def finding(symptom: str, *ranks: int) -> Finding:
    known: dict[str, Any] = {"severity": "critical", "confidence": 0.9, "category": "stability", "evidence": ()}
    return Finding(symptom=symptom, title=symptom, next_steps=(), ranks=ranks, **known)


@pytest.mark.parametrize(
    ("root", "cascade", "ranks"),
    [
        (finding("rank-crash"), finding("rank-missing-from-collective", 1), (1,)),
        (finding("cuda-oom"), finding("rank-dead", 3), (3,)),
        (finding("rank-crash", 2), finding("rank-missing-from-collective", 1), (2,)),
        (finding("rank-crash"), finding("hang", 0, 1), ()),
    ],
)
def test_the_rank_that_is_missed_is_the_one_that_ended(root: Finding, cascade: Finding, ranks: tuple[int, ...]) -> None:
    (card,) = fold([root, cascade])
    assert card.ranks == ranks
    assert card.folded == (f"{cascade.symptom}: {cascade.title}",)


@pytest.mark.parametrize(("starved", "top"), [((1,), "straggler-rank"), ((0, 1), "input-bound-io")])
def test_the_slow_data_of_one_rank_makes_a_straggler_and_that_of_all_an_input_bound_job(
    starved: tuple[int, ...], top: str
) -> None:
    (card,) = fold([finding("straggler-rank", 1), finding("input-bound-io", *starved)])
    assert card.symptom == top

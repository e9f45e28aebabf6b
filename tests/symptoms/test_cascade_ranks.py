"""Whose end it was, where the log does not tell."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

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


@pytest.mark.parametrize(
    ("timed_out", "dead", "top"),
    [
        (((1,), 20.0), ((1,), 21.0), "nccl-timeout"),  # its own timeout ended it
        (((0, 2), 20.0), ((1,), 5.0), "rank-dead"),  # the others waited for one that was gone
        (((1,), 22.0), ((1,), 21.0), "rank-dead"),
        (((), 20.0), ((1,), 21.0), "rank-dead"),  # nobody knows whose it was
    ],
)
def test_a_timeout_is_why_its_own_rank_ended_and_follows_from_the_end_of_another(
    timed_out: tuple[tuple[int, ...], float], dead: tuple[tuple[int, ...], float], top: str
) -> None:
    found = [
        replace(finding(symptom, *ranks), first_seen_s=seen_s)
        for symptom, (ranks, seen_s) in (("nccl-timeout", timed_out), ("rank-dead", dead))
    ]
    (card,) = fold(found)
    assert card.symptom == top

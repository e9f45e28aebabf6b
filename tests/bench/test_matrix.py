"""bench/matrix_score.py: what counts as found, missed, misnamed and false, and since when it was on top."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCORE = Path(__file__).parents[2] / "bench" / "matrix_score.py"


@pytest.fixture(scope="module")
def score() -> ModuleType:
    spec = spec_from_file_location("matrix_score", SCORE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["matrix_score"] = module
    spec.loader.exec_module(module)
    return module


def card(symptom: str, severity: str = "warning", ranks: tuple[int, ...] = (1,)) -> dict[str, Any]:
    return {"symptom": symptom, "severity": severity, "ranks": list(ranks), "confidence": 0.9, "title": "It is so"}


def judged(
    score: ModuleType, expected: str | None, *derived_states: list[dict[str, Any]], also: tuple[str, ...] = ()
) -> Any:
    """What comes of a job at which hwtop said this, one moment every ten seconds."""
    said = [score.Said(at=100.0 + 10 * index, findings=tuple(cards)) for index, cards in enumerate(derived_states)]
    return score.judge("job", "faults", expected, also, (1,), 100.0, said)


def test_time_counts_from_when_the_symptom_came_on_top_to_stay(score: ModuleType) -> None:
    seen = judged(score, "hang", [], [card("hang")], [], [card("hang")], [card("hang"), card("xid", "info")])
    assert (seen.is_good, seen.seconds) == (True, 30.0)
    assert "found    right   30.0 s" in score.line(seen)


def test_another_name_on_top_is_misnamed_and_false(score: ModuleType) -> None:
    seen = judged(score, "hang", [card("straggler-rank"), card("hang")])
    assert (seen.is_found, seen.seconds, seen.false) == (False, None, ("straggler-rank: It is so",))
    assert "MISNAMED" in score.line(seen)
    assert judged(score, "hang", [card("straggler-rank"), card("hang")], also=("straggler-rank",)).false == ()


def test_what_was_raised_and_cleared_again_is_false_all_the_same(score: ModuleType) -> None:
    seen = judged(score, None, [card("loss-spike")], [])
    assert (seen.is_good, seen.false) == (False, ("loss-spike: It is so",))
    assert judged(score, None, [card("loss-spike", "info")], []).is_good


def test_what_folds_under_the_cause_later_is_not_false(score: ModuleType) -> None:
    seen = judged(score, "hang", [card("xid")], [card("hang")])
    assert (seen.is_good, seen.false, seen.passing) == (True, (), ("xid: It is so",))


def test_the_wrong_culprit_is_not_good(score: ModuleType) -> None:
    seen = judged(score, "hang", [card("hang", ranks=(0,))])
    assert (seen.is_found, seen.is_rank_right, seen.is_good) == (True, False, False)


def test_the_end_of_the_report(score: ModuleType) -> None:
    outcomes = [
        judged(score, "hang", [], [card("hang")]),
        judged(score, "hang", [card("xid")]),
        judged(score, "hang", []),
        judged(score, None, [card("hang")]),
        score.Outcome(name="job", expected="hang", family="hangs", error="no such file"),
    ]
    text = score.totals(outcomes)
    assert "faults    1 of 4 found, culprit right in 1 of 1, 1 with another card" in text
    assert "healthy   1 of 1 raised" in text
    assert "not run   job" in text
    assert "median  10.0, longest  10.0 (1)" in text
    assert "claimed   90% sure on average: right in 33% (3 findings)" in text

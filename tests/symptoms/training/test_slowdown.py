"""throughput-drop by what the job can have taken before hwtop came; what is seen live is in test_trend.py."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.rank import PastPace
from hwtop.symptoms.history import History
from hwtop.symptoms.training.slowdown import check_drop
from hwtop.symptoms.training.trend import check_rising
from tests.symptoms.curves import watched


def reported(step_s: float, count: int, past: PastPace | None, every: int = 1) -> History:
    """Steps that were reported live, after those of `past`."""
    points = tuple(CurvePoint(200 + index * every, 900.0 + index * every * step_s, step_s) for index in range(count))
    history = watched(Curve(name="step_time_s", source="/logs/rank_0.log", rank=0, points=points))
    job = history.job
    assert job is not None
    first = job.ranks[0]
    seen = replace(job, ranks=(replace(first, log=replace(first.log, past_pace=past)),))
    return History([replace(history.now, job=seen)])


def risen(first_s: float, last_s: float, count: int = 80) -> History:
    """Steps that take longer and longer."""
    points, at_s = [], 900.0
    for index in range(count):
        step_s = first_s + (last_s - first_s) * index / count
        at_s += step_s
        points.append(CurvePoint(200 + index, at_s, step_s))
    history = reported(1.0, 1, QUICK)
    seen = watched(Curve(name="step_time_s", source="/logs/rank_0.log", rank=0, points=tuple(points)))
    assert history.job is not None and seen.job is not None
    return History([replace(seen.now, job=replace(seen.job, ranks=history.job.ranks))])


QUICK = PastPace(steps=150, step_s=0.1)


@pytest.mark.parametrize(
    ("why", "history", "expected"),
    [
        ("ten times as slow", reported(1.0, 40, QUICK), True),
        ("a line each ten steps", reported(1.0, 12, QUICK, every=10), True),
        ("less than twice", reported(0.19, 200, QUICK), False),
        ("for a moment only", reported(1.0, 15, QUICK), False),
        ("few steps before", reported(1.0, 40, PastPace(steps=20, step_s=0.1)), False),
        ("nothing before", reported(1.0, 40, None), False),
    ],
)
def test_slower_than_the_job_can_have_been(why: str, history: History, expected: bool) -> None:
    seen = check_drop(history)
    assert (seen is not None) is expected, why
    if seen is not None:
        assert seen.title == "Step time rose 900 % or more before the watch, from 0.1 s to 1 s"
        assert "the job wrote 150 steps in its first 15 s, start-up included: at most 0.1 s each" in seen.evidence


def test_steps_that_still_become_longer_were_no_single_change_before_the_watch() -> None:
    assert check_drop(risen(0.2, 1.2)) is None
    assert check_drop(risen(1.0, 1.2)) is not None


def test_what_rises_in_the_watch_has_risen_since_before_it() -> None:
    seen = check_rising(risen(0.15, 0.4, count=50))
    assert seen is not None
    assert seen.title == "Step time rises gradually since before the watch: from 0.1 s to 0.383 s"
    assert "the job wrote 150 steps in its first 15 s, start-up included: at most 0.1 s each" in seen.evidence
    assert check_rising(risen(0.15, 0.17, count=50)) is None
    assert check_rising(risen(1.0, 1.2, count=50)) is None

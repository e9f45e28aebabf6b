from __future__ import annotations

import math
import re

import pytest

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.reported.log import Progress
from hwtop.symptoms.training.series import (
    curve_of,
    is_whole,
    newest_run,
    series_of,
    share_done,
    step_distance,
    total_steps,
    when,
)
from tests.symptoms.curves import curve, watched
from tests.symptoms.derived_states import constant, job, rank


def points(*numbers: int | None) -> tuple[CurvePoint, ...]:
    return tuple(CurvePoint(number, float(index), 1.0) for index, number in enumerate(numbers))


@pytest.mark.parametrize(
    ("numbers", "begin"),
    [
        ((1, 2, 3), 0),
        ((1, 2, 3, 2, 3), 3),
        ((1, 2, 2, 3), 0),
        ((None, None), 0),
        ((5, None, 4, 5), 2),
        ((3, 1, 2, 1), 3),
        ((), 0),
    ],
)
def test_a_run_begins_where_the_step_goes_back(numbers: tuple[int | None, ...], begin: int) -> None:
    reported = points(*numbers)
    assert tuple(newest_run(reported)) == reported[begin:]


def test_what_is_still_told_comes_before_what_is_longer() -> None:
    old, new = curve("loss", [1.0] * 50), curve("loss", [2.0] * 9, live=9)
    found = curve_of(watched(old, new, curve("lr", [1.0] * 99)), "loss")
    assert found is not None
    assert len(found.points) == 9
    assert curve_of(watched(old), "grad_norm") is None
    assert curve_of(constant(job()), "loss") is None


def test_only_numbers_are_left() -> None:
    found = series_of(watched(curve("loss", [1.0, math.nan, 2.0, math.inf])), "loss")
    assert found is not None
    assert found.values == [1.0, 2.0]
    assert found.around(CurvePoint(2, 0.0, 0.0)) == 1.0
    assert found.around(CurvePoint(0, 0.0, 0.0)) is None


def test_how_far_the_training_is() -> None:
    history = watched(curve("loss", [1.0]), total_steps=400)
    assert total_steps(history) == 400
    assert share_done(history, CurvePoint(100, 0.0, 0.0)) == 0.25
    assert share_done(watched(), CurvePoint(100, 0.0, 0.0)) is None


@pytest.mark.parametrize(
    ("progress", "run_step", "share"),
    [
        (Progress(step=300, total_steps=400), 300, 0.75),
        (Progress(step=300, total_steps=400, epoch=2.0), 700, None),
        (Progress(step=300, total_steps=400, epoch=1.0, total_epochs=50), 300, 0.015),
        (Progress(step=20, total_steps=400, epoch=46.0, total_epochs=50), 18_020, 0.901),
        (Progress(step=300, total_steps=400, epoch=2.2, total_epochs=3), 300, 0.75),
        (Progress(step=400, total_steps=400, epoch=3.0, total_epochs=3), 400, 1.0),
    ],
)
def test_the_length_of_an_epoch_is_not_that_of_the_training(
    progress: Progress, run_step: int, share: float | None
) -> None:
    history = constant(job(rank(0, progress=progress)))
    assert share_done(history, CurvePoint(run_step, 0.0, 0.0)) == share


def test_when_it_was() -> None:
    history = watched()
    assert when(history, CurvePoint(12, 1.0, 0.0, is_past=True)) == "at step 12"
    assert when(history, CurvePoint(None, 1.0, 0.0, is_past=True)) == "before hwtop attached"
    assert re.fullmatch(r"at \d\d:\d\d:\d\d \(step 12\)", when(history, CurvePoint(12, 1.0, 0.0)))
    assert re.fullmatch(r"at \d\d:\d\d:\d\d", when(history, CurvePoint(None, 1.0, 0.0)))


def test_the_beginning_is_seen() -> None:
    assert step_distance(points(10, 20, 30, 35)) == 10
    assert step_distance(points(None, None)) is None
    for every, skipped, expected in ((10, 0, True), (10, 6, False), (1, 0, True)):
        reported = curve("loss", [1.0] * 20, every=every).points[skipped:]
        series = series_of(watched(Curve(name="loss", source="a", points=reported)), "loss")
        assert series is not None
        assert is_whole(series) is expected

"""A curve stays bounded and keeps the whole run."""

from __future__ import annotations

import math
from itertools import pairwise

from hwtop.job.progress.curve_series import CurveSeries
from hwtop.model.curve import CurvePoint


def filled(count: int) -> CurveSeries:
    series = CurveSeries()
    for step in range(count):
        series.add(CurvePoint(step=step, at_s=float(step), value=math.nan if step == 1234 else 1.0))
    return series


def test_a_short_run_is_kept_whole() -> None:
    assert [point.step for point in filled(1_999).points] == list(range(1_999))


def test_a_long_run_is_thinned_evenly_and_its_newest_points_stay() -> None:
    points = filled(100_000).points
    steps = [point.step or 0 for point in points]
    assert len(points) <= 2_000
    assert steps == sorted(steps)
    assert steps[-500:] == list(range(99_500, 100_000))
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    assert max(gaps) <= 2 * 100_000 / 750
    assert steps[0] == 0


def test_a_value_that_is_no_number_outlives_the_thinning() -> None:
    assert [point.step for point in filled(100_000).points if math.isnan(point.value)] == [1234]


def of_steps(*steps: int) -> list[int | None]:
    series = CurveSeries()
    for at_s, step in enumerate(steps):
        series.add(CurvePoint(step=step, at_s=float(at_s), value=1.0))
    return [point.step for point in series.points]


def test_ranks_that_write_to_one_file_out_of_step_are_no_restart() -> None:
    assert of_steps(10, 10, 11, 10, 10, 11, 12, 11, 12) == [10, 10, 11, 11, 12, 12]


def test_a_restart_goes_on_from_its_checkpoint() -> None:
    assert of_steps(100, 110, 120, 100, 110, 120, 130) == [100, 110, 120, 100, 110, 120, 130]
    assert of_steps(100, 200, 0, 10, 20) == [100, 200, 0, 10, 20]

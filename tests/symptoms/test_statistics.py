from __future__ import annotations

import random
from statistics import median

import pytest

from hwtop.symptoms.statistics import (
    MOST_OF_A_SHARE,
    block_medians,
    change_point,
    jitter,
    line_fit,
    proven_confidence,
    resolution,
    share_at_least,
    spread,
    trend,
    would_round_to_zero,
)

NORMAL = random.Random(11)


@pytest.fixture(autouse=True)
def _same_noise_whichever_test_ran_before() -> None:
    NORMAL.seed(11)


@pytest.mark.parametrize(
    ("share", "samples", "least"),
    [
        # solutions, by bisection, of (share - p) = 1.64 * sqrt(p * (1 - p) / samples), which is what Wilson's interval solves
        (0.4, 20, 0.2428),
        (0.4, 10, 0.1947),
        (0.5, 100, 0.4191),
        (1.0, 10, 0.788),
        (1.0, 1, 0.271),
        (0.0, 20, 0.0),
        (0.5, 0, 0.0),
    ],
)
def test_what_a_share_of_few_samples_proves(share: float, samples: int, least: float) -> None:
    assert share_at_least(share, samples) == pytest.approx(least, abs=5e-5)


def test_wilson_of_a_textbook() -> None:
    """81 of 263 at 95 %: 0.2553 to 0.3662 (Newcombe 1998, Statistics in Medicine 17, table I, method 3)."""
    assert share_at_least(81 / 263, 263, z=1.959964) == pytest.approx(0.2553, abs=5e-5)


def test_more_samples_prove_more() -> None:
    proved = [share_at_least(0.4, samples) for samples in (5, 10, 20, 100, 10_000)]
    assert proved == sorted(proved)
    assert proved[-1] == pytest.approx(0.4, abs=0.01)


def test_line_fit() -> None:
    assert line_fit([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == pytest.approx((2.0, 1.0))
    assert line_fit([(0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)]) == pytest.approx((0.8, 0.64))


@pytest.mark.parametrize(
    "points", [[], [(0.0, 1.0), (1.0, 2.0)], [(1.0, 1.0)] * 5, [(0.0, 4.0), (1.0, 4.0), (2.0, 4.0)]]
)
def test_no_line_where_there_is_none(points: list[tuple[float, float]]) -> None:
    assert line_fit(points) == (0.0, 0.0)


def test_spread_is_the_deviation_of_the_bulk() -> None:
    bulk = [NORMAL.gauss(10, 2) for _ in range(2000)]
    assert spread(bulk) == pytest.approx(2.0, rel=0.1)
    assert spread([*bulk, *[1e9] * 400]) == pytest.approx(2.6, rel=0.15)
    assert spread([1.0]) == 0.0


def test_jitter_knows_no_trend() -> None:
    assert jitter([index + NORMAL.gauss(0, 0.5) for index in range(2000)]) == pytest.approx(0.5, rel=0.1)


def test_block_medians() -> None:
    assert block_medians([1.0, 2.0, 3.0, 10.0, 20.0, 30.0], 2) == [2.0, 20.0]
    assert block_medians([1.0, 2.0], 5) == [1.0, 2.0]
    assert block_medians([], 5) == []


def test_a_trend_that_outliers_do_not_bend() -> None:
    values = [0.5 * index + NORMAL.gauss(0, 0.3) for index in range(40)]
    values[5] = values[20] = 1e6
    found = trend(values)
    assert found.slope == pytest.approx(0.5, abs=0.05)
    assert found.low < 0.5 < found.high
    assert found.tau > 0.8


def test_the_interval_of_the_slope_holds_the_truth_19_times_of_20() -> None:
    held = sum((line := trend([NORMAL.gauss(0, 1) for _ in range(20)])).low <= 0 <= line.high for _ in range(400))
    assert 0.92 <= held / 400 <= 0.985


def test_the_slope_is_the_median_of_all_slopes() -> None:
    assert trend([0.0, 1.0, 4.0, 9.0, 16.0]).slope == 4.0
    assert trend([1.0, 2.0]).low == float("-inf")


@pytest.mark.parametrize(("before", "after", "least"), [(100, 100, 10), (200, 10, 10), (30, 300, 10)])
def test_where_a_level_changed(before: int, after: int, least: int) -> None:
    """Ranks are coarse where one side is short: a few values off now and then, not as a rule."""
    off = []
    for _ in range(15):
        values = [NORMAL.gauss(1.0, 0.05) for _ in range(before)] + [NORMAL.gauss(1.4, 0.05) for _ in range(after)]
        values[3] = values[-3] = 50.0
        at, score = change_point(values, least)
        off.append(abs(at - before))
        assert score > 4
        assert change_point([-value for value in values], least) == (at, -score)
    assert median(off) <= 1


def test_no_change_where_all_is_equal_or_too_short() -> None:
    assert change_point([1.0] * 50, 10)[1] == 0.0
    assert change_point([1.0, 2.0, 3.0], 2) == (0, 0.0)
    assert abs(change_point([NORMAL.gauss(0, 1) for _ in range(300)], 10)[1]) < 5


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([2.31, 2.4, 0.07], 0.01),
        ([1e-5, 3e-4], 1e-5),
        ([100.0, 250.0], 10.0),
        ([0.0], 0.0),
        ([], 0.0),
        ([3.0, 5.0], 1.0),
    ],
)
def test_in_which_steps_values_are_told(values: list[float], step: float) -> None:
    assert resolution(values) == pytest.approx(step)


def test_the_more_samples_prove_the_surer_a_finding_is() -> None:
    few, many = (proven_confidence(0.5, samples, base=0.6) for samples in (10, 200))
    assert 0.6 < few < many < 0.95
    assert proven_confidence(1.0, 1000, base=0.6) == MOST_OF_A_SHARE
    assert proven_confidence(0.5, 0, base=0.6) == 0.6


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.04, 0.02, 0.02, 0.01, 0.01], True),
        ([0.01] * 40, True),
        ([0.004] * 40, False),
        ([0.0036, 0.0038, 0.004, 0.004], False),
        ([1e-3 * (1 - step / 200) for step in range(200)], False),
        ([3e-4] * 5 + [2.5e-4], False),
        ([], False),
    ],
)
def test_a_zero_after_these_may_be_rounded(values: list[float], expected: bool) -> None:
    assert would_round_to_zero(values) is expected

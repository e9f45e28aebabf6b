from __future__ import annotations

import pytest

from hwtop.symptoms.statistics import line_fit, share_at_least


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

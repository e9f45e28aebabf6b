"""Where a series leaves its level, and whether it comes back."""

from __future__ import annotations

import random

import pytest

from hwtop.symptoms.excursions import BASE_LEAST, comes_back, excursions

NOISE = random.Random(2)


@pytest.fixture(autouse=True)
def _same_noise_whichever_test_ran_before() -> None:
    NOISE.seed(2)


LEVEL = [2.0 + NOISE.gauss(0, 0.05) for _ in range(1200)]


def raised(*stretches: tuple[int, int], by: float = 5.0, count: int = 600) -> list[float]:
    """The level, times `by` in each of these stretches."""
    return [
        value * by if any(begin <= index < end for begin, end in stretches) else value
        for index, value in enumerate(LEVEL[:count])
    ]


def test_a_level_is_left_nowhere_where_nothing_happens() -> None:
    assert excursions(LEVEL, 6.0, 0.2) == []


def test_each_is_told_with_its_begin_its_end_and_the_level_before() -> None:
    found = excursions(raised((100, 110), (300, 304), (500, 501)), 6.0, 0.2)
    assert [(each.begin, each.end, each.length) for each in found] == [(100, 110, 10), (300, 304, 4), (500, 501, 1)]
    assert all(1.9 < each.base < 2.1 and 9 < each.level < 11 for each in found)


def test_one_that_lasts_is_never_taken_for_what_is_usual() -> None:
    (found,) = excursions(raised((100, 1200), count=1200), 6.0, 0.2)
    assert (found.begin, found.end) == (100, None)
    assert found.base < 2.1


def test_a_level_has_to_be_known_first() -> None:
    assert excursions(raised((10, 600))[: BASE_LEAST + 5], 6.0, 0.2) == []


@pytest.mark.parametrize(("count", "expected"), [(330, True), (600, True), (601, False)])
def test_what_has_long_been_silent_does_not_come_back(count: int, expected: bool) -> None:
    values = raised((100, 104), (200, 204), (300, 304), count=count)
    assert comes_back([each.begin for each in excursions(values, 6.0, 0.2)], count, 3) is expected

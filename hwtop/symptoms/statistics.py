"""The little statistics that rules need."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from math import sqrt
from statistics import StatisticsError, correlation, linear_regression, median

from msgspec import Struct

from hwtop.job.stacks.intervals import Recurrence, recurrence
from hwtop.model.rank_stack import PhaseInterval

BLOCKS = 40
"""Stretches that a whole series is divided into for its trend: enough for a line, few enough for all their slopes.
Engineering default."""
MOST_OF_A_SHARE = 0.9
"""A share may be true and mean something else. Source: the rounds 8 to 13 of `bench/first_sight.csv`: of 35 findings that claimed 0.8 to
0.9, at most 0.85 then, 33 were right."""
_LATEST = 5
"""The newest different values before a 0, which show how the next one would move. Engineering default."""


def share_at_least(share: float, samples: int, z: float = 1.64) -> float:
    """Lower end of the 90 % Wilson score interval of a share: what few samples can prove.

    8 of 20 samples prove 24 %, 4 of 10 prove 19 %. (Wilson 1927; 5 % one-sided error.)
    """
    if samples <= 0:
        return 0.0
    square = z * z
    centre = share + square / (2 * samples)
    margin = z * sqrt(share * (1 - share) / samples + square / (4 * samples * samples))
    return max(0.0, (centre - margin) / (1 + square / samples))


def proven_recurrence(intervals: Sequence[PhaseInterval], share: float, periods: int) -> Recurrence | None:
    """What these spells take, if they come again and again and surely take at least `share`."""
    found = recurrence(intervals)
    if found is None or found.periods < periods or share_at_least(found.share, found.looks) < share:
        return None
    return found


def share_at_most(share: float, samples: int) -> float:
    """Upper end of the same interval: none of 20 samples is at most 12 %, none of 25 under 10 %."""
    return 1.0 - share_at_least(1.0 - share, samples)


def proven_confidence(share: float, samples: int, *, base: float) -> float:
    """Of a finding that rests on a share of samples: `base` where they prove next to nothing, and half of what they do prove,
    but at most `MOST_OF_A_SHARE`."""
    return min(MOST_OF_A_SHARE, base + share_at_least(share, samples) / 2)


def line_fit(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(slope, R squared) of the least-squares line through (x, y). (0, 0) for fewer than 3 points, equal x or equal y."""
    if len(points) < 3:
        return 0.0, 0.0
    xs, ys = zip(*points, strict=True)
    try:
        return linear_regression(xs, ys).slope, correlation(xs, ys) ** 2
    except StatisticsError:  # equal x or equal y
        return 0.0, 0.0


def spread(values: Sequence[float]) -> float:
    """Standard deviation of the bulk: 1.4826 x the median distance from the median (Hampel 1974). 0 for fewer than 2 values."""
    if len(values) < 2:
        return 0.0
    centre = median(values)
    return 1.4826 * median(abs(value - centre) for value in values)


def jitter(values: Sequence[float]) -> float:
    """Standard deviation of one value around a level that moves slowly: `spread` of the differences of neighbours / sqrt(2)."""
    return spread([later - earlier for earlier, later in pairwise(values)]) / sqrt(2)


def block_medians(values: Sequence[float], blocks: int = BLOCKS) -> list[float]:
    """Medians of so many consecutive stretches of (nearly) equal length, fewer where there are fewer values."""
    count = min(blocks, len(values))
    edges = [round(number * len(values) / count) for number in range(count + 1)] if count else [0]
    return [median(values[begin:end]) for begin, end in pairwise(edges)]


class Trend(Struct, frozen=True):
    """A line through equally spaced values, in units of one value to the next."""

    slope: float
    low: float
    """Lower end of the 95 % interval of the slope."""
    high: float
    tau: float
    """Kendall's: 1 = each value is above all before it, -1 = below."""


_NO_TREND = Trend(0.0, float("-inf"), float("inf"), 0.0)


def trend(values: Sequence[float], z: float = 1.96) -> Trend:
    """Theil-Sen slope with the confidence interval of Sen (1968, JASA 63). Takes n * n / 2 slopes: for at most some 60 values."""
    n = len(values)
    if n < 4:
        return _NO_TREND
    slopes = sorted((values[j] - values[i]) / (j - i) for i in range(n) for j in range(i + 1, n))
    ups, downs = sum(slope > 0 for slope in slopes), sum(slope < 0 for slope in slopes)
    reach = z * sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = max(0, round((len(slopes) - reach) / 2) - 1)
    high = min(len(slopes) - 1, round((len(slopes) + reach) / 2))
    return Trend(median(slopes), slopes[low], slopes[high], (ups - downs) / len(slopes))


def change_point(values: Sequence[float], least: int) -> tuple[int, float]:
    """Where the level changed most clearly, and how clearly: (index of the first value after it, standard scores).

    The division with the largest standardised rank sum (Mann-Whitney; Hawkins & Deng 2010, J. Quality Technology 42): single
    slow values weigh no more than a place in the order. At least `least` values on each side, else (0, 0). Positive = up.
    """
    n = len(values)
    ranks = [0.0] * n
    order = sorted(range(n), key=values.__getitem__)
    begin = 0
    while begin < n:  # equal values share their mean rank
        end = begin
        while end + 1 < n and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for place in order[begin : end + 1]:
            ranks[place] = (begin + end) / 2 + 1
        begin = end + 1
    best, score, total = 0, 0.0, sum(ranks[:least])
    for index in range(least, n - least + 1):
        found = (index * (n + 1) / 2 - total) / sqrt(index * (n - index) * (n + 1) / 12)
        if abs(found) > abs(score):
            best, score = index, found
        total += ranks[index] if index < n else 0.0
    return best, score


def resolution(values: Sequence[float]) -> float:
    """The step in which the values are told: 0.01 of 2.31, 2.4 and 0.07. 0 without values other than 0."""
    exponents = [Decimal(repr(value)).normalize().as_tuple().exponent for value in values if value != 0]
    known = [exponent for exponent in exponents if isinstance(exponent, int)]
    return 10.0 ** min(known) if known else 0.0


def would_round_to_zero(values: Sequence[float]) -> bool:
    """Would the next value be told as 0 if it moves like the last five different ones? Then a 0 after them is no proof of 0; nor is it after one
    unit of the last digit."""
    latest: list[float] = []
    for value in reversed(values):
        if value not in latest:
            latest.append(abs(value))
        if len(latest) == _LATEST:
            break
    if not latest or max(latest) == 0:
        return False
    finest = resolution(values)
    is_last_digit = latest[0] <= finest
    return is_last_digit or latest[0] * min(latest) / max(latest) <= 0.5 * (1 + 1e-9) * finest

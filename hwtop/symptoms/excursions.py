"""Excursions: where a series leaves its level upwards, and whether it comes back.

One scan over the whole known past, oldest value first. The level is the median of the values before, or the end of the line that they
fall along, those of earlier excursions left out, so that a fault that lasts or comes again is never taken for what is usual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from statistics import median

from msgspec import Struct

from hwtop.model.evidence import LEVEL_VALUES, REPEATED
from hwtop.symptoms.statistics import resolution, spread

BASE_POINTS = 200
"""Newest values before a point, of which its usual level is made. Engineering default."""
BASE_LEAST = 50
"""With fewer values there is no usual level that others could leave. Engineering default."""
USUAL_SHARE = 0.02
"""Of the values before: excursions that take more of them are the nature of the series. Engineering default."""
_RENEWED = 20
"""After so many values the usual level is calculated again. Engineering default."""
_STILL = 3.0
"""Times the mean distance without another one are chance in 5 of 100 cases, where they come at random. Source: exponential
distribution, exp(-3)."""


class Excursion(Struct, frozen=True):
    """A stretch above the level."""

    begin: int
    """Index of its first value."""
    end: int | None
    """Index of the first value after it; None: it goes on."""
    base: float
    """The level before."""
    slope: float
    """Of the values before, from one to the next; they fall or stay."""
    spread: float
    """Standard deviation of the bulk before, around that line."""
    level: float
    """Median of its values; of one that goes on, of the newest five."""
    peak: float

    length: int
    """Values."""


class Level(Struct, frozen=True):
    """Where the next value is expected."""

    value: float
    slope: float
    spread: float


def excursions(values: Sequence[float], spreads: float, above_share: float) -> list[Excursion]:
    """All of them, oldest first.

    Args:
        spreads: so many standard deviations of the bulk above the level, and
        above_share: by so large a part of it.
    """
    found: list[Excursion] = []
    base: deque[float] = deque(maxlen=BASE_POINTS)
    level = Level(float("inf"), 0.0, 0.0)
    limit = float("inf")
    fresh, begin, back = _RENEWED, -1, 0
    finest = resolution(values[:BASE_POINTS])
    for index, value in enumerate(values):
        if begin < 0 and value > limit:
            begin, back = index, 0
        if begin < 0:
            base.append(value)
            fresh += 1
            if len(base) >= BASE_LEAST and fresh >= _RENEWED:
                fresh, level = 0, _level_of(base, finest)
                limit = level.value + max(spreads * level.spread, above_share * abs(level.value))
            continue
        back = back + 1 if value < (level.value + limit) / 2 else 0
        if back == REPEATED:
            end = index + 1 - REPEATED
            found.append(_excursion(values, begin, end, level))
            base.extend(values[end : index + 1])
            begin = -1
    if begin >= 0:
        found.append(_excursion(values, begin, None, level))
    return found


def _level_of(values: Collection[float], finest: float) -> Level:
    """By the medians of the first and the last third (Tukey's resistant line); until the base is full, by the median of all.

    Args:
        finest: the values are told in steps of this.
    """
    known = list(values)
    third = len(known) // 3
    is_line = len(known) == BASE_POINTS
    slope = min(0.0, (median(known[-third:]) - median(known[:third])) / (len(known) - third)) if is_line else 0.0
    flat = [value - slope * index for index, value in enumerate(known)]
    return Level(median(flat) + slope * (len(known) - 1), slope, max(spread(flat), finest))


def _excursion(values: Sequence[float], begin: int, end: int | None, before: Level) -> Excursion:
    inside = values[begin:end]
    level = median(inside if end is not None else values[-LEVEL_VALUES:])
    return Excursion(begin, end, before.value, before.slope, before.spread, level, max(inside), len(inside))


def is_unusual(values: Sequence[float], found: Excursion) -> bool:
    """Hardly a value before has been halfway up, the first ten left out: games, rewards and clipped norms swing by nature."""
    half = (found.base + found.level) / 2
    before = values[max(10, found.begin - BASE_POINTS) : found.begin][::-1]
    return sum(value > half - found.slope * ago for ago, value in enumerate(before)) <= USUAL_SHARE * len(before)


def comes_back(begins: Sequence[int], count: int, least: int) -> bool:
    """Has it happened so often, at its own pace still: not silent for longer than three of its usual distances?

    Args:
        begins: where each began, in a series of `count` values.
    """
    if len(begins) < least:
        return False
    usual = (begins[-1] - begins[0]) / (len(begins) - 1)
    return count - begins[-1] <= _STILL * usual

"""Excursions: where a series leaves its level upwards, and whether it comes back.

One scan over the whole known past, oldest value first. The level is the median of the values before, those of earlier excursions left
out, so that a fault that lasts or comes again is never taken for what is usual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from hwtop.symptoms.statistics import resolution, spread

BASE_POINTS = 200
"""Values that make the level."""
BASE_LEAST = 50
"""So many at least, before anything can be told to have left it."""
USUAL_SHARE = 0.02
"""Of the values before; more is the nature of the series. Engineering default."""
LEVEL_POINTS = 5
"""The level of now is the median of so many: one bad batch is no jump."""
_RENEWED = 20
"""The level is worked out anew after so many values."""
_STILL = 3.0
"""Times the mean distance without another one are chance in 5 of 100 cases, where they come at random (exp(-3))."""
_RETURN = 3
"""Values in a row on the way back (below the middle between level and peak) that end an excursion: one may be chance."""


class Excursion(Struct, frozen=True):
    """A stretch above the level."""

    begin: int
    """Index of its first value."""
    end: int | None
    """Index of the first value after it; None: it goes on."""
    base: float
    """The level before."""
    spread: float
    """Standard deviation of the bulk before."""
    level: float
    """Median of its values; of one that goes on, of the newest five."""
    peak: float

    length: int
    """Values."""


def excursions(values: Sequence[float], spreads: float, above_share: float) -> list[Excursion]:
    """All of them, oldest first.

    Args:
        spreads: so many standard deviations of the bulk above the level, and
        above_share: by so large a part of it.
    """
    found: list[Excursion] = []
    base: deque[float] = deque(maxlen=BASE_POINTS)
    centre = noise = limit = float("inf")
    fresh, begin, back = _RENEWED, -1, 0
    finest = resolution(values[:BASE_POINTS])
    for index, value in enumerate(values):
        if begin < 0 and value > limit:
            begin, back = index, 0
        if begin < 0:
            base.append(value)
            fresh += 1
            if len(base) >= BASE_LEAST and fresh >= _RENEWED:
                fresh, centre = 0, median(base)
                noise = max(spread(base), finest)
                limit = centre + max(spreads * noise, above_share * abs(centre))
            continue
        back = back + 1 if value < (centre + limit) / 2 else 0
        if back == _RETURN:
            end = index + 1 - _RETURN
            found.append(_excursion(values, begin, end, centre, noise))
            base.extend(values[end : index + 1])
            begin = -1
    if begin >= 0:
        found.append(_excursion(values, begin, None, centre, noise))
    return found


def _excursion(values: Sequence[float], begin: int, end: int | None, base: float, noise: float) -> Excursion:
    inside = values[begin:end]
    level = median(inside if end is not None else values[-LEVEL_POINTS:])
    return Excursion(begin, end, base, noise, level, max(inside), len(inside))


def is_unusual(values: Sequence[float], found: Excursion) -> bool:
    """Hardly a value before has been halfway up, the first ten left out: games, rewards and clipped norms swing by nature."""
    before, half = values[max(10, found.begin - BASE_POINTS) : found.begin], (found.base + found.level) / 2
    return sum(value > half for value in before) <= USUAL_SHARE * len(before)


def comes_back(begins: Sequence[int], count: int, least: int) -> bool:
    """Has it happened so often, at its own pace still: not silent for longer than three of its usual distances?

    Args:
        begins: where each began, in a series of `count` values.
    """
    if len(begins) < least:
        return False
    usual = (begins[-1] - begins[0]) / (len(begins) - 1)
    return count - begins[-1] <= _STILL * usual

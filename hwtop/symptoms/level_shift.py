"""Level shift: from one value on a series stands higher, and does not come back. For any series, upwards."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import median

from msgspec import Struct

from hwtop.symptoms.statistics import change_point, spread

HELD_SHARE = 0.7
"""Of the values after the change that stay on its side. Engineering default."""
_DEPTH = 3
"""A series is divided so often in search of changes (binary segmentation). Engineering defaults."""


class Shift(Struct, frozen=True):
    """The change of a level."""

    at: int
    """Index of the first value after it."""
    before: float
    after: float
    """Medians."""
    score: float
    """Standard scores, by rank sums."""


def shifts(values: Sequence[float], least: int, sure: float, spreads: float) -> list[Shift]:
    """All changes upwards that hold until now, each from what was before to what is after it.

    Args:
        least: so many values at least on either side.
        sure: standard scores; neighbours are not independent, so two or three prove nothing.
        spreads: and by so many standard deviations of the bulk before.
    """
    return [
        shift
        for at, score in _changes(values, 0, least, sure, _DEPTH)
        if score > 0 and (shift := shift_at(values, at, score, spreads)) is not None
    ]


def separated(values: Sequence[float], least: int) -> Shift | None:
    """The change after which every value is above all before it: what a few values can prove. At least `least` on either side."""
    gaps = {at: min(values[at:]) - max(values[:at]) for at in range(least, len(values) - least + 1)}
    at = max(gaps, key=gaps.__getitem__, default=0)
    if not gaps or gaps[at] <= 0:
        return None
    score = sqrt(3 * at * (len(values) - at) / (len(values) + 1))  # of the rank sum, all on one side
    return Shift(at, median(values[:at]), median(values[at:]), score)


def shift_at(
    values: Sequence[float], at: int, score: float, spreads: float, window: slice = slice(None)
) -> Shift | None:
    """The change at this place, if it is a new level.

    Args:
        window: of the values that are compared; those before it only tell whether the level is new.
    """
    begin, end, _ = window.indices(len(values))
    before, after = values[begin:at], values[at:end]
    low, high = median(before), median(after)
    half = (low + high) / 2
    if high - low <= spreads * spread(before) or _was_there(values[:at], len(after), half):
        return None
    if sum(value >= half for value in after) < HELD_SHARE * len(after):
        return None
    return Shift(at, low, high, score)


def _changes(values: Sequence[float], begin: int, least: int, sure: float, depth: int) -> list[tuple[int, float]]:
    """Places and scores: the clearest, then the clearest on either side of it. A small early change may be clearer by rank than the
    large late one."""
    at, score = change_point(values, least)
    if depth == 0 or abs(score) < sure:
        return []
    left = _changes(values[:at], begin, least, sure, depth - 1)
    right = _changes(values[at:], begin + at, least, sure, depth - 1)
    return [*left, (begin + at, score), *right]


def _was_there(before: Sequence[float], length: int, limit: float) -> bool:
    """Has any stretch before, as long as the one after (at most a third of all), been as high? Sorted batches and buckets have."""
    size = max(3, min(length, len(before) // 3))
    starts = range(0, len(before) - size + 1, max(1, size // 4))
    return any(median(before[start : start + size]) >= limit for start in starts)

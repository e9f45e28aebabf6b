"""Axes: round ticks with short labels, and a range that a few odd values cannot stretch."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct

_TAIL = 0.05
"""Share of the values at each end that must not set the range; engineering default."""
_REACH = 1.5
"""How far beyond those tails an end may lie, in widths of the middle, and still be shown (Tukey's fences)."""
_WORTH = 2.0
"""What is left out must make the range this many times longer: else there is room for it; engineering default."""
_FLAT = 0.005
"""A range is at least this share of its own level, so that rounding does not look like a storm; engineering default."""

_UNITS = (("T", 1e12), ("G", 1e9), ("M", 1e6))
_DIGITS = (1, 2, 5, 10)
_FINE_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 20)


class Axis(Struct, frozen=True):
    """From `low` to `high`, with the values that get a label."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end, less or more beyond them. On a log axis the value must be above 0."""
        if self.is_log:
            low = math.log(self.low)
            return (math.log(value) - low) / (math.log(self.high) - low)
        return (value - self.low) / (self.high - self.low)

    def labels(self) -> tuple[str, ...]:
        """What stands at the ticks: as many digits as tell them apart."""
        if self.is_log or len(self.ticks) < 2:
            return tuple(number(tick) for tick in self.ticks)
        step = self.ticks[1] - self.ticks[0]
        return tuple(_label(tick, step) for tick in self.ticks)


def linear(low: float, high: float, most: int) -> Axis:
    """Even steps of 1, 2 or 5 times a power of ten, or finer where there is room for two ticks only; `most` ticks or a few
    less. Its ends are ticks."""
    low, high = _apart(low, high)
    digits = _DIGITS if most > 2 else _FINE_DIGITS
    step = _step((high - low) / max(1, most - 1), digits)
    first, last = _around(low, high, step)
    while last - first + 1 > max(2, most):
        step = _step(step * 1.01, digits)
        first, last = _around(low, high, step)
    ticks = tuple(index * step for index in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def growing(low: float, high: float, most: int) -> Axis:
    """As `linear`, for values that come one after the other: its ends lie nearer, at fifths of a step, so that little room
    is left free and the picture still moves seldom."""
    axis = linear(low, high, most)
    fifth = (axis.ticks[1] - axis.ticks[0]) / 5
    first, last = _around(low, max(high, low + fifth), fifth)
    start, end = first * fifth, last * fifth
    inside = tuple(tick for tick in axis.ticks if start - fifth / 9 <= tick <= end + fifth / 9)
    return Axis(start, end, inside)


def logarithmic(low: float, high: float, most: int) -> Axis:
    """Powers of ten; 1, 2 and 5 of each, or even steps, where the range has few of them. Both ends must be above 0."""
    even = linear(low, high, most)
    if high < 10 * low and even.low > 0:
        return Axis(even.low, even.high, even.ticks, is_log=True)
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    fine = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
    below = [tick for tick in fine if tick <= low * (1 + 1e-9)]
    above = [tick for tick in fine if tick >= high * (1 - 1e-9)]
    start, end = below[-1], above[0]
    if start == end:
        start, end = start / 2, end * 2
    ticks = [tick for tick in fine if start <= tick <= end]
    if len(ticks) > max(2, most):
        every = max(1, math.ceil((last - first + 1) / max(2, most)))
        ticks = sorted({start, end, *(10.0**power for power in range(first + 1, last, every))})
    return Axis(start, end, tuple(ticks), is_log=True)


def robust(ordered: Sequence[float], *, from_zero: bool = False) -> tuple[float, float]:
    """Lowest and highest of finite values in ascending order, and of 0 where the axis starts there; without those that are
    far from all others."""
    cut = int(len(ordered) * _TAIL)
    inner_low, inner_high = ordered[cut], ordered[-1 - cut]
    reach = _REACH * (inner_high - inner_low)
    low = ordered[bisect_left(ordered, inner_low - reach)]
    high = ordered[bisect_right(ordered, inner_high + reach) - 1]
    least, most = (min(0.0, ordered[0]), ordered[-1]) if from_zero else (ordered[0], ordered[-1])
    low = min(0.0, low) if from_zero else low
    return (least, most) if most - least <= _WORTH * (high - low) else (low, high)


def number(value: float) -> str:
    """Four significant digits at most: "2.413", "3e-4", "12,400", "1.25M", "nan"."""
    if not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    size = abs(value)
    if size >= 999_999.5:
        for unit, scale in _UNITS:
            if size >= scale * 0.9999995:
                return f"{value / scale:.4g}{unit}" if size < 1e16 else f"{value:.2e}"
    if size >= 1_000:
        return f"{value:,.0f}"
    if size and size < 0.001:
        return _exponent(value, 2)
    return f"{value:.4g}"


def _label(tick: float, step: float) -> str:
    if abs(tick) < step / 2:
        return "0"
    if abs(tick) < 0.0099995 or step < 0.00009995:
        return _exponent(tick, max(0, math.floor(math.log10(abs(tick)) + 1e-9) - math.floor(math.log10(step) + 1e-9)))
    for unit, scale in _UNITS:
        if max(abs(tick), step) >= scale:
            return f"{tick / scale:.{_decimals(step / scale)}f}{unit}"
    return f"{tick:,.{_decimals(step)}f}"


def _decimals(step: float) -> int:
    """How many it takes to tell multiples of `step` apart."""
    return next((places for places in range(9) if abs(step * 10**places - round(step * 10**places)) < 1e-6), 9)


def _exponent(value: float, digits: int) -> str:
    """ "3e-4", "1.5e-4": no zeros that say nothing."""
    mantissa, _, power = f"{value:.{min(6, digits)}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(power)}"


def _apart(low: float, high: float) -> tuple[float, float]:
    """At least a little apart, around the same middle."""
    least = max(abs(low), abs(high)) * _FLAT or 1.0
    missing = max(0.0, least - (high - low)) / 2
    is_from_zero = low == 0 <= high
    return (low, high + 2 * missing) if is_from_zero else (low - missing, high + missing)


def _around(low: float, high: float, step: float) -> tuple[int, int]:
    """The first and last multiple of `step` that hold both between them."""
    return math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)


def _step(wanted: float, digits: Sequence[float]) -> float:
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(digit * power for digit in digits if digit * power >= wanted * (1 - 1e-9))

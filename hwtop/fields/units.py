"""Numbers as people read them: few digits, steady widths, a unit on each; unknown is a dash."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isfinite

from hwtop.seconds import span

UNKNOWN = "–"
Formatter = Callable[[float | None], str]


def _of_known(written: Callable[[float], str]) -> Formatter:
    """What is not there is a dash, and so is what is no number."""

    @wraps(written)
    def formatter(value: float | None) -> str:
        return UNKNOWN if value is None or not isfinite(value) else written(value)

    return formatter


@_of_known
def pct(value: float) -> str:
    """Percent without decimals: "7%"."""
    return f"{value:.0f}%"


@_of_known
def size(value_bytes: float) -> str:
    """Bytes in powers of 1024, three digits at most: "71.2G", "812M"."""
    return _scaled(value_bytes)


@_of_known
def rate(value_bytes_per_s: float) -> str:
    """Bytes a second: "1.2G/s"."""
    return _scaled(value_bytes_per_s) + "/s"


@_of_known
def number(value: float) -> str:
    """A number that names something, without separators: "142317"."""
    return f"{value:.0f}"


@_of_known
def fine_pct(value: float) -> str:
    """Percent with one decimal, where a tenth matters: "0.7%"."""
    return f"{value:.1f}%"


@_of_known
def ms(value: float) -> str:
    """Milliseconds: "12.4ms"."""
    return f"{value:.1f}ms"


@_of_known
def signed_duration(value_s: float) -> str:
    """A difference of clocks: "+0.4ms", "-12.0ms", "+3.2s"."""
    return f"{value_s:+,.1f}s" if abs(value_s) >= 1 else f"{value_s * 1000:+.1f}ms"


@_of_known
def watts(value: float) -> str:
    """ "412W"."""
    return f"{value:.0f}W"


@_of_known
def celsius(value: float) -> str:
    """ "67°C"."""
    return f"{value:.0f}°C"


@_of_known
def mhz(value: float) -> str:
    """ "1980MHz"."""
    return f"{value:.0f}MHz"


@_of_known
def ghz(value_mhz: float) -> str:
    """ "3.20 GHz"."""
    return f"{value_mhz / 1000:.2f} GHz"


@_of_known
def link_speed(mbit_per_s: float) -> str:
    """Megabits a second, as links are sold: "100G", "100M"."""
    return f"{round(mbit_per_s / 1000, 3):.12g}G" if mbit_per_s >= 1000 else f"{round(mbit_per_s, 3):.12g}M"


@_of_known
def per_s(value: float) -> str:
    """Events a second; few are not none: "0", "<1", "31"."""
    return "<1" if 0 < value < 0.5 else f"{value:,.0f}"


@_of_known
def times_per_s(value: float) -> str:
    """Events a second, with the unit: "12,400/s"."""
    return f"{value:,.0f}/s"


@_of_known
def count(value: float) -> str:
    """A whole number with separators: "12,400"."""
    return f"{value:,.0f}"


@_of_known
def duration(value_s: float) -> str:
    """ "4.2 s", "76 s", "2 min 14 s", "3 h 02 min", "5 d 01 h"."""
    return span(value_s)


@_of_known
def short_duration(value_s: float) -> str:
    """One unit, for narrow columns: "4s", "14m", "3h"."""
    value_s = max(0.0, value_s)
    if value_s < 119.5:
        return f"{value_s:.0f}s"
    for limit, unit, name in ((6000, 60, "m"), (86400 * 2, 3600, "h")):
        if value_s < limit:
            return f"{int(value_s / unit)}{name}"  # an age of 2 min 32 s is not yet 3 min
    return f"{int(value_s / 86400)}d"


@_of_known
def step_time(value_s: float) -> str:
    """Seconds a step with three significant digits: "0.312", "12.4"."""
    if value_s < 10:
        return f"{value_s:.3f}"
    return f"{value_s:.1f}" if value_s < 100 else f"{value_s:.0f}"


def _scaled(value: float) -> str:
    for unit in ("B", "K", "M", "G", "T", "P"):
        if abs(value) < 999.5 or unit == "P":
            return f"{value:.0f}{unit}" if unit == "B" or abs(value) >= 99.95 else f"{value:.1f}{unit}"
        value /= 1024
    raise AssertionError("the loop returns at P")

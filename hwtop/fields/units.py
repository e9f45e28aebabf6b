"""Numbers as people read them: few digits, steady widths, a unit on each; unknown is a dash."""

from __future__ import annotations

from datetime import datetime, timezone

UNKNOWN = "–"


def pct(value: float | None) -> str:
    """Percent without decimals: "7%"."""
    return UNKNOWN if value is None else f"{value:.0f}%"


def size(value_bytes: float | None) -> str:
    """Bytes in powers of 1024, three digits at most: "71.2G", "812M"."""
    return UNKNOWN if value_bytes is None else _scaled(value_bytes, 1024.0)


def rate(value_bytes_per_s: float | None) -> str:
    """Bytes a second: "1.2G/s"."""
    return UNKNOWN if value_bytes_per_s is None else _scaled(value_bytes_per_s, 1024.0) + "/s"


def number(value: float | None) -> str:
    """A number that names something, without separators: "142317"."""
    return UNKNOWN if value is None else f"{value:.0f}"


def fine_pct(value: float | None) -> str:
    """Percent with one decimal, where a tenth matters: "0.7%"."""
    return UNKNOWN if value is None else f"{value:.1f}%"


def ms(value: float | None) -> str:
    """Milliseconds: "12.4ms"."""
    return UNKNOWN if value is None else f"{value:.1f}ms"


def signed_duration(value_s: float | None) -> str:
    """A difference of clocks: "+0.4ms", "-12.0ms", "+3.2s"."""
    if value_s is None:
        return UNKNOWN
    return f"{value_s:+,.1f}s" if abs(value_s) >= 1 else f"{value_s * 1000:+.1f}ms"


def watts(value: float | None) -> str:
    """ "412W"."""
    return UNKNOWN if value is None else f"{value:.0f}W"


def celsius(value: float | None) -> str:
    """ "67°C"."""
    return UNKNOWN if value is None else f"{value:.0f}°C"


def mhz(value: float | None) -> str:
    """ "1980MHz"."""
    return UNKNOWN if value is None else f"{value:.0f}MHz"


def ghz(value_mhz: float | None) -> str:
    """ "3.20 GHz"."""
    return UNKNOWN if value_mhz is None else f"{value_mhz / 1000:.2f} GHz"


def link_speed(mbit_per_s: float | None) -> str:
    """Megabits a second, as links are sold: "100G", "100M"."""
    if mbit_per_s is None:
        return UNKNOWN
    return f"{mbit_per_s / 1000:g}G" if mbit_per_s >= 1000 else f"{mbit_per_s:g}M"


def per_s(value: float | None) -> str:
    """Events a second; few are not none: "0", "<1", "31"."""
    if value is None:
        return UNKNOWN
    return "<1" if 0 < value < 0.5 else f"{value:,.0f}"


def times_per_s(value: float | None) -> str:
    """Events a second, with the unit: "12,400/s"."""
    return UNKNOWN if value is None else f"{value:,.0f}/s"


def count(value: float | None) -> str:
    """A whole number with separators: "12,400"."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def duration(value_s: float | None) -> str:
    """The two largest units: "4 s", "2 m 14 s", "3 h 02 m", "5 d 01 h"."""
    if value_s is None:
        return UNKNOWN
    if value_s < 9.95:
        return f"{value_s:.1f} s" if value_s % 1 >= 0.05 else f"{value_s:.0f} s"
    whole = round(value_s)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
    return f"{whole // 86400} d {whole % 86400 // 3600:02d} h"


def short_duration(value_s: float | None) -> str:
    """One unit, for narrow columns: "4s", "14m", "3h"."""
    if value_s is None:
        return UNKNOWN
    for limit, unit, name in ((99.5, 1, "s"), (5970, 60, "m"), (86400 * 2, 3600, "h")):
        if value_s < limit:
            return f"{value_s / unit:.0f}{name}"
    return f"{value_s / 86400:.0f}d"


def clock(time_s: float) -> str:
    """The local time of day of a Unix time: "14:02:10"."""
    return datetime.fromtimestamp(time_s, tz=timezone.utc).astimezone().strftime("%H:%M:%S")


def step_time(value_s: float | None) -> str:
    """Seconds a step with three significant digits: "0.312", "12.4"."""
    if value_s is None:
        return UNKNOWN
    if value_s < 10:
        return f"{value_s:.3f}"
    return f"{value_s:.1f}" if value_s < 100 else f"{value_s:.0f}"


def _scaled(value: float, base: float) -> str:
    for unit in ("B", "K", "M", "G", "T", "P"):
        if abs(value) < 999.5 or unit == "P":
            return f"{value:.0f}{unit}" if unit == "B" or abs(value) >= 99.95 else f"{value:.1f}{unit}"
        value /= base
    raise AssertionError("the loop returns at P")

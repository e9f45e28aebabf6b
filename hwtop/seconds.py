"""Durations and times as users write them, and as hwtop does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from hwtop.lazy_regex import lazy_regex

_FORM = lazy_regex(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|min|h)?", re.ASCII)
_CLOCK = lazy_regex(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_NUMBER = r"(\d{1,5})"  # more days than that are a year that no clock can show
_AGO = lazy_regex(
    rf"-?\s*(?:{_NUMBER}\s*d)?\s*(?:{_NUMBER}\s*h)?\s*(?:{_NUMBER}\s*m(?:in)?)?\s*(?:{_NUMBER}\s*s)?(?:\s*ago)?",
    re.ASCII,
)
_DECIMAL_S, _SECONDS_S = 9.95, 120
"""Durations below have a decimal; are told in seconds."""
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


def seconds(text: str) -> float | None:
    """20, 20s, 500ms, 2m or 1h in seconds; None for anything else."""
    match = _FORM.fullmatch(text.strip())
    return float(match[1]) * _UNIT_S[match[2]] if match else None


def span(value_s: float) -> str:
    """A duration in every text and on every page: "4.2 s", "76 s", "2 min 14 s", "3 h 02 min", "5 d". Clocks that differ make no time
    negative."""
    value_s = max(0.0, value_s)
    if value_s < _DECIMAL_S:
        return f"{value_s:.1f} s" if value_s % 1 >= 0.05 else f"{value_s:.0f} s"
    whole = round(value_s)
    if whole < _SECONDS_S:
        return f"{whole} s"
    if whole < 3600:
        return _two(whole, 60, "min", "s")
    return _two(whole // 60, 60, "h", "min") if whole < 86400 else _two(whole // 3600, 24, "d", "h")


def _two(count: int, per: int, large: str, small: str) -> str:
    rest = f" {count % per:02d} {small}" if count % per else ""
    return f"{count // per} {large}{rest}"


def clock(time_s: float) -> str:
    """The local time of day of a Unix time: "14:02:10"."""
    return _local(time_s).strftime("%H:%M:%S")


def moment(time_s: float) -> str:
    """The local date and time of day of a Unix time: "2026-01-31 14:02:10"."""
    return _local(time_s).strftime("%Y-%m-%d %H:%M:%S")


def minute(time_s: float) -> str:
    """The same without seconds: "2026-01-31 14:02"."""
    return _local(time_s).strftime("%Y-%m-%d %H:%M")


def _local(time_s: float) -> datetime:
    return datetime.fromtimestamp(time_s, tz=timezone.utc).astimezone()


def meant_s(text: str, now_s: float) -> float | None:
    """The time that is meant by "14:02", "14:02:10", "-3m", "1h30m ago" or "now"; None where it is none. A time of day that
    is still to come is yesterday's."""
    text = text.strip().casefold()
    if text == "now":
        return now_s
    if found := _CLOCK.fullmatch(text):
        hour, minute, second = (int(part or 0) for part in found.groups())
        now = _local(now_s)
        at = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
        return (at if at <= now else at - timedelta(days=1)).timestamp()
    found = _AGO.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return now_s - (days * 86400 + hours * 3600 + minutes * 60 + seconds)

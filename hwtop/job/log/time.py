"""Log time: when a line says it was written. Pure.

Only for lines of one job beside each other: local times without a zone, and formats without a year, are taken as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hwtop.lazy_regex import lazy_regex

_MONTH_DAYS = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)
"""Days before each month of a leap year: the order of days is right in every year."""
_SEARCHED = 120
"""Characters from the start: a prefix of rank and source may stand first (engineering default)."""
_CLOCK = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?P<fraction>[.,]\d{1,9})?"
_TIMES = (
    lazy_regex(
        rf"(?<!\d)\d{{4}}[-/](?P<month>0[1-9]|1[0-2])[-/](?P<day>[0-2]\d|3[01])[T ]{_CLOCK}"
    ),  # ISO 8601, logging
    lazy_regex(rf"(?<![A-Za-z])[IWEFDV](?P<month>0[1-9]|1[0-2])(?P<day>[0-2]\d|3[01]) {_CLOCK}"),  # glog, torch's C++
    lazy_regex(rf"\[(?P<month>0[1-9]|1[0-2])/(?P<day>[0-2]\d|3[01])(?:/\d\d)?,? {_CLOCK}\]"),  # detectron2, rich
    lazy_regex(rf"(?<!\d)(?P<month>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01]) {_CLOCK}"),  # loguru's short form
)


@lru_cache(maxsize=4_096)
def reported_s(text: str) -> float | None:
    """Seconds since the start of the (leap) year that the line names; None where it names no time."""
    head = text[:_SEARCHED]
    if ":" not in head:
        return None
    found = min((match for time in _TIMES if (match := time.search(head))), key=re.Match.start, default=None)
    if found is None:
        return None
    days = _MONTH_DAYS[int(found["month"]) - 1] + int(found["day"]) - 1
    clock = int(found["hour"]) * 3600 + int(found["minute"]) * 60 + int(found["second"])
    return days * 86_400.0 + clock + float("0." + (found["fraction"] or ".0")[1:])

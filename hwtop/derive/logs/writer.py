"""Whose lines: which of those that stood in a file before hwtop came were written by the watched job. Pure.

A file may have served earlier jobs: opened to append, or passed on by a script that starts one job after the other. A line is
the job's where the file holds nothing older than the job, or where a time says so: that of the line, or of one before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import groupby
from operator import attrgetter

from msgspec import Struct

from hwtop.job.log.parsed import ParsedLine
from hwtop.job.log.time import reported_s
from hwtop.model.reported.log import LogFile, LogReading

_SLACK_S = 2.0
"""The kernel keeps the start of a process to 10 ms and the boot to a second, and loggers write whole seconds. Engineering
default."""
_HEAD = re.compile(r"[^a-z]{0,64}")
"""What a logger writes first; a time behind a word ("resumed from the checkpoint of ...") is not that of the line."""
_YEAR_S = 366 * 86_400.0
"""The longest year, for times without one. Source: Gregorian calendar."""


class Lines(Struct, frozen=True):
    """The lines of one reading."""

    of_job: tuple[ParsedLine, ...]
    unknown: tuple[ParsedLine, ...] = ()
    """Perhaps the job's, perhaps those of an earlier one. In each file they stand before those of the job."""


def of_job(reading: LogReading, every: Sequence[ParsedLine], job_age_s: float | None) -> Lines:
    """The lines of a reading (`every`) without those of earlier jobs. `job_age_s`: since the job began; None: nobody knows."""
    if job_age_s is None or not any(line.is_past for line in reading.lines):
        return Lines(tuple(every))
    files = {file.path: file for file in reading.files}
    own: list[ParsedLine] = []
    unknown: list[ParsedLine] = []
    for path, group in groupby(every, key=attrgetter("path")):
        lines = list(group)
        past = [line for line in lines if line.source.is_past]
        first, proven = _bounds(past, files.get(path), job_age_s, reading)
        unknown += past[first:proven]
        own += [*past[proven:], *(line for line in lines if not line.source.is_past)]
    return Lines(tuple(own), tuple(unknown))


def _bounds(past: Sequence[ParsedLine], file: LogFile | None, job_age_s: float, reading: LogReading) -> tuple[int, int]:
    """(the first line that is not surely another job's, the first that surely is this one's)."""
    if file is not None and file.age_s is not None and file.age_s > job_age_s + _SLACK_S:
        return len(past), len(past)
    content_age_s = file.content_age_s if file is not None else None
    if content_age_s is not None and content_age_s <= job_age_s + _SLACK_S:
        return 0, 0  # whatever times its lines name
    ages = [_age_s(line, reading) for line in past]
    earlier = (number for number, age in enumerate(ages) if age is not None and age[0] > job_age_s + _SLACK_S)
    first = max(earlier, default=-1) + 1
    if content_age_s is None:
        return first, first
    later = (number for number, age in enumerate(ages) if number >= first and age is not None and age[1] <= job_age_s)
    return first, min(later, default=len(past))


def _age_s(line: ParsedLine, reading: LogReading) -> tuple[float, float] | None:
    """(least, most) seconds since the time that the line begins with, which is local or, as in containers, universal."""
    head = _HEAD.match(line.said)
    named_s = None if head is None or reading.time_s is None else reported_s(head[0])
    if named_s is None or reading.time_s is None:
        return None
    ages = [
        (_in_year_s(reading.time_s + offset_s) - named_s + _YEAR_S / 2) % _YEAR_S - _YEAR_S / 2
        for offset_s in (0.0, reading.utc_offset_s)
    ]
    return min(ages), max(ages)


def _in_year_s(time_s: float) -> float:
    """As `reported_s` counts: from the start of a leap year."""
    now = datetime.fromtimestamp(time_s, timezone.utc)
    start = now.replace(year=2000, month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
    return (now.replace(year=2000) - start).total_seconds()

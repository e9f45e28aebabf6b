"""Log lines matched at once."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.job.patterns.match import Matcher
from hwtop.model.reported.log import LogEvent, LogLine


def match(lines: Iterable[LogLine]) -> list[LogEvent]:
    """All events of lines that are complete in themselves, with the patterns that come with hwtop."""
    return Matcher(repeat_limit=None).match(lines)

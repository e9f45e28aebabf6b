"""Surroundings: the lines around flagged ones, kept after thousands of newer lines have come."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from hwtop.model.reported.log import LogEvent, LogLine

SHOWN_AROUND = 8
"""Lines before and after a flagged one."""
_KEPT = 600
_KEPT_TIMES = 4
"""Of one pattern in one file only the first so many: a warning that comes again and again stands among the same lines."""


class Surroundings:
    """Takes the lines of each reading with what was found in them."""

    def __init__(self) -> None:
        self._before: dict[str, deque[LogLine]] = {}
        self._left: dict[str, int] = {}
        """Path -> how many more lines belong to the last flagged one."""
        self._times: Counter[tuple[str, str]] = Counter()
        self._kept: deque[LogLine] = deque(maxlen=_KEPT)

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """Those around flagged lines, those included, oldest first."""
        return tuple(self._kept)

    def advance(self, lines: Sequence[LogLine], events: Sequence[LogEvent]) -> None:
        """Take in one reading: its lines, file by file, and the events in them."""
        flagged: dict[str, set[tuple[int | None, str]]] = {}
        for event in events:
            self._times[event.path, event.pattern] += 1
            if event.severity != "info" and self._times[event.path, event.pattern] <= _KEPT_TIMES:
                flagged.setdefault(event.path, set()).add((event.line_no, event.text))
        for path, own in groupby(lines, key=attrgetter("path")):
            self._take(path, list(own), flagged.get(path, set()))

    def _take(self, path: str, lines: list[LogLine], flagged: set[tuple[int | None, str]]) -> None:
        before = self._before.setdefault(path, deque(maxlen=SHOWN_AROUND))
        left = self._left.get(path, 0)
        if not flagged and not left:
            before.extend(lines[-SHOWN_AROUND:])
            return
        for line in lines:
            if (line.line_no, line.text) in flagged:
                self._kept.extend((*before, line))
                before.clear()  # what is kept once is not kept twice
                left = SHOWN_AROUND
            elif left:
                self._kept.append(line)
                left -= 1
            else:
                before.append(line)
        self._left[path] = left

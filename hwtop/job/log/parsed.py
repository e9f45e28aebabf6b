"""Parsed line: a log line with its prefix taken apart, once, where it enters; patterns and progress get it handed on. Pure.

A prefix is what a launcher and a logging library put before what the program said: rank, time, level, place in the source.
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from hwtop.job.log.level import level_of
from hwtop.job.log.text import clean, labelled_rank, without_launcher, without_logger
from hwtop.job.log.time import reported_s
from hwtop.model.reported.log import LogLevel, LogLine


class ParsedLine(Struct, frozen=True, dict=True):
    """A line and what its prefix tells. Each part is taken off once, when it is first asked for: most lines of a scan never are."""

    source: LogLine
    text: str
    """As a terminal would show it."""

    @cached_property
    def _launched(self) -> tuple[int | None, str]:
        return without_launcher(self.text)

    @property
    def rank(self) -> int | None:
        """As the line tells it; None where nothing in it does."""
        return self._launched[0]

    @cached_property
    def label(self) -> int | None:
        """The rank that the program may have written into the line itself."""
        return labelled_rank(self.body)

    @property
    def said(self) -> str:
        """`text` without the launcher's prefix."""
        return self._launched[1]

    @property
    def path(self) -> str:
        """Of the file that it stands in."""
        return self.source.path

    @cached_property
    def body(self) -> str:
        """What the program said: without the date, level and source of its logger, too."""
        return without_logger(self.said)

    @cached_property
    def level(self) -> LogLevel | None:
        """The severity by the grammar of the logger; None where the line names none."""
        return level_of(self.said)

    @property
    def time_s(self) -> float | None:
        """Seconds since the start of the (leap) year that the line names; None where it names no time."""
        return reported_s(self.source.text)


def parsed(source: LogLine) -> ParsedLine:
    """The line, ready to have its prefix taken apart."""
    return ParsedLine(source, clean(source.text))


def parsed_text(text: str) -> ParsedLine:
    """The same of a text of no file."""
    return parsed(LogLine(path="", line_no=None, text=text, at_s=0.0))

"""Assembly: what joins several lines to one event (a traceback and its exception, a launcher's table of failures).

The matcher offers a line to every assembler when a pattern or one of the assembler's own literals was met in it, and, while
the assembler is open, every line: so a healthy log costs it nothing.
"""

from __future__ import annotations

from typing import Protocol

from hwtop.job.log.parsed import ParsedLine
from hwtop.model.reported.log import LogEvent


class Assembler(Protocol):
    """Follows the lines of any number of files; lines of several files and ranks may be mixed."""

    literals: tuple[str, ...]
    """Lower case; a line with one of them is offered although nothing is open."""

    @property
    def is_open(self) -> bool:
        """Something has begun that is not complete: the next lines are wanted, whatever they hold.

        Must end by itself after some thousand lines: until then every line is looked at one by one.
        """

    def add(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        """Take the next line, and what is found in it so far; return what is to be told of it instead."""

"""Traceback: a Python traceback and its exception line become one `rank-crash` event."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hwtop.job.log_text import split_rank
from hwtop.model.log import LogEvent, LogLine, Role

_HEADER = "Traceback (most recent call last)"
_LONGEST = 2000
"""Lines after which a traceback without an exception line is given up."""
_EXCEPTION = re.compile(r"(?P<exception>[A-Za-z_][\w.]*)(?::\s(?P<message>.*)|:?$)")
_FRAME = re.compile(r'\s+File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_STOPPED = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit", "SignalException", "ChildFailedError"})
"""Someone ended the program, or a launcher reports what its children did."""
_FOLLOWS = frozenset(
    {
        "BrokenPipeError",
        "ConnectionError",
        "ConnectionResetError",
        "EOFError",
        "ConnectionRefusedError",
        "ConnectionAbortedError",
    }
)
"""What a process sees when the one at the other end has died."""


@dataclass
class _Open:
    """A traceback whose exception line has not come yet."""

    prefix: str
    lines: int = 0
    at: str = ""


class Tracebacks:
    """Follows the tracebacks of each file, also of ranks that write over each other with prefixes of their own."""

    literals: tuple[str, ...] = (_HEADER.lower(),)

    def __init__(self) -> None:
        self._open: dict[str, list[_Open]] = {}

    @property
    def is_open(self) -> bool:
        """An exception line is still to come."""
        return bool(self._open)

    def add(self, line: LogLine, found: list[LogEvent]) -> list[LogEvent]:
        """What is found in the line, and the exception that ends a traceback there unless a pattern explains it already."""
        event = self._line(line)
        if event is None or any(one.severity != "info" and one.pattern != "rank-crash" for one in found):
            return found
        return [*found, event]

    def _line(self, line: LogLine) -> LogEvent | None:
        at = line.text.find(_HEADER)
        if at >= 0:
            self._begin(line.path, line.text[:at])
            return None
        opened = self._open.get(line.path)
        if opened is None:
            return None
        fitting = [one for one in opened if line.text.startswith(one.prefix)]
        if not fitting:
            return None
        current = max(fitting, key=lambda one: len(one.prefix))
        rest = line.text[len(current.prefix) :]
        current.lines += 1
        if (not rest.strip() or rest[0].isspace()) and current.lines < _LONGEST:
            if frame := _FRAME.match(rest):
                current.at = f"{frame.group('file')}:{frame.group('line')} in {frame.group('function')}"
            return None
        self._end(line.path, current)
        return _event(line, current, rest)

    def _begin(self, path: str, prefix: str) -> None:
        opened = [one for one in self._open.get(path, ()) if one.prefix != prefix]
        self._open[path] = [*opened[-63:], _Open(prefix)]

    def _end(self, path: str, current: _Open) -> None:
        self._open[path].remove(current)
        if not self._open[path]:
            del self._open[path]


def _event(line: LogLine, opened: _Open, rest: str) -> LogEvent | None:
    found = _EXCEPTION.match(rest)
    if found is None:
        return None
    name = found.group("exception").rsplit(".", 1)[-1]
    if name in _STOPPED:
        return None
    role: Role = "cascade" if name in _FOLLOWS else "root"
    groups = {"exception": found.group("exception"), "message": found.group("message") or "", "at": opened.at}
    return LogEvent(
        pattern="rank-crash",
        severity="critical",
        role=role,
        path=line.path,
        line_no=line.line_no,
        text=line.text,
        at_s=line.at_s,
        is_past=line.is_past,
        explanation="A Python exception was not caught" + (f" at {opened.at}." if opened.at else "."),
        rank=split_rank(line.text)[0],
        groups={key: value for key, value in groups.items() if value},
    )

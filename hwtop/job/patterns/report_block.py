"""Report block: events whose meaning stands in the lines before and after them.

The events themselves come from the patterns; here each gets what its block says besides: torchelastic's table of failures
(rank, host, error file), the kernel's report on memory (limit, cgroup), a C++ exception and its `what()`, and the Python
frame in which native code crashed (faulthandler).
"""

from __future__ import annotations

import re
from collections import defaultdict

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.kernel.oom_report import LITERALS, OomReports
from hwtop.job.log.parsed import ParsedLine
from hwtop.job.whole_number import whole_number
from hwtop.model.reported.log import LogEvent


class FailureTable:
    """torchelastic's table: rank and host of an entry stand before its exit code and belong to it.

    Format: `_FAILURE_FORMAT_TEMPLATE` in torch/distributed/elastic/multiprocessing/errors/__init__.py.
    """

    literals: tuple[str, ...] = (
        "  host      : ",
        "  rank      : ",
        "root cause (first observed failure)",
        "error_file: ",
    )
    _ROW = re.compile(
        r"\s{2}(?P<name>host|rank|error_file)\s*: (?P<value>\S+)(?: \(local_rank: (?P<local_rank>\d+)\))?"
    )

    def __init__(self) -> None:
        self._entry: dict[str, dict[str, str]] = {}

    @property
    def is_open(self) -> bool:
        """Every row is met by its own literal."""
        return False

    def add(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        """The events of the entry's rows, with its rank, host and whether it was the first to fail."""
        if "Root Cause (first observed failure)" in line.text:
            self._entry[line.path] = {"first": "yes"}
        row = self._ROW.search(line.text)
        if row is not None:
            self._note(line.path, row)
        entry = self._entry.get(line.path)
        if entry is None or "rank" not in entry:
            return found
        return [self._reported(event, entry) if _is_of_table(event) else event for event in found]

    def _note(self, path: str, row: re.Match[str]) -> None:
        entry = self._entry.setdefault(path, {})
        if row["name"] == "host":  # the first row with a value: another entry begins
            entry = self._entry[path] = {"first": "yes"} if set(entry) == {"first"} else {}
        entry[row["name"]] = row["value"]
        if row["local_rank"]:
            entry["local_rank"] = row["local_rank"]

    def _reported(self, event: LogEvent, entry: dict[str, str]) -> LogEvent:
        known = {name: value for name, value in entry.items() if name != "rank" and value != "<N/A>"}
        rank = whole_number(entry["rank"])
        return replace(event, rank=rank if event.rank is None else event.rank, groups={**known, **event.groups})


def _is_of_table(event: LogEvent) -> bool:
    return bool(event.groups.get("exit")) or "traceback : " in event.text


class KernelOom:
    """The kernel's report on memory: the line that names the victim gets the limit and whose it was."""

    literals: tuple[str, ...] = LITERALS

    def __init__(self) -> None:
        self._reports: defaultdict[str, OomReports] = defaultdict(OomReports)

    @property
    def is_open(self) -> bool:
        """Every line that is wanted is met by a literal."""
        return False

    def add(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        """The events of the line; the victim's with the rest of the report."""
        kill = self._reports[line.path].add(line.text, line.source.at_s)
        if kill is None:
            return found
        return [
            replace(event, groups={**event.groups, **kill.groups()}) if event.pattern == "host-oom-kill" else event
            for event in found
        ]


class _Abort(Struct):
    """A native end whose details are still to come."""

    exception: str = ""
    event: LogEvent | None = None
    lines: int = 0
    is_current: bool = False
    """The frames that follow are those of the thread that crashed."""


class NativeEnd:
    """The end of a process in native code: `terminate called ...` with its `what()`, `Fatal Python error` with its frame.

    Formats: libstdc++ `vterminate.cc`, CPython `Python/traceback.c` (`_Py_DumpTraceback`).
    """

    literals: tuple[str, ...] = ()
    _FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
    _LONGEST = 200
    """Lines after which the frame of the thread that crashed is not waited for any more: others may be printed before it."""

    def __init__(self) -> None:
        self._aborts: dict[str, _Abort] = {}

    @property
    def is_open(self) -> bool:
        """A `what()` or a frame may follow."""
        return bool(self._aborts)

    def add(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        """The events of the line; a `what()` with its exception, and the place of a crash when its frame has come."""
        native = next((event for event in found if _is_native(event)), None)
        if native is not None:
            self._aborts[line.path] = _Abort(exception=native.groups.get("exception", ""), event=native)
        elif (abort := self._aborts.get(line.path)) is not None:
            return self._continued(line, found, abort)
        return _without_echo(found)

    def _continued(self, line: ParsedLine, found: list[LogEvent], abort: _Abort) -> list[LogEvent]:
        abort.lines += 1
        message = next((event for event in found if "message" in event.groups and "what():" in event.text), None)
        if message is not None:
            del self._aborts[line.path]
            groups = {"exception": abort.exception, **message.groups} if abort.exception else message.groups
            joined = replace(message, groups=groups, lines=1 + abort.lines)
            return _without_echo([joined if event is message else event for event in found])
        abort.is_current = abort.is_current or "Current thread 0x" in line.text
        frame = self._FRAME.search(line.text) if abort.is_current else None
        if frame is not None and abort.event is not None:
            del self._aborts[line.path]
            return [*found, _crashed_at(line, abort, f"{frame['file']}:{frame['line']} in {frame['function']}")]
        if abort.lines >= (self._LONGEST if abort.exception == "" else 10):
            del self._aborts[line.path]
        return found


def _is_native(event: LogEvent) -> bool:
    return "Fatal Python error" in event.text or (
        event.pattern == "rank-crash" and event.text.lstrip().startswith("terminate called")
    )


def _without_echo(found: list[LogEvent]) -> list[LogEvent]:
    """Without the bare `what()` where a pattern says more of the same line."""
    is_explained = any(event.severity != "info" and event.pattern != "rank-crash" for event in found)
    if not is_explained:
        return found
    return [event for event in found if not (event.pattern == "rank-crash" and "what():" in event.text)]


def _crashed_at(line: ParsedLine, abort: _Abort, place: str) -> LogEvent:
    assert abort.event is not None
    return replace(
        abort.event,
        severity="info",
        role="context",
        line_no=line.source.line_no,
        text=line.source.text,
        at_s=line.source.at_s,
        is_past=line.source.is_past,
        explanation=f"Crash in native code, called from {place}.",
        groups={"at": place},
        lines=1 + abort.lines,
    )

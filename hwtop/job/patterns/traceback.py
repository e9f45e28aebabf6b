"""Traceback: a Python traceback and its exception line become one event.

What is followed: CPython's own form (`Lib/traceback.py`), with any prefix that a launcher or logger puts before each line,
ranks mixed line by line, chained exceptions and exception groups; rich's boxes; IPython's form; a traceback whose header was
not seen; Ray's `RayTaskError(ValueError)`.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.log.parsed import ParsedLine
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import LogEvent, Role

_HEADER = "Traceback (most recent call last)"
_LONGEST = 2000
"""Lines after which a traceback without an exception line is given up."""
_PATIENCE = 400
"""Lines of others in the same file after which it is given up: 64 ranks take turns within that."""
_WIDEST_PREFIX = 160
_EXCEPTION = lazy_regex(r"(?P<exception>[A-Za-z_][\w.]*)(?:\((?P<inner>[\w.]+)\))?(?::\s(?P<message>.*)|:?$)")
_NAME_OF_EXCEPTION = lazy_regex(r"(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Full|Empty|Group)$")
_BARE = lazy_regex(r"(?:[A-Za-z_]\w*\.)*(?:(?!Lustre|LNet)[A-Z]\w*(?:Error|Exception)(?:\(\w+\))?|Exception): \S")
"""An exception line before which nothing was seen. Lustre begins its lines alike."""
_FRAME = lazy_regex(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_FRAME_ALONE = lazy_regex(r'(?P<prefix>.*?)  File "[^"]+", line \d+, in \S')
_FRAME_IN_BOX = lazy_regex(r"│\s+(?P<file>\S+):(?P<line>\d+) in (?P<function>\S+)")
_IPYTHON = lazy_regex(r"(?P<exception>[A-Za-z_][\w.]*)\s{2,}$")
_IN_TABLE = lazy_regex(r"(?P<indent>.*?)traceback\s*: $")
"""torchelastic's table of failures quotes the traceback of a rank."""
_CHAIN = "the above exception"
_IGNORED = ("exception ignored in", "--- logging error ---")
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
_CHECKPOINT = lazy_regex(
    r"torch[/\\](?:serialization\.py|distributed[/\\]checkpoint[/\\])|safetensors[/\\]torch\.py"
    r"|\b(?:load_state_dict|\w*(?:load|save|restore|resume)_(?:\w+_)?checkpoint|load_from_checkpoint|load_accelerator_state)\b"
)
"""A frame in which a checkpoint is read or written: whatever fails below it concerns the checkpoint. Names of torch,
Lightning, accelerate, DeepSpeed, Megatron-LM, transformers and MMEngine; not of activation checkpointing."""
_TOLD_BY_OTHERS = frozenset({"RayTaskError", "ExceptionGroup", "BaseExceptionGroup", "ProcessRaisedException"})
"""They wrap the exception that was raised elsewhere, and which is printed as well."""


class _Open(Struct):
    """A traceback whose exception line has not come yet."""

    prefix: re.Pattern[str]
    rank: int | None = None
    """Of the prefix: the lines of other ranks differ from it in digits only."""
    needs_name: str = ""
    """IPython: everything is body until the line that begins with this name."""
    is_alone: bool = False
    """Without a header: what ends it must be named like an exception."""
    in_table: bool = False
    is_ignored: bool = False
    after: str = ""
    """The exception that was being handled."""
    lines: int = 1
    waited: int = 0
    at: str = ""
    of_checkpoint: bool = False


class Tracebacks:
    """Follows the tracebacks of each file, also of ranks that write over each other with prefixes of their own."""

    literals: tuple[str, ...] = (_HEADER.lower(), 'file "', _CHAIN, "error: ", "exception: ", *_IGNORED)

    def __init__(self) -> None:
        self._open: dict[str, list[_Open]] = {}
        self._ended: dict[str, str] = {}
        """Path -> name of the exception that ended last there."""
        self._chained: dict[str, str] = {}
        """Path -> the exception during whose handling the next traceback there was begun."""
        self._ignored: set[str] = set()
        """Paths where Python has just said that it ignores the exception that follows."""

    @property
    def is_open(self) -> bool:
        """An exception line is still to come."""
        return bool(self._open)

    def add(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        """What is found in the line, and the exception that ends a traceback there.

        Where a pattern explains that exception, its event is told where the traceback began instead.
        """
        ended = self._line(line)
        explained = [one for one in found if one.severity != "info" and one.pattern != "rank-crash"]
        if ended is not None:
            opened, rest = ended
            if opened.is_ignored:
                return [_harmless(one) for one in found]
            if explained:
                return [_joined(one, opened) for one in found]
            event = _event(line, opened, rest)
            if event is None:
                return found
            return [*(one for one in found if one.pattern != "rank-crash"), _felt(event, found)]
        if not found and self._may_be_bare(line) and (bare := _BARE.match(line.said)):
            event = _event(line, None, bare.string)
            return found if event is None else [event]
        return found

    def _may_be_bare(self, line: ParsedLine) -> bool:
        return line.path not in self._open

    def _line(self, line: ParsedLine) -> tuple[_Open, str] | None:
        """The traceback that ends with this line, and the line without its prefix."""
        at = line.text.find(_HEADER)
        if at >= 0:
            self._begin(line, _opened(line.text[:at]))
            return None
        lowered = line.text.lower()
        if _CHAIN in lowered:
            self._chained[line.path] = self._ended.get(line.path, "another exception")
        elif any(words in lowered for words in _IGNORED):
            self._ignored.add(line.path)
        if line.path in self._open and (fitting := self._fitting(line)) is not None:
            return self._continued(line, *fitting)
        alone = _FRAME_ALONE.match(line.text)
        if alone is not None and len(alone.group("prefix")) <= _WIDEST_PREFIX:
            of_checkpoint = _CHECKPOINT.search(line.text) is not None
            prefix = _any_digits(alone.group("prefix"))
            self._begin(line, _Open(prefix, is_alone=True, at=_place(line.text), of_checkpoint=of_checkpoint))
        return None

    def _fitting(self, line: ParsedLine) -> tuple[_Open, str] | None:
        """The open traceback with the longest prefix that the line has, too; those waiting for too long are given up."""
        best: tuple[int, _Open] | None = None
        for one in list(self._open[line.path]):
            found = one.prefix.match(line.text) if one.rank in (None, line.rank) else None
            one.waited = 0 if found else one.waited + 1
            if one.waited > _PATIENCE:
                self._end(line.path, one)
            elif found and (best is None or found.end() > best[0]):
                best = (found.end(), one)
        return None if best is None else (best[1], line.text[best[0] :])

    def _continued(self, line: ParsedLine, current: _Open, rest: str) -> tuple[_Open, str] | None:
        current.lines += 1
        if current.lines < _LONGEST and _is_body(current, rest):
            current.at = _place(rest) or current.at
            current.of_checkpoint = current.of_checkpoint or _CHECKPOINT.search(rest) is not None
            return None
        self._end(line.path, current)
        found = _EXCEPTION.match(rest)
        if found is not None:
            self._ended[line.path] = found.group("exception").rsplit(".", 1)[-1]
        return current, rest

    def _begin(self, line: ParsedLine, opened: _Open) -> None:
        opened.rank = line.rank
        opened.after = self._chained.pop(line.path, "")
        opened.is_ignored = line.path in self._ignored
        self._ignored.discard(line.path)
        same = (opened.prefix.pattern, opened.rank)
        others = [one for one in self._open.get(line.path, ()) if (one.prefix.pattern, one.rank) != same]
        self._open[line.path] = [*others[-63:], opened]

    def _end(self, path: str, current: _Open) -> None:
        self._open[path].remove(current)
        if not self._open[path]:
            del self._open[path]


def _opened(prefix: str) -> _Open:
    """What follows a header that has this before it."""
    if found := _IPYTHON.match(prefix):
        return _Open(_any_digits(""), needs_name=found.group("exception").rsplit(".", 1)[-1])
    if found := _IN_TABLE.match(prefix):
        return _Open(_any_digits(found.group("indent")), in_table=True)
    if prefix.endswith("+ Exception Group "):
        return _Open(re.compile(re.escape(prefix[: -len("+ Exception Group ")]) + r"\| "))
    if "╭" in prefix:
        return _Open(_any_digits(prefix[: prefix.index("╭")]))
    return _Open(_any_digits(prefix))


def _any_digits(prefix: str) -> re.Pattern[str]:
    """A prefix again: its time, line number and the like may differ from line to line."""
    return re.compile(re.sub(r"\d+", r"\\d+", re.escape(prefix)))


def _is_body(opened: _Open, rest: str) -> bool:
    if not rest.strip() or rest[0].isspace() or rest[0] in "│╭╰|+":
        return True
    if opened.needs_name:
        return not rest.startswith(opened.needs_name)
    return False


def _place(text: str) -> str:
    frame = _FRAME.search(text) or _FRAME_IN_BOX.search(text)
    return f"{frame.group('file')}:{frame.group('line')} in {frame.group('function')}" if frame else ""


def _joined(event: LogEvent, opened: _Open) -> LogEvent:
    groups = {**event.groups, "at": opened.at} if opened.at else event.groups
    return replace(event, groups=groups, lines=opened.lines)


def _felt(crash: LogEvent, found: list[LogEvent]) -> LogEvent:
    """A crash whose last line says that the process at the other end has gone is no root, whatever exception it is."""
    other = next((one for one in found if one.pattern == "rank-crash" and one.role == "cascade"), None)
    if other is None or crash.role == "cascade":
        return crash
    return replace(crash, role="cascade", explanation=f"{crash.explanation} {other.explanation}")


def _harmless(event: LogEvent) -> LogEvent:
    return replace(event, severity="info", role="context", explanation="Python ignored this exception and continued.")


def _event(line: ParsedLine, opened: _Open | None, rest: str) -> LogEvent | None:
    """The exception of this line; None where it is none, or only says that somebody ended the program."""
    found = _EXCEPTION.match(rest)
    if found is None:
        return None
    name = found.group("exception").rsplit(".", 1)[-1]
    is_sure = opened is not None and not opened.is_alone
    if name in _STOPPED or not (is_sure or _NAME_OF_EXCEPTION.search(name)):
        return None
    at, after, of_checkpoint = (opened.at, opened.after, opened.of_checkpoint) if opened else ("", "", False)
    groups = {
        "exception": found.group("exception"), "inner": found.group("inner") or "",
        "message": found.group("message") or "", "at": at, "after": after,
    }  # fmt: skip
    return LogEvent(
        pattern="checkpoint-error" if of_checkpoint and name not in _FOLLOWS else "rank-crash",
        severity="critical" if opened else "warning",
        role=_role(name, opened),
        path=line.path,
        line_no=line.source.line_no,
        text=line.source.text,
        at_s=line.source.at_s,
        is_past=line.source.is_past,
        level=line.level,
        explanation="Uncaught Python exception"
        + (" while reading or writing a checkpoint" if of_checkpoint else "")
        + (f" at {at}" if at else "")
        + (f", raised while handling {after}." if after else "."),
        rank=line.rank,
        groups={key: value for key, value in groups.items() if value},
        lines=opened.lines if opened else 1,
        source="CPython Lib/traceback.py",
    )


def _role(name: str, opened: _Open | None) -> Role:
    if name in _FOLLOWS:
        return "cascade"
    is_second_hand = opened is not None and (bool(opened.after) or opened.in_table)
    return "confirmation" if is_second_hand or name in _TOLD_BY_OTHERS else "root"

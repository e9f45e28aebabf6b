"""Match: log text -> events. One pass for all literals over a large text, regexes only on the lines where one was met."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from hwtop.job.log.block import LogBlock, line_at
from hwtop.job.log.parsed import ParsedLine, parsed
from hwtop.job.patterns.assembly import Assembler
from hwtop.job.patterns.numeric import HUGE_NORM, NOT_A_NUMBER, numeric_event
from hwtop.job.patterns.prefilter import Hit, Prefilter
from hwtop.job.patterns.registry import LONGEST_OWN_CHARS, Pattern, Registry, builtin
from hwtop.job.patterns.report_block import FailureTable, KernelOom, NativeEnd
from hwtop.job.patterns.traceback import Tracebacks
from hwtop.job.progress.line import progress_in
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import LogEvent, LogLine

_MANY = 20
_DENIED = lazy_regex(r"\b(?:no|not|without)\s$", re.IGNORECASE)
"""Before what a line says did not happen: `No grad overflow for 100 iterations`."""
_ASSEMBLERS: tuple[type[Assembler], ...] = (Tracebacks, FailureTable, KernelOom, NativeEnd)
"""Each takes what those before it made of a line."""


class Matcher:
    """Finds events in lines that come in pieces; remembers tracebacks that are still open.

    `repeat_limit`: most events of one pattern, file and rank that one call returns (a failing kernel assertion prints
    thousands of lines); None = all of them.
    """

    def __init__(self, registry: Registry | None = None, repeat_limit: int | None = _MANY) -> None:
        self._registry = registry or builtin()
        self._repeat_limit = repeat_limit
        self._assemblers: tuple[Assembler, ...] = tuple(kind() for kind in _ASSEMBLERS)
        literals, expressions = _users(self._registry)
        self._users = (*literals.values(), *expressions.values())
        self._prefilter = prefilter_of(self._registry)

    def match(self, lines: Iterable[LogLine]) -> list[LogEvent]:
        """The events of `lines`, in their order. A line may raise several patterns, each once."""
        known = list(lines)
        return self._limited(self._events(_Lines([line.text for line in known], lambda number: parsed(known[number]))))

    def match_parsed(self, lines: Sequence[ParsedLine]) -> list[LogEvent]:
        """As `match`, of lines whose prefix was taken apart before."""
        return self._limited(self._events(_Lines([line.text for line in lines], lines.__getitem__)))

    def match_block(self, block: LogBlock) -> list[LogEvent]:
        """As `match`, of a block of raw lines. Every state of a bar is looked at, not only the last one."""
        return self._limited(self._events(_Block(block)))

    def _events(self, text: _Text) -> list[LogEvent]:
        events: list[LogEvent] = []
        reported: set[tuple[int, str]] = set()
        at, ordinal = 0, 0  # the first line that the assemblers have not been offered yet
        for piece in _pieces(text.data, self._prefilter.hits(text.data)):
            self._offer(text, at, ordinal, piece.start, events)
            line = text.line(piece.ordinal, piece.start, piece.end)
            found = [
                event for event in self._found(line, piece.numbers) if (piece.ordinal, event.pattern) not in reported
            ]
            reported.update((piece.ordinal, event.pattern) for event in found)
            events.extend(self._assembled(line, found))
            at, ordinal = piece.end_of_line + 1, piece.ordinal + 1
        self._offer(text, at, ordinal, len(text.data), events)
        return events

    def _offer(self, text: _Text, at: int, ordinal: int, until: int, events: list[LogEvent]) -> None:
        """The lines between two pieces, as long as an assembler waits for more."""
        while at < until and any(assembler.is_open for assembler in self._assemblers):
            end = _end_of_line(text.data, at)
            if until <= end < len(text.data):
                return  # the next piece is a later state of this very line
            events.extend(self._assembled(text.line(ordinal, at, end), []))
            at, ordinal = end + 1, ordinal + 1

    def _assembled(self, line: ParsedLine, found: list[LogEvent]) -> list[LogEvent]:
        for assembler in self._assemblers:
            found = assembler.add(line, found)
        return found

    def _found(self, line: ParsedLine, hits: set[int]) -> list[LogEvent]:
        """What the patterns whose literals were hit say of the line, each id once, and what its numbers say."""
        events: dict[str, LogEvent] = {}
        lowered = line.text.lower()
        for number in sorted({number for hit in hits if hit < len(self._users) for number in self._users[hit]}):
            pattern = self._registry.patterns[number]
            if pattern.id not in events and (event := self._try(pattern, line, lowered)) is not None:
                events[pattern.id] = event
        if max(hits, default=0) >= len(self._users) and (progress := progress_in(line)) is not None:
            numeric = numeric_event(line, progress)
            if numeric is not None:
                events.setdefault(numeric.pattern, numeric)
        return list(events.values())

    def _try(self, pattern: Pattern, line: ParsedLine, lowered: str) -> LogEvent | None:
        groups: dict[str, str] = {}
        text = line.text[:LONGEST_OWN_CHARS] if pattern.is_own else line.text
        if pattern.regex is not None:
            found = pattern.regex.search(text)
            if found is None or _DENIED.search(text, 0, found.start()):
                return None
            groups = {name: value for name, value in found.groupdict().items() if value}
        elif not any(literal in lowered for literal in pattern.literals):
            return None
        if pattern.unless is not None and pattern.unless.search(text):
            return None
        rank = line.rank
        rank = whole_number(groups.get("rank")) if rank is None else rank
        xid = next((groups[name] for name in ("xid", "xid2", "xid3", "xid4") if name in groups), None)
        return self._event(pattern, line, groups, rank, whole_number(xid))

    def _event(
        self, pattern: Pattern, line: ParsedLine, groups: dict[str, str], rank: int | None, xid: int | None
    ) -> LogEvent:
        severity, role, explanation = pattern.severity, pattern.role, pattern.explanation
        if xid is not None and (known := self._registry.xids.get(xid)) is not None:
            severity, role, explanation = known.severity_in(line.text), known.role, f"Xid {xid}: {known.meaning}."
        return LogEvent(
            pattern=pattern.id,
            severity=severity,
            role=role,
            path=line.path,
            line_no=line.source.line_no,
            text=line.source.text,
            at_s=line.source.at_s,
            is_past=line.source.is_past,
            level=line.level,
            explanation=explanation,
            rank=rank,
            xid=xid,
            groups=groups,
            playbook=pattern.playbook,
            title=pattern.title,
            source=pattern.source,
        )

    def _limited(self, events: list[LogEvent]) -> list[LogEvent]:
        if self._repeat_limit is None or len(events) <= self._repeat_limit:
            return events
        seen: Counter[tuple[str, str, int | None]] = Counter()
        kept = []
        for event in events:
            key = (event.path, event.pattern, event.rank)
            seen[key] += 1
            if seen[key] <= self._repeat_limit:
                kept.append(event)
        return kept


def prefilter_of(registry: Registry) -> Prefilter:
    """Finds every line that a Matcher with these patterns looks at by itself, and no more."""
    literals, expressions = _users(registry)
    return Prefilter(tuple(literals), (*expressions, NOT_A_NUMBER, HUGE_NORM))


def _users(registry: Registry) -> tuple[dict[str, list[int]], dict[bytes, list[int]]]:
    """Literals, then expressions, each with the numbers of the patterns that begin with it; an assembler's may have none."""
    literals: dict[str, list[int]] = {}
    expressions: dict[bytes, list[int]] = {}
    for number, pattern in enumerate(registry.patterns):
        for literal in pattern.literals:
            literals.setdefault(literal, []).append(number)
        for expression in pattern.expressions:
            expressions.setdefault(expression, []).append(number)
    for kind in _ASSEMBLERS:
        for literal in kind.literals:
            literals.setdefault(literal, [])
    return literals, expressions


class _Text(Protocol):
    """Lines joined by newlines, and a parsed line of any part of it."""

    @property
    def data(self) -> bytes: ...

    def line(self, ordinal: int, start: int, end: int) -> ParsedLine: ...


class _Lines:
    """Lines that are there already."""

    def __init__(self, texts: list[str], line_of: Callable[[int], ParsedLine]) -> None:
        self._line_of = line_of
        self.data = "\n".join(texts).encode("utf-8", "replace")
        if self.data.count(b"\n") >= max(1, len(texts)):  # a line that holds newlines must not shift the others
            self.data = "\n".join(" ".join(text.split("\n")) for text in texts).encode("utf-8", "replace")

    def line(self, ordinal: int, _start: int, _end: int) -> ParsedLine:
        return self._line_of(ordinal)


class _Block:
    """Raw lines, of which few will be asked for."""

    def __init__(self, block: LogBlock) -> None:
        self._block = block
        self.data = block.data

    def line(self, ordinal: int, start: int, end: int) -> ParsedLine:
        return parsed(line_at(self._block, ordinal, start, end))


class _Piece(Struct, frozen=True):
    """A line, or one state of a bar in it, with the literals that were met there."""

    ordinal: int
    start: int
    end: int
    end_of_line: int
    numbers: set[int]


def _pieces(data: bytes, hits: Sequence[Hit]) -> Iterator[_Piece]:
    has_bars = b"\r" in data
    index = ordinal = counted = 0
    while index < len(hits):
        inside = hits[index][0] - 1
        start = data.rfind(b"\n", counted, inside) + 1 or counted
        ordinal += data.count(b"\n", counted, start)
        counted = start
        end = end_of_line = _end_of_line(data, inside)
        if has_bars:
            start = data.rfind(b"\r", start, inside) + 1 or start
            redrawn = data.find(b"\r", inside, end_of_line)
            end = end_of_line if redrawn < 0 else redrawn
        numbers: set[int] = set()
        while index < len(hits) and hits[index][0] <= end + 1:
            numbers.add(hits[index][1])
            index += 1
        yield _Piece(ordinal, start, end, end_of_line, numbers)


def _end_of_line(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end

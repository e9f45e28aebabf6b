"""Match: log lines -> events. One pass for the literals over many lines at once, regexes only where one was met."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from hwtop.job.log_text import split_rank
from hwtop.job.patterns.numeric import NOT_A_NUMBER, numeric_event
from hwtop.job.patterns.registry import Pattern, Registry, builtin
from hwtop.job.patterns.traceback import Tracebacks
from hwtop.job.progress_line import parse
from hwtop.model.log import LogEvent, LogLine

_CHUNK = 4096
"""Lines joined for one search of a literal: `in` over one long text is far cheaper than over each line."""
_MANY = 20


class Matcher:
    """Finds events in lines that come in pieces; remembers tracebacks that are still open.

    `repeat_limit`: most events of one pattern, file and rank that one call returns (a failing kernel assertion prints
    thousands of lines); None = all of them.
    """

    def __init__(self, registry: Registry | None = None, repeat_limit: int | None = _MANY) -> None:
        self._registry = registry or builtin()
        self._repeat_limit = repeat_limit
        self._tracebacks = Tracebacks()
        self._users: dict[str, list[int]] = {}
        for number, pattern in enumerate(self._registry.patterns):
            for literal in pattern.literals:
                self._users.setdefault(literal, []).append(number)

    def match(self, lines: Iterable[LogLine]) -> list[LogEvent]:
        """The events of `lines`, in their order. A line may raise several patterns, each once."""
        kept = list(lines)
        events: list[LogEvent] = []
        for start in range(0, len(kept), _CHUNK):
            events.extend(self._chunk(kept[start : start + _CHUNK]))
        return self._limited(events)

    def _chunk(self, lines: Sequence[LogLine]) -> list[LogEvent]:
        lowered = [line.text.lower() for line in lines]
        text = "\n".join(lowered)
        candidates = self._candidates(text, _starts(lowered))
        found: list[tuple[int, LogEvent]] = []
        for index in sorted(candidates):
            found.extend(
                (index, event) for event in self._line(lines[index], lowered[index], sorted(candidates[index]))
            )
        found.extend(self._numeric(lines, text, lowered, found))
        explained = {index for index, event in found if event.severity != "info" and event.pattern != "rank-crash"}
        found.extend(self._tracebacks.add(lines, "traceback (most" in text, explained))
        found.sort(key=lambda item: item[0])
        return [event for _, event in found]

    def _candidates(self, text: str, starts: Sequence[int]) -> dict[int, set[int]]:
        candidates: dict[int, set[int]] = {}
        for literal, users in self._users.items():
            at = text.find(literal)
            while at >= 0:
                index = bisect_right(starts, at) - 1
                candidates.setdefault(index, set()).update(users)
                if index + 1 == len(starts):
                    break
                at = text.find(literal, starts[index + 1])
        return candidates

    def _line(self, line: LogLine, lowered: str, numbers: Iterable[int]) -> list[LogEvent]:
        events: dict[str, LogEvent] = {}
        for number in numbers:
            pattern = self._registry.patterns[number]
            if pattern.id not in events and (event := self._try(pattern, line, lowered)) is not None:
                events[pattern.id] = event
        return list(events.values())

    def _try(self, pattern: Pattern, line: LogLine, lowered: str) -> LogEvent | None:
        groups: dict[str, str] = {}
        if pattern.regex is not None:
            found = pattern.regex.search(line.text)
            if found is None:
                return None
            groups = {name: value for name, value in found.groupdict().items() if value}
        elif not any(literal in lowered for literal in pattern.literals):
            return None
        if pattern.unless is not None and pattern.unless.search(line.text):
            return None
        rank = split_rank(line.text)[0]
        if rank is None and groups.get("rank", "").isdigit():
            rank = int(groups["rank"])
        xid = groups.get("xid") or groups.get("xid2")
        return self._event(pattern, line, groups, rank, int(xid) if xid else None)

    def _event(
        self, pattern: Pattern, line: LogLine, groups: dict[str, str], rank: int | None, xid: int | None
    ) -> LogEvent:
        severity, role, explanation = pattern.severity, pattern.role, pattern.explanation
        if xid is not None and (known := self._registry.xids.get(xid)) is not None:
            severity, role, explanation = known.severity, known.role, f"Xid {xid}: {known.meaning}."
        return LogEvent(
            pattern=pattern.id,
            severity=severity,
            role=role,
            path=line.path,
            line_no=line.line_no,
            text=line.text,
            at_s=line.at_s,
            is_past=line.is_past,
            explanation=explanation,
            rank=rank,
            xid=xid,
            groups=groups,
            playbook=pattern.playbook,
            title=pattern.title,
        )

    def _numeric(
        self, lines: Sequence[LogLine], text: str, lowered: Sequence[str], found: Sequence[tuple[int, LogEvent]]
    ) -> list[tuple[int, LogEvent]]:
        if NOT_A_NUMBER.search(text) is None:
            return []
        known = {(index, event.pattern) for index, event in found}
        events: list[tuple[int, LogEvent]] = []
        for index, line in enumerate(lines):
            if NOT_A_NUMBER.search(lowered[index]) is None or (progress := parse(line.text)) is None:
                continue
            event = numeric_event(line, progress)
            if event is not None and (index, event.pattern) not in known:
                events.append((index, event))
        return events

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


def match(lines: Iterable[LogLine]) -> list[LogEvent]:
    """All events of lines that are complete in themselves, with the patterns that come with hwtop."""
    return Matcher(repeat_limit=None).match(lines)


def _starts(texts: Sequence[str]) -> list[int]:
    """Where each text begins once they are joined by newlines."""
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    return starts

"""Trial: what a pattern costs and misses on a given log, before it is used for good."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from hwtop.job.log.block import LONGEST_CHARS, LogBlock, all_lines
from hwtop.job.patterns.registry import Pattern, Registry

COMMON_SHARE = 0.01
"""Of all lines, from which on a literal is told to be too common. A line with a literal costs about 20 times one without
(measured), so at a hundredth the speed falls by a fifth."""
SLOW_S = 0.02
"""For one line: a thousand such lines would take 20 s (engineering default)."""


class Trial:
    """Takes a log block by block; answers which literals are too common and which lines a regex would match in vain."""

    def __init__(self, registry: Registry) -> None:
        self._patterns = registry.patterns
        self._held: Counter[tuple[str, str]] = Counter()
        self.lines = 0
        self.ids = frozenset(pattern.id for pattern in registry.patterns)
        self.unreached: dict[int, tuple[int, int]] = {}
        """Number of the pattern -> (how many lines its regex matches that hold none of its literals, the first one)."""

    def add(self, block: LogBlock) -> None:
        """Look at every line, whether a literal stands in it or not."""
        for line in all_lines(block):
            self.lines += 1
            lowered = line.text.lower()
            for number, pattern in enumerate(self._patterns):
                held = [literal for literal in pattern.literals if literal in lowered]
                self._held.update((pattern.id, literal) for literal in held)
                if not held and pattern.regex is not None and pattern.regex.search(line.text):
                    count, first = self.unreached.get(number, (0, line.line_no or 0))
                    self.unreached[number] = (count + 1, first)

    def common(self) -> list[tuple[str, str, int]]:
        """(pattern id, literal, lines that hold it) of those that too many lines hold."""
        return [
            (name, literal, count)
            for (name, literal), count in self._held.most_common()
            if count > max(COMMON_SHARE * self.lines, 10)
        ]


def slow_length(pattern: Pattern, clock: Callable[[], float]) -> int | None:
    """Length of a line that the pattern's regexes need more than SLOW_S for; None where no line of any length was found.

    Tries near-matches: the pattern's own literals and single characters, repeated. They grow in small steps, so that a
    regex whose time doubles with each character is told after a moment and not after a year.
    """
    for regex in (pattern.regex, pattern.unless):
        for unit in ("a", "1", " ", "a ", "1.", "=", *pattern.literals):
            if regex is not None and (length := _slow_at(regex, unit, clock)) is not None:
                return length
    return None


def _slow_at(regex: re.Pattern[str], unit: str, clock: Callable[[], float]) -> int | None:
    for length in _lengths():
        text = (unit * (length // len(unit) + 1))[:length] + "\x01"
        began = clock()
        regex.search(text)
        if clock() - began > SLOW_S:
            return length
    return None


def _lengths() -> Iterator[int]:
    length = 8
    while length < LONGEST_CHARS:
        yield length
        length += 2 if length < 64 else length // 2
    yield LONGEST_CHARS

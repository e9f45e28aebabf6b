"""Trial: what a pattern costs and misses on a given log, before it is used for good."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from hwtop.job.log.block import LONGEST_CHARS, LogBlock, all_lines
from hwtop.job.patterns.registry import LONGEST_OWN_CHARS, Pattern, Registry

COMMON_SHARE = 0.01
"""Of all lines, from which on a literal is told to be too common. A line with a literal costs about 20 times one without
(measured), so at a hundredth the speed falls by a fifth."""
SLOW_S = 0.02
"""For one line: a thousand such lines would take 20 s (engineering default)."""
ENDLESS_S = 0.2
"""For one line: such a regex may as well need a year for the next one, and nothing can interrupt it (engineering default)."""


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


def slow_length(pattern: Pattern, clock: Callable[[], float], limit_s: float = SLOW_S) -> int | None:
    """Length of a line that the pattern's regexes need more than `limit_s` for; None where no line of any length was found.

    Tries near-matches: the pattern's own literals repeated, and single characters repeated, alone and behind a literal. They
    grow in small steps, so that a regex whose time doubles with each character is told after a moment and not after a year.
    """
    longest = LONGEST_OWN_CHARS if pattern.is_own else LONGEST_CHARS
    for regex in filter(None, (pattern.regex, pattern.unless)):
        for begin, unit in _near_matches(pattern.literals):
            for length in _lengths(longest):
                if _needed_s(regex, (begin + unit * (length // len(unit) + 1))[:length] + "\x01", clock) > limit_s:
                    return length
    return None


def _near_matches(literals: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(how the line begins, what is repeated in it)."""
    yield from (("", literal) for literal in literals)
    for begin in ("", *literals, *(f"{literal} " for literal in literals)):
        yield from ((begin, unit) for unit in ("a", "1", " ", "a ", "1.", "="))


def _needed_s(regex: re.Pattern[str], text: str, clock: Callable[[], float]) -> float:
    began = clock()
    regex.search(text)
    return clock() - began


def _lengths(longest: int) -> Iterator[int]:
    length = 8
    while length < longest:
        yield length
        length += 2 if length < 64 else length // 2
    yield longest

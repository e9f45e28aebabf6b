"""Plain search: what stands in for Hyperscan where there is no wheel of it. Standard library only; the same lines are found.

A block of text is looked through for a literal only where the block holds all four-byte pieces of the literal: 11 MB/s with
1,400 literals, where looking for each of them takes five times as long. With the 37 expressions it is 1.3 MB/s in all, where
Hyperscan does 300.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hwtop.job.patterns.prefilter import Hit

_BLOCK_BYTES = 64 * 1024
_GRAM_BYTES = 4
_NOT_THE_SAME = re.compile(r"\(\?(?:[=!>(]|<|P[=>])|\\[1-9]|[*+?}]\+|\[\[:")
"""What `re` takes and Hyperscan does not, or takes for something else."""


class PlainSearch:
    """Finds literals with `bytes.find` and expressions with `re`."""

    def __init__(self, literals: Sequence[str], expressions: Sequence[bytes]) -> None:
        self._literals = _prepared(tuple(literals))
        self._longest = max((len(literal) for literal, _ in self._literals), default=0)
        self._expressions = [_compiled(expression) for expression in expressions]

    def hits(self, text: bytes) -> list[Hit]:
        """An expression has a hit at the end of the longest match from each place, and in each state of a bar."""
        lowered = text.lower()
        found = set(self._literal_hits(lowered))
        for number, regex in enumerate(self._expressions, start=len(self._literals)):
            found.update((end, number) for end in _ends(regex, lowered))
        return sorted(found)

    @staticmethod
    def refused(expression: str) -> str | None:
        """What `re` says of it, or that Hyperscan would understand it otherwise."""
        if (part := _NOT_THE_SAME.search(expression)) is not None:
            return f"{part[0]!r} is not supported: look-around, references, and possessive or atomic groups are not"
        try:
            _compiled(expression.encode())
        except re.error as error:
            return " ".join(str(error).split())
        return None

    def _literal_hits(self, text: bytes) -> Iterator[Hit]:
        for start in range(0, len(text), _BLOCK_BYTES):
            end = min(len(text), start + _BLOCK_BYTES + self._longest)
            grams = _grams(text[start:end])
            for number, (literal, needed) in enumerate(self._literals):
                if needed <= grams:
                    at = text.find(literal, start, end)
                    while at >= 0:
                        yield at + len(literal), number
                        at = text.find(literal, at + 1, end)


def _ends(regex: re.Pattern[bytes], text: bytes) -> Iterator[int]:
    """Where matches end: the longest from each place, and the one that ends with each state of a bar that it runs over."""
    start = 0
    while start < len(text) and (match := regex.search(text, start)) is not None:
        yield match.end()
        state_end = text.find(b"\r", match.start(), match.end()) + 1
        while state_end > 0:
            if (shorter := regex.search(text, match.start(), state_end)) is not None:
                yield shorter.end()
            state_end = text.find(b"\r", state_end, match.end()) + 1
        start = match.start() + 1


def _grams(text: bytes) -> set[int]:
    """All that stands in any four bytes in a row."""
    grams: set[int] = set()
    for shift in range(_GRAM_BYTES):
        whole = (len(text) - shift) // _GRAM_BYTES * _GRAM_BYTES
        if whole > 0:
            grams.update(memoryview(text)[shift : shift + whole].cast("I"))
    return grams


@lru_cache(maxsize=64)
def _prepared(literals: tuple[str, ...]) -> tuple[tuple[bytes, set[int]], ...]:
    """As bytes in lower case, each with the pieces that it is made of."""
    return tuple((text := literal.encode().lower(), _grams(text)) for literal in literals)


@lru_cache(maxsize=256)
def _compiled(expression: bytes) -> re.Pattern[bytes]:
    """For text in lower case. Ignoring the case once more costs much, and is needed only where it names capital letters."""
    names_capitals = re.search(rb"[A-Z]|\\x", expression) is not None
    return re.compile(expression, re.MULTILINE | (re.IGNORECASE if names_capitals else 0))

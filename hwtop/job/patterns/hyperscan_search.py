"""Hyperscan search: the only place that imports Hyperscan (as Vectorscan, with wheels for x86_64 and aarch64).

Measured over 34 MB of healthy log with 315 literals on one core: Hyperscan 2,000 MB/s ignoring case; ahocorasick_rs 380 with
the text lowered before; re2.Set, line by line, 150; pyahocorasick 90; `re` with an alternation 1. `bench/scan_speed.py`
measures the whole path.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import hyperscan

from hwtop.job.patterns.prefilter import Hit

_FLAGS = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_MULTILINE


class HyperscanSearch:
    """Compiled when it is first used. Owns the scratch space of the search, so it serves one thread."""

    def __init__(self, literals: Sequence[str], expressions: Sequence[bytes]) -> None:
        self._source = (*_escaped(tuple(literals)), *expressions)
        self._scratch: hyperscan.Scratch | None = None

    def hits(self, text: bytes) -> list[Hit]:
        """An expression has a hit at every place where a match of it may end."""
        database = _database(self._source)
        if self._scratch is None:
            self._scratch = hyperscan.Scratch(database)
        found: list[Hit] = []

        def keep(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((end, number))

        database.scan(text, match_event_handler=keep, scratch=self._scratch)
        return found

    @staticmethod
    def refused(expression: str) -> str | None:
        """What Hyperscan says of it."""
        try:
            HyperscanSearch((), (expression.encode(),)).hits(b" ")
        except (hyperscan.HyperscanError, ValueError) as error:
            return " ".join(str(error).split())
        return None


@lru_cache(maxsize=64)
def _database(source: tuple[bytes, ...]) -> hyperscan.Database:
    """Compiled when first needed (0.1 s for 300 literals), and shared: it is never written to."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=source, ids=list(range(len(source))), elements=len(source), flags=[_FLAGS] * len(source)
    )
    return database


@lru_cache(maxsize=64)
def _escaped(literals: tuple[str, ...]) -> tuple[bytes, ...]:
    """As expressions that match just these; UTF-8 beyond ASCII byte by byte."""
    return tuple("".join(map(_escaped_char, literal)).encode() for literal in literals)


def _escaped_char(char: str) -> str:
    if char.isascii() and char.isalnum():
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode())

"""Prefilter: one pass over a text for all literals at once; everything slower is done only where one was met.

Hyperscan does it (`hyperscan_search.py`) where it is installed; elsewhere `plain_search.py` finds the same, slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Hit = tuple[int, int]
"""(offset behind the match, number of the literal)."""


class Search(Protocol):
    """What finds the hits; made of literals and expressions."""

    def __init__(self, literals: Sequence[str], expressions: Sequence[bytes]) -> None: ...

    def hits(self, text: bytes) -> list[Hit]:
        """As `Prefilter.hits`, of a text that is not empty."""
        ...

    @staticmethod
    def refused(expression: str) -> str | None:
        """Why it cannot take the expression, apart from what the expression matches; None where it can."""
        ...


class Prefilter:
    """Finds literals, ignoring the case of ASCII letters, and expressions in Hyperscan's dialect, which follow them in number.

    None may match a line's end. One object serves one thread.
    """

    def __init__(self, literals: Sequence[str], expressions: Sequence[bytes] = ()) -> None:
        self._search = search_kind()(literals, expressions) if literals or expressions else None

    def hits(self, text: bytes) -> list[Hit]:
        """All matches in the order of their ends; several may end at one place.

        A literal has a hit wherever it stands. An expression has one at least in each line, and each state of a bar, in which
        it matches.
        """
        return self._search.hits(text) if self._search is not None and text else []


def search_kind() -> type[Search]:
    """Hyperscan's, or where that cannot be imported the one of the standard library."""
    try:
        from hwtop.job.patterns.hyperscan_search import HyperscanSearch
    except ImportError:
        from hwtop.job.patterns.plain_search import PlainSearch

        return PlainSearch
    return HyperscanSearch


def refused(expression: str) -> str | None:
    """Why the expression cannot be searched for; None where it can."""
    if (reason := search_kind().refused(expression)) is not None:
        return reason
    if Prefilter((), (expression.encode(),)).hits(b"\n \n"):
        return "it matches nothing at all, or a line's end"
    return None

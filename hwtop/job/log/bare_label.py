"""Bare label: a number in front of the lines of a file that several ranks write, which may be the rank. `[1] step 5 loss 0.3`. Pure.

Only their order shows what the numbers are: ranks take turns for ever, an epoch or a step that has passed never comes back.
"""

from __future__ import annotations

from collections.abc import Collection

from hwtop.job.log.parsed import ParsedLine
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex

_LABEL = lazy_regex(r"[\[(<#]?(?P<number>\d{1,5})(?:[\])>]\s*[:|>-]?|\s?[:|>-])\s+(?=\S)")
_ROUNDS = 5
"""So often each of the ranks has written since all others did: ranks that enter an epoch one after the other do it once. Engineering
default."""


class BareLabels:
    """Those of one file; it learns from each line whether they are ranks."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._rounds = 0
        self._is_other = False

    def read(self, line: ParsedLine, ranks: Collection[int]) -> tuple[int, ParsedLine] | None:
        """(rank, the line without its label), once it is proven. `ranks`: those that write into the file."""
        found = None if self._is_other else _LABEL.match(line.body)
        number = None if found is None else whole_number(found.group("number"))
        if found is None or number is None:
            return None
        self._is_other = number not in ranks
        self._seen.add(number)
        if len(self._seen) >= len(ranks):
            self._rounds += 1
            self._seen.clear()
        if self._is_other or self._rounds < _ROUNDS:
            return None
        return number, ParsedLine(line.source, line.text.removesuffix(line.body) + line.body[found.end() :])

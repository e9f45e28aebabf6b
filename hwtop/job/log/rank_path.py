"""Paths of logs that name the rank which writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex

_RANK = lazy_regex(r"rank[._-]?(\d+)|attempt_\d+/(\d+)/std(?:out|err)\.log$", re.IGNORECASE)
_NUMBER = lazy_regex(r"\d+")


class RankPath(Struct, frozen=True):
    """A path but for the number of the rank."""

    before: str
    after: str
    digits: int
    """At least so many, padded with zeros."""

    def path(self, rank: int) -> str:
        """As it is called for this rank."""
        return f"{self.before}{rank:0{self.digits}}{self.after}"


def rank_of_path(path: str) -> int | None:
    """The rank that a log's path names, as launchers and people name the logs of ranks."""
    span = _span(path)
    return None if span is None else whole_number(path[slice(*span)])


def patterns_of_ranks(paths: Mapping[str, int]) -> tuple[RankPath, ...]:
    """How the logs of a job are called: by the word rank, or alike for two or more ranks but for a number which is that of each.

    `paths`: logs that one rank alone writes, and its number.
    """
    named = [
        _pattern(path, span)
        for path, rank in paths.items()
        if (span := _span(path)) is not None and whole_number(path[slice(*span)]) == rank
    ]
    seen: dict[RankPath, set[int]] = {}
    for path, rank in paths.items():
        for span in _spans_of(path, rank):
            seen.setdefault(_pattern(path, span), set()).add(rank)
    return tuple(dict.fromkeys((*named, *(pattern for pattern, ranks in seen.items() if len(ranks) > 1))))


def _span(path: str) -> tuple[int, int] | None:
    """Of the number behind the word."""
    found = _RANK.search(path)
    return found.span(1 if found.group(1) else 2) if found else None


def _spans_of(path: str, rank: int) -> Iterator[tuple[int, int]]:
    for found in _NUMBER.finditer(path):
        if whole_number(found.group()) == rank:
            yield found.span()


def _pattern(path: str, span: tuple[int, int]) -> RankPath:
    first, last = span
    return RankPath(path[:first], path[last:], last - first if path[first] == "0" else 1)

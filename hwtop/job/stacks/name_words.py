"""The words that names in code are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.lazy_regex import lazy_regex

_WORD = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words(name: str) -> frozenset[str]:
    """ "BatchLoader.next_batch" -> batch, loader, next."""
    return frozenset(_split(name))


def _split(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name.replace("<locals>", "")):
        yield match.group().lower()

"""The words that names in code are made of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words(name: str) -> frozenset[str]:
    """ "BatchLoader.next_batch" -> batch, loader, next."""
    return frozenset(_split(name))


def _split(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name.replace("<locals>", "")):
        yield match.group().lower()

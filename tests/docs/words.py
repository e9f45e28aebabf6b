"""The words of docs/words.toml, and where they appear in texts for users. `python -m tests.docs.words` lists every place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec
import tomli
from msgspec import Struct

from tests.docs.user_texts import SOURCES, Text

FILE = Path(__file__).parent.parent.parent / "docs" / "words.toml"
_AROUND = 30
"""Characters on either side of a hit in which `unless` is searched."""


class Word(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One entry."""

    avoid: str
    say: str
    pattern: str = ""
    unless: str = ""

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """What finds it in a text."""
        return re.compile(self.pattern or rf"\b{re.escape(self.avoid)}\b", re.IGNORECASE)

    def hits(self, text: str) -> list[tuple[int, int]]:
        """Where it appears in `text`, outside of its exceptions: first character and the one after the last."""
        return [hit.span() for hit in self.expression.finditer(text) if not self._is_exception(text, hit)]

    def _is_exception(self, text: str, hit: re.Match[str]) -> bool:
        around = text[max(0, hit.start() - _AROUND) : hit.end() + _AROUND]
        return bool(self.unless) and re.search(self.unless, around) is not None


def words() -> list[Word]:
    """All entries, in the order of the file."""
    return msgspec.convert(tomli.loads(FILE.read_text(encoding="utf-8"))["word"], list[Word])


def violations(texts: Iterable[Text]) -> Iterator[str]:
    """One line for each word in each text: where, what to write instead, and the text. Of entries that overlap the first counts."""
    known = words()
    for text in texts:
        taken: list[tuple[int, int]] = []
        for word in known:
            hits = [hit for hit in word.hits(text.words) if not any(a < hit[1] and hit[0] < b for a, b in taken)]
            taken += hits
            if hits:
                found = text.words[slice(*hits[0])]
                as_in = "" if found.lower() in word.avoid else f" (as in {word.avoid!r})"
                yield f"{text.where}: {found!r}{as_in}, write {word.say!r}: {' '.join(text.words.split())}"


if __name__ == "__main__":
    for name, texts in SOURCES.items():
        for line in violations(texts()):
            print(f"{name}: {line}")

"""The filter of a page: what a person types, and what it lets through. What is typed anywhere is edited here."""

from __future__ import annotations

from msgspec import Struct

from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle

_TOLD = 40
"""Cells of it in a title, so that what it leaves has room there, too."""
_MOST = 200
"""Characters; more than anybody types, less than a pasted file."""


class Hits(Struct, frozen=True):
    """How many rows a filter lets through."""

    kept: int
    total: int
    problem: str
    """Why a term of it is not valid; "" where all are."""


def matches(word: str, text: str) -> bool:
    """Whether `text` holds `word`, upper and lower case alike; with "!" in front, whether it does not."""
    wanted = word.removeprefix("!").casefold()
    return not wanted or (wanted in text.casefold()) != word.startswith("!")


def typed(word: str, text: str, most: int = _MOST) -> str:
    """`word` with `text` typed or pasted at its end: its first line, as far as it can be printed, `most` characters in all."""
    first = text.splitlines()[0] if text else ""
    return (word + "".join(character for character in first if character.isprintable()))[:most]


def edited(word: str, key: str, character: str | None, most: int = _MOST) -> str | None:
    """`word` after this key; None where the key writes nothing."""
    if key in ("backspace", "ctrl+h"):
        return word[:-1]
    if key == "ctrl+u":
        return ""
    return typed(word, character, most) if character and character.isprintable() else None


def reported(word: str, kept: int, total: int, things: str, problem: str = "") -> Line:
    """The filter and what it leaves, for a title; nothing without one. What of it is not understood leaves all."""
    if not word:
        return Line()
    line = Line(f"  filter: {elide_middle(word, _TOLD)}, {kept:,} of {total:,} {things}", "accent")
    return line.add(f"  ▲ {problem}", "warn") if problem else line

"""Keys as people write them: "?", "Z", "F5", "Ctrl-P", "Shift-Tab", "PgDn" become Textual's names. Pure."""

from __future__ import annotations

import re
import unicodedata

from textual.keys import KEY_NAME_REPLACEMENTS

from hwtop.errors import UsageError
from hwtop.suggestion import did_you_mean

_NAMED = {
    **{f"f{number}": f"f{number}" for number in range(1, 25)},
    **{name: name for name in ("up", "down", "left", "right", "home", "end", "insert", "delete", "backspace")},
    **{name: name for name in ("tab", "enter", "space", "escape", "pageup", "pagedown")},
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
}
"""What people call keys that write nothing, in small letters."""
_MODIFIERS = {"ctrl": "ctrl", "control": "ctrl", "alt": "alt", "meta": "alt", "shift": "shift"}
_SAME = {"i": "Tab", "m": "Enter", "j": "Enter", "h": "Backspace", "left_square_bracket": "Esc"}
"""What terminals send for these while Ctrl is held."""


def key_of(word: str) -> str:
    """Textual's name of the key that people call `word`.

    Raises:
        UsageError: there is no such key, or no terminal tells it from another; the message says what would do.
    """
    word = re.sub(r"^\^(?=.)", "Ctrl-", word.strip())
    *before, last = re.split(r"(?<=.)[-+](?=.)", word)
    modifiers = [_MODIFIERS.get(name.casefold(), "") for name in before]
    key = _NAMED.get(last.casefold(), last if last in _CHARACTERS else of_character(last))
    if not key or not all(modifiers):
        hint = did_you_mean(word.casefold(), _NAMED, "write Z, ?, F5, Ctrl-P, PgDn, Space, ...")
        raise UsageError(f"no key {word[:40]!r}: {hint}")
    if modifiers == ["shift"] and len(key) == 1:
        return key.upper()
    key = key.lower() if modifiers else key
    if "ctrl" in modifiers and key == "c":
        raise UsageError("Ctrl-C always quits: choose another key")
    if "ctrl" in modifiers and key in _SAME:
        raise UsageError(f"terminals send {_SAME[key]} for {word}: choose another key")
    return "+".join([*sorted(set(modifiers)), key])


def of_character(character: str) -> str:
    """Textual's name of the key that writes `character`; "" where none does."""
    if len(character) != 1 or not character.isprintable():
        return ""
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


_CHARACTERS = frozenset(map(of_character, map(chr, range(0x21, 0x7F))))
"""Textual's own names of what stands on the keys."""

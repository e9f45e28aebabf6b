"""What keys are called, and which of them an action has: those it is bound to, unless the person's keymap gives it others. Pure.

A keymap is Textual's: id of a binding -> its keys, separated by commas ("k,f9").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from textual.binding import Binding

from hwtop.ui.keys import bindings as keys

Keymap = Mapping[str, str]

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "backslash": "\\",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "comma": ",",
    "full_stop": ".",
    "colon": ":",
    "semicolon": ";",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "exclamation_mark": "!",
    "number_sign": "#",
    "dollar_sign": "$",
    "percent_sign": "%",
    "ampersand": "&",
    "asterisk": "*",
    "at": "@",
    "apostrophe": "'",
    "quotation_mark": '"',
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "circumflex_accent": "^",
    "grave_accent": "`",
    "vertical_line": "|",
    "tilde": "~",
    "underscore": "_",
    "escape": "Esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "down": "↓",
    "up": "↑",
    "right": "→",
    "left": "←",
}
"""Where Textual's word for a key is not what stands on it."""


def name(key: str) -> str:
    """What a person calls `key`: "Ctrl-P" for "ctrl+p"."""
    *modifiers, last = key.strip().split("+")
    last = _NAMES.get(last, last if len(last) == 1 and not modifiers else last.capitalize())
    return "-".join([*(modifier.capitalize() for modifier in modifiers), last])


@cache
def every() -> tuple[Binding, ...]:
    """All bindings of the monitor, in the order in which they are told."""
    return tuple(item for item in (*keys.APP, *keys.MONITOR, keys.INTERRUPT) if isinstance(item, Binding))


@cache
def by_id() -> dict[str, Binding]:
    """The same by their names."""
    return {item.id: item for item in every() if item.id is not None}


def held(binding: Binding, keymap: Keymap) -> tuple[str, ...]:
    """The keys of `binding`, in Textual's words."""
    return tuple(key.strip() for key in keymap.get(binding.id or "", binding.key).split(",") if key.strip())


def shown(binding: Binding, keymap: Keymap) -> str:
    """All its keys, as a person calls them."""
    return " ".join(dict.fromkeys(name(key) for key in held(binding, keymap)))


def first(action: str, keymap: Keymap) -> str:
    """The key to name for the binding with id `action`; "" where it has none."""
    binding = by_id().get(action)
    found = held(binding, keymap) if binding is not None else ()
    return name(found[0]) if found else ""


def several(actions: Sequence[str], keymap: Keymap) -> str:
    """The keys to name for these bindings, one after the other."""
    return " ".join(key for action in actions if (key := first(action, keymap)))


def deed(binding: Binding) -> str:
    """What to run for `binding` from the monitor: its action with its owner."""
    return f"app.{binding.action}" if binding in keys.APP else binding.action


def deed_of(action: str) -> str:
    """The same for the binding with id `action`; "" where there is none."""
    binding = by_id().get(action)
    return deed(binding) if binding is not None else ""

"""What keys are called. Pure.

A keymap is Textual's: id of an action -> its keys, separated by commas ("k,f9"). That of a view names all actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def held(action: str, keymap: Keymap) -> tuple[str, ...]:
    """The keys of the action with this id, in Textual's words."""
    return tuple(key.strip() for key in keymap.get(action, "").split(",") if key.strip())


def shown(action: str, keymap: Keymap) -> str:
    """All its keys, as users call them."""
    return " ".join(dict.fromkeys(name(key) for key in held(action, keymap)))


def first(action: str, keymap: Keymap) -> str:
    """The key to name for this action; "" where it has none."""
    found = held(action, keymap)
    return name(found[0]) if found else ""


def several(actions: Sequence[str], keymap: Keymap) -> str:
    """The keys to name for these actions, one after the other."""
    return " ".join(key for action in actions if (key := first(action, keymap)))

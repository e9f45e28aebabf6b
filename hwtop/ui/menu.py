"""Menus: something to choose from, as lines. Pure; `screens/dialog.py` holds the cursor."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, wrap

T = TypeVar("T")

_WIDEST = 92
_MARGIN = 4
_CHOICE_ROWS = 3
"""Rows that the choices get, however long the words above them."""


class Choice(Struct, Generic[T], frozen=True):
    """One line of a menu."""

    label: str
    value: T
    about: str = ""
    role: str = "strong"
    refusal: str | None = None
    """Why it cannot be chosen now."""


class Menu(Struct, Generic[T], frozen=True):
    """What a person is asked."""

    title: str
    choices: tuple[Choice[T], ...]
    head: tuple[Line, ...] = ()
    """Above the choices, wrapped where too long."""
    keys: tuple[tuple[str, str], ...] = (("Enter", "choose"), ("Esc", "leave"))
    role: str = "border"
    """Of the frame: "border-hot" where the answer can do harm."""


def size(menu: Menu[T], width: int, height: int) -> tuple[int, int]:
    """Cells and rows of the box on a screen of this size."""
    wide = max(1, min(_WIDEST, width - _MARGIN if width > _WIDEST // 2 else width))
    head, blocks = _blocks(menu, inner(wide), None)
    return wide, max(1, min(height, 2 + len(head) + sum(map(len, blocks))))


def draw(menu: Menu[T], cursor: int, width: int, height: int) -> list[Line]:
    """The menu in a box, its choice under the cursor in sight."""
    head, blocks = _blocks(menu, inner(width), cursor)
    rows = [line for block in blocks for line in block]
    head = head[: max(0, height - 2 - min(_CHOICE_ROWS, len(rows)))]
    room = max(1, height - 2 - len(head))
    end = sum(len(block) for block in blocks[: cursor + 1])
    first = max(0, min(end - len(blocks[cursor]), end - room)) if len(rows) > room and blocks else 0
    keys = Line()
    for number, (key, word) in enumerate(menu.keys):
        keys.add("  " if number else "").add(key, "key").add(f" {word}", "label")
    return box([*head, *rows[first:]], width, height, Line(menu.title, "title"), keys, menu.role)


def _blocks(menu: Menu[T], width: int, cursor: int | None) -> tuple[list[Line], list[list[Line]]]:
    head = [Line(text, line.spans[0][1]) for line in menu.head for text in wrap(line.text, width) if line.spans]
    column = max((cells(choice.label) for choice in menu.choices), default=0) + 4
    is_beside = column < width // 2
    blocks = [
        _block(choice, width, column if is_beside else 4, index == cursor) for index, choice in enumerate(menu.choices)
    ]
    return ([*head, Line()] if head else []), blocks


def _block(choice: Choice[T], width: int, column: int, is_chosen: bool) -> list[Line]:
    """The label with what it does beside it, or below it where the labels are long."""
    role = "dim" if choice.refusal is not None else choice.role
    head = Line("▸ " if is_chosen else "  ", "accent").add(choice.label, role)
    said = "cannot be done now: " + choice.refusal if choice.refusal is not None else choice.about
    texts = wrap(said, max(8, width - column))
    is_beside = head.width < column
    lines = [] if is_beside and texts else [head]
    for number, text in enumerate(texts):
        start = head.fitted(column) if is_beside and number == 0 else Line(" " * column)
        lines.append(start.add(text, "dim" if choice.refusal is not None else "text"))
    return [
        Line(line.text, "cursor") if is_chosen and row == 0 else line for row, line in enumerate(_filled(lines, width))
    ]


def _filled(lines: list[Line], width: int) -> list[Line]:
    return [line.fitted(width) for line in lines]

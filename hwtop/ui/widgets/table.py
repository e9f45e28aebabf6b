"""Tables: columns that are dropped by priority until the rest fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells

Row = TypeVar("Row")


class Column(Struct, Generic[Row], frozen=True):
    """One column: its cell is drawn for a row and a width in cells."""

    title: str
    width: int
    cell: Callable[[Row, int], Line]
    priority: int = 0
    """Columns of the highest number are dropped first; 0 is never dropped."""
    grow: int = 0
    """Share of the room that is left."""
    most: int = 1_000
    """Widest."""
    align: str = "left"
    field: str = ""
    """What it shows (see `tables.cells.key`); empty for marks, and in tables of things that have no fields."""


GAP = 2


def chosen(columns: Sequence[Column[Row]], width: int) -> list[tuple[Column[Row], int]]:
    """The columns that fit into `width` cells, each with its width."""
    kept = list(columns)
    while kept and _needed(kept) > width:
        dearest = max(kept, key=lambda column: column.priority)
        if dearest.priority == 0:
            break
        kept.remove(dearest)
    room = max(0, width - _needed(kept))
    widths = {id(column): column.width for column in kept}
    growing = [column for column in kept if column.grow]
    while room > 0 and growing:
        total = sum(column.grow for column in growing)
        shares = [(column, max(1, room * column.grow // total)) for column in growing]
        for column, share in shares:
            more = min(share, room, column.most - widths[id(column)])
            widths[id(column)] += more
            room -= more
        growing = [column for column in growing if widths[id(column)] < column.most]
    return [(column, widths[id(column)]) for column in kept]


def header(columns: Sequence[tuple[Column[Row], int]], marks: Mapping[str, str] | None = None) -> Line:
    """The titles. A mark, by the title in small letters, e.g. of the column that the rows go by, stands behind its title;
    where that has no room, in the gap behind it."""
    line, end = Line(), 0
    for number, (column, width) in enumerate(columns):
        mark = (marks or {}).get(column.title.casefold(), "")
        line.add(" " * max(0, GAP - (line.width - end)) if number else "")
        end = line.width + width
        line.extend(
            Line(column.title, "label").add(mark, "accent").fitted(max(width, cells(column.title + mark)), column.align)
        )
    return line


def row(columns: Sequence[tuple[Column[Row], int]], item: Row) -> Line:
    """The cells of one row."""
    return _joined([column.cell(item, width).fitted(width, column.align) for column, width in columns])


def column_at(columns: Sequence[tuple[Column[Row], int]], x: int) -> str:
    """Title of the column at cell `x` of a row; the gap behind it belongs to it, as its mark may stand there."""
    end = 0
    for column, width in columns:
        end += width + GAP
        if 0 <= x < end:
            return column.title
    return ""


def window(count: int, height: int, first: int) -> range:
    """The rows to show when `count` of them have `height` rows of room and `first` is wanted on top."""
    first = max(0, min(first, count - height))
    return range(first, min(count, first + height))


def around(count: int, height: int, cursor: int) -> range:
    """The rows to show so that row `cursor` is in sight, in the middle where possible."""
    return window(count, height, cursor - height // 2)


def part(shown: range, count: int) -> str:
    """Which rows of `count` are shown: "3–7 of 20"."""
    return f"{shown.start + 1}–{shown.stop} of {count}"


def note(shown: range, count: int, whole: Line) -> Line:
    """Which rows of `count` are shown; `whole` where that is all of them."""
    return Line(part(shown, count), "accent") if len(shown) < count else whole


def _needed(columns: Sequence[Column[Row]]) -> int:
    return sum(column.width for column in columns) + GAP * max(0, len(columns) - 1)


def _joined(parts: list[Line]) -> Line:
    line = Line()
    for number, part in enumerate(parts):
        line.add(" " * GAP if number else "").extend(part)
    return line

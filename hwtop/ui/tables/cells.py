"""Fields on the screen: their numbers in the colour of their level, as text, bars and columns of a table. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from hwtop.fields import units
from hwtop.fields.field import Column as Place
from hwtop.fields.field import Field, Table
from hwtop.fields.level import Level, Levels
from hwtop.ui import marks
from hwtop.ui.widgets.bar import bar as drawn_bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

Row = TypeVar("Row")
Cell = Callable[[Row, int], Line]
"""A row and the cells that there are -> what is drawn."""


def number(field: Field[Row], row: Row, levels: Levels, calm: str = "text") -> Line:
    """The value, with a mark where its level is reached; `calm` is the role where it is not."""
    role, mark = tone(field, row, levels, calm)
    return Line(f"{mark}{field.text(row)}", role)


def labelled(field: Field[Row], row: Row, levels: Levels, label: str = "") -> Line:
    """The value behind its label."""
    return Line(f"{label or field.label} ", "label").extend(number(field, row, levels))


def tone(field: Field[Row], row: Row, levels: Levels, calm: str = "text") -> tuple[str, str]:
    """(role, mark) of the value."""
    if field.value(row) is None:
        return "dim", ""
    return marks.tone(field.level(row, levels), field.number(row), calm)


def bar(field: Field[Row], row: Row, levels: Levels, width: int) -> Line:
    """A bar from 0 to 100 %, on which the limits are marked."""
    value = field.number(row)
    share = None if value is None else value / 100
    return drawn_bar(share, width, tone(field, row, levels, "info")[0], ticks(field.level(row, levels)))


def ticks(level: Level | None) -> list[float]:
    """Shares of a bar at which the limits are."""
    return [limit / 100 for limit in level.limits if limit < 100] if level else []


def columns(
    table: Table, fields: Iterable[Field[Any]], levels: Levels, drawn: Mapping[str, Cell[Row]]
) -> list[Column[Row]]:
    """The columns of a table in the order of the fields; `drawn`: by `key`, what cells are drawn with that show more than
    the value."""
    return [
        column(field, place, levels, drawn.get(key(field, place.shape)))
        for field in fields
        for place in field.columns.get(table, ())
    ]


def key(field: Field[Any], shape: str = "text") -> str:
    """Of one column of this field among all of a table."""
    return field.id if shape == "text" else f"{field.id}:{shape}"


def column(field: Field[Any], place: Place, levels: Levels, drawn: Cell[Row] | None = None) -> Column[Row]:
    """One column of a table."""
    cell = drawn or partial(_text if place.shape == "text" else _bar, field, levels)
    return Column(
        title=field.label if place.title is None else place.title,
        width=place.width,
        cell=cell,
        priority=place.priority,
        grow=place.grow,
        most=place.most,
        align=place.align or ("left" if field.kind == "word" else "right"),
        field=key(field, place.shape),
    )


def _text(field: Field[Row], levels: Levels, row: Row, _: int) -> Line:
    return number(field, row, levels)


def _bar(field: Field[Row], levels: Levels, row: Row, width: int) -> Line:
    return bar(field, row, levels, width)


def plain(text: str) -> Line:
    """Text, or the dash of what is unknown."""
    return Line(text, "dim" if text == units.UNKNOWN else "text")

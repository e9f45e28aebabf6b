"""In which order a table lists its rows, and the words for it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from hwtop.fields import process, rank
from hwtop.fields.field import Field, Sort
from hwtop.ui.view import TREE, View

Row = TypeVar("Row")

_RISES, _FALLS = "↑", "↓"


def named(view: View) -> str:
    """The order of the table of this page: the name of a field, or "tree"."""
    return view.process_order if view.page == "processes" else view.order if view.page == "ranks" else "rank"


def is_falling(view: View) -> bool:
    """Whether the largest stands first."""
    sort = _sort(view, named(view))
    return sort is not None and sort.is_rising == (view.page in view.reversed_pages)


def is_plain(view: View) -> bool:
    """Whether the ranks stand by their numbers, all of them."""
    return named(view) == "rank" and not is_falling(view) and not (view.page == "ranks" and view.filter)


def words(view: View) -> str:
    """The order in words; nothing for a plain tree."""
    sort = _sort(view, view.process_order if view.page == "processes" else view.order)
    return "" if sort is None else sort.turned if view.page in view.reversed_pages else sort.words


def marked(view: View) -> dict[str, str]:
    """Name of the column that the table goes by -> the glyph of its direction; on its own page alone."""
    if view.page not in ("ranks", "processes"):
        return {}
    return {named(view): _FALLS if is_falling(view) else _RISES}


def following(view: View) -> View:
    """Ordered by the next column, its own way round."""
    every = process.CYCLE if view.page == "processes" else rank.CYCLE
    now = view.process_order if view.page == "processes" else view.order
    return _ordered(view, every[(every.index(now) + 1) % len(every) if now in every else 0])


def by(view: View, column: str) -> View:
    """Ordered by the column of this title; where it is so already, the other way round."""
    name = column.casefold()
    if name != TREE and (name not in _fields(view) or _fields(view)[name].sort is None):
        return replace(view, note=f"the table has no order by {column}" if column else view.note)
    return turned(view) if name == named(view) else _ordered(view, name)


def turned(view: View) -> View:
    """The other way round; a tree has only one."""
    if named(view) == TREE:
        return replace(view, note="a tree has one order; o sorts by a column")
    return replace(view, reversed_pages=view.reversed_pages ^ {view.page})


def sorted_rows(view: View, rows: Iterable[Row], field: Field[Row]) -> tuple[Row, ...]:
    """The rows in the order of this field."""
    key = field.sort.key if field.sort else None
    return arranged(view, rows, key or field.value)


def arranged(view: View, rows: Iterable[Row], value: Callable[[Row], object]) -> tuple[Row, ...]:
    """The rows by this value of each; what is not known stands last, whichever way round. Equal ones keep their places."""
    known: list[Row] = []
    unknown: list[Row] = []
    for row in rows:
        number = value(row)
        (unknown if number is None else known).append(row)
    known.sort(key=lambda row: cast("float", value(row)), reverse=is_falling(view))
    return (*known, *unknown)


def _ordered(view: View, name: str) -> View:
    fresh = replace(view, reversed_pages=view.reversed_pages - {view.page})
    return replace(fresh, process_order=name) if view.page == "processes" else replace(fresh, order=name)


def _fields(view: View) -> dict[str, Field[Any]]:
    """Those of the table of this page, by name."""
    return process.PROCESS.named() if view.page == "processes" else rank.RANK.named()


def _sort(view: View, name: str) -> Sort[Any] | None:
    field = _fields(view).get(name)
    return field.sort if field else None

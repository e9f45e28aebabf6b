"""In which order a table lists its rows, and how that is told. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar, cast

from hwtop.ui.view import ORDERS, PROCESS_ORDERS, Order, ProcessOrder, View

Row = TypeVar("Row")

_RANKS: dict[Order, tuple[str, str]] = {
    "rank": ("by number", "by number, highest first"),
    "state": ("sickest first", "healthiest first"),
    "step": ("fewest steps first", "most steps first"),
    "wait": ("least waiting first", "most waiting first"),
    "s/step": ("slowest steps first", "fastest steps first"),
    "cpu": ("most CPU first", "least CPU first"),
    "mem": ("most memory first", "least memory first"),
    "pid": ("by PID", "by PID, highest first"),
    "gpu": ("by GPU", "by GPU, highest first"),
    "ago": ("oldest step first", "newest step first"),
    "phase": ("by phase", "by phase, last first"),
    "workers": ("most workers first", "fewest workers first"),
    "log": ("most silent first", "newest log first"),
}
"""Words for each, and for the other way round."""
_PROCESSES: dict[ProcessOrder, tuple[str, str]] = {
    "tree": ("", ""),
    "cpu": ("most CPU first", "least CPU first"),
    "mem": ("most memory first", "least memory first"),
    "threads": ("most threads first", "fewest threads first"),
    "read": ("most read first", "least read first"),
    "write": ("most written first", "least written first"),
    "pid": ("by PID", "by PID, highest first"),
    "role": ("by role", "by role, last first"),
    "rank": ("by rank", "by rank, highest first"),
    "state": ("sickest first", "healthiest first"),
    "files": ("most files first", "fewest files first"),
}
_RISING = frozenset({"rank", "step", "wait", "pid", "gpu", "phase", "role"})
"""The smallest stands first, unless the other way was asked for."""
_RISES, _FALLS = "↑", "↓"


def named(view: View) -> str:
    """The order of the table of this page: the name of a field, or "tree"."""
    return view.process_order if view.page == "processes" else view.order if view.page == "ranks" else "rank"


def is_falling(view: View) -> bool:
    """Whether the largest stands first."""
    return (named(view) not in _RISING) != (view.page in view.reversed_pages)


def is_plain(view: View) -> bool:
    """Whether the ranks stand by their numbers, all of them."""
    return named(view) == "rank" and not is_falling(view) and not (view.page == "ranks" and view.filter)


def words(view: View) -> str:
    """The order in words; nothing for a plain tree."""
    both = _PROCESSES[view.process_order] if view.page == "processes" else _RANKS[view.order]
    return both[view.page in view.reversed_pages]


def marked(view: View) -> dict[str, str]:
    """Name of the column that the table goes by -> the glyph of its direction; on its own page alone."""
    if view.page not in ("ranks", "processes"):
        return {}
    return {named(view): _FALLS if is_falling(view) else _RISES}


def following(view: View) -> View:
    """Ordered by the next column, its own way round."""
    fresh = replace(view, reversed_pages=view.reversed_pages - {view.page})
    if view.page == "processes":
        return replace(fresh, process_order=_next(PROCESS_ORDERS, view.process_order))
    return replace(fresh, order=_next(ORDERS, view.order))


def by(view: View, column: str) -> View:
    """Ordered by the column of this title; where it is so already, the other way round."""
    name = column.casefold()
    every = _PROCESSES if view.page == "processes" else _RANKS
    if name not in every:
        return replace(view, note=f"the table has no order by {column}" if column else view.note)
    if name == named(view):
        return turned(view)
    fresh = replace(view, reversed_pages=view.reversed_pages - {view.page})
    if view.page == "processes":
        return replace(fresh, process_order=cast("ProcessOrder", name))
    return replace(fresh, order=cast("Order", name))


def turned(view: View) -> View:
    """The other way round; a tree has only one."""
    if named(view) == "tree":
        return replace(view, note="a tree has one order; o sorts by a column")
    return replace(view, reversed_pages=view.reversed_pages ^ {view.page})


def arranged(view: View, rows: Iterable[Row], value: Callable[[Row], object]) -> tuple[Row, ...]:
    """The rows by this value of each; what is not known stands last, whichever way round. Equal ones keep their places."""
    known: list[Row] = []
    unknown: list[Row] = []
    for row in rows:
        number = value(row)
        (unknown if number is None else known).append(row)
    known.sort(key=lambda row: cast("float", value(row)), reverse=is_falling(view))
    return (*known, *unknown)


def _next(every: tuple[Row, ...], now: Row) -> Row:
    return every[(every.index(now) + 1) % len(every) if now in every else 0]

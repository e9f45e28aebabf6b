"""Which column a table is sorted by, and which processes are tagged in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from hwtop.model.member import JobProcess
from hwtop.ui.tables import tags
from hwtop.ui.tables.order import SortableTable
from hwtop.ui.view import View


def sorted_next(view: View, table: SortableTable[Any]) -> View:
    """Sorted by the next column, its own way round."""
    now = table.order(view)
    at = table.cycle.index(now) + 1 if now in table.cycle else 0
    return _sorted(view, table, table.cycle[at % len(table.cycle)])


def sorted_by(view: View, table: SortableTable[Any], column: str) -> View:
    """Sorted by the column of this title; where it is so already, the other way round."""
    name = column.casefold()
    if name != table.state().order and (name not in table.fields or table.fields[name].sort is None):
        return replace(view, note=f"the table has no order by {column}" if column else view.note)
    return reversed_(view, table) if name == table.order(view) else _sorted(view, table, name)


def reversed_(view: View, table: SortableTable[Any]) -> View:
    """The other way round; a tree has only one."""
    state = view.state(table.state)
    if state.order not in table.fields:
        return replace(view, note="a tree has one order; o sorts by a column")
    return view.with_state(replace(state, is_reversed=not state.is_reversed))


def _sorted(view: View, table: SortableTable[Any], order: str) -> View:
    return view.with_state(replace(view.state(table.state), order=order, is_reversed=False))


def toggled(view: View, items: Iterable[JobProcess], further: View) -> View:
    """`further`, the view with the cursor moved on, with these tagged, or no longer where all of them are."""
    found = {tags.tag(item) for item in items}
    return replace(further, tagged=view.tagged - found if found <= view.tagged else view.tagged | found)


def untagged(view: View) -> View:
    """Without tags."""
    count = len(tags.tagged(view))
    return replace(view, tagged=frozenset(), note=f"{count} untagged" if count else "nothing is tagged")

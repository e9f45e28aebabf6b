"""What the keys of every page with a sortable table do."""

from __future__ import annotations

from typing import Any

from hwtop.ui.pages.page import Reducer
from hwtop.ui.reducers import tables
from hwtop.ui.tables.order import SortableTable


def keys(table: SortableTable[Any]) -> dict[str, Reducer]:
    """Action -> what it does with this table."""
    return {
        "untag": lambda view, _: tables.untagged(view),
        "sort-cpu": lambda view, _: tables.sorted_by(view, table, "cpu"),
        "sort-mem": lambda view, _: tables.sorted_by(view, table, "mem"),
        "order": lambda view, _: tables.sorted_next(view, table),
        "reverse": lambda view, _: tables.reversed_(view, table),
    }

"""A table that can be sorted: in which order it lists its rows, and the words for it. Pure; `reducers/tables.py` sorts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Generic, TypeVar, cast

from msgspec import Struct

from hwtop.fields.field import Field, Sort, Subject
from hwtop.ui.view import View

Row = TypeVar("Row")

_RISES, _FALLS = "↑", "↓"


class TableState(Struct, frozen=True):
    """What the page of a sortable table remembers of it."""

    order: str = ""
    """Name of the field that it is sorted by, or one that is none of a field."""
    is_reversed: bool = False
    """The other way round than the field says."""


class SortableTable(Struct, Generic[Row], frozen=True, dict=True):
    """A table that its page can sort and filter."""

    name: str
    """Of its page and its filter."""
    subject: Subject[Row]
    cycle: tuple[str, ...]
    """The orders that one key goes through."""
    state: type[TableState]
    """Of its page: with the order at the start as the default."""

    @cached_property
    def fields(self) -> Mapping[str, Field[Row]]:
        """What can be asked of a row, by name."""
        return self.subject.named()

    def order(self, view: View) -> str:
        """The order it is in."""
        return view.state(self.state).order

    def is_falling(self, view: View) -> bool:
        """Whether the largest stands first."""
        sort = self._sort(view)
        return sort is not None and sort.is_rising == view.state(self.state).is_reversed

    def words(self, view: View) -> str:
        """The order in words; nothing where it is none of a field."""
        sort = self._sort(view)
        return "" if sort is None else sort.turned if view.state(self.state).is_reversed else sort.words

    def marked(self, view: View) -> dict[str, str]:
        """Name of the column that it goes by -> the glyph of its direction."""
        return {self.order(view): _FALLS if self.is_falling(view) else _RISES}

    def arranged(self, view: View, rows: Iterable[Row]) -> tuple[Row, ...]:
        """The rows in this order; what is not known stands last, whichever way round. Equal ones keep their places."""
        field = self.fields.get(self.order(view))
        if field is None:
            return tuple(rows)
        value = (field.sort and field.sort.key) or field.value
        known: list[Row] = []
        unknown: list[Row] = []
        for row in rows:
            (unknown if value(row) is None else known).append(row)
        known.sort(key=lambda row: cast("float", value(row)), reverse=self.is_falling(view))
        return (*known, *unknown)

    def _sort(self, view: View) -> Sort[Row] | None:
        field = self.fields.get(self.order(view))
        return field.sort if field else None

"""What the ranks page remembers, and its table."""

from __future__ import annotations

from hwtop.fields import rank
from hwtop.ui.tables.order import SortableTable, TableState
from hwtop.ui.view import OwnState


class RanksState(TableState, OwnState, frozen=True):
    """By their numbers at the start."""

    order: str = "rank"


RANKS = SortableTable("ranks", rank.RANK, rank.CYCLE, RanksState)

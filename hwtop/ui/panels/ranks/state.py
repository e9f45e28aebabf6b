"""What the ranks page remembers, and its table."""

from __future__ import annotations

from dataclasses import dataclass

from hwtop.fields import rank
from hwtop.ui.tables.order import SortableTable, TableState
from hwtop.ui.view import OwnState


@dataclass(frozen=True)
class RanksState(TableState, OwnState):
    """By their numbers at the start."""

    order: str = "rank"


RANKS = SortableTable("ranks", rank.RANK, rank.CYCLE, RanksState)

"""What the processes page remembers, and its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from hwtop.fields import process
from hwtop.ui.tables.order import SortableTable, TableState
from hwtop.ui.view import Tag

TREE = "tree"
"""The order that is none of a field: each process below its parent."""

Inside = Literal["", "env", "files"]
"""What is shown of one process; "" = the tree of all."""


class ProcessesState(TableState, frozen=True):
    """The tree at the start."""

    order: str = TREE
    pid: int | None = None
    """Of the process under the cursor (see `view.selected`)."""
    inside: Inside = ""
    folds: Mapping[int, bool] = field(default_factory=dict)
    """PID of a branch of the tree -> whether the user has it folded; others are as `tree.folded` has them."""
    followed: Tag | None = None
    """The process whose end is reported; it is under the cursor."""


PROCESSES = SortableTable("processes", process.PROCESS, process.CYCLE, ProcessesState)

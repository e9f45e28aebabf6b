"""Tags: the processes that the next signal is meant for, chosen one by one on the pages of processes and ranks. Pure;
`reducers/tables.py` changes them."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank
from hwtop.ui.view import Tag, View
from hwtop.ui.widgets.line import Line

GLYPH = "•"
"""In a column of its own."""


def tag(item: JobProcess) -> Tag:
    """What identifies this process."""
    return item.pid, item.start_ticks


def is_tagged(view: View, item: JobProcess) -> bool:
    """Whether a signal is meant for it: what has ended gets none."""
    return tag(item) in view.tagged and item.state not in ("Z", "X")


def tagged(view: View) -> tuple[JobProcess, ...]:
    """Those that are still there."""
    return tuple(item for item in view.job.processes if is_tagged(view, item)) if view.job and view.tagged else ()


def glyph(view: View, items: Iterable[JobProcess]) -> str:
    """The mark of a row that stands for these processes."""
    return GLYPH if view.tagged and any(is_tagged(view, item) for item in items) else " "


def glyph_of_rank(view: View, rank: Rank) -> str:
    """The mark of a rank's row: that of its process."""
    return glyph(view, of_rank(view, rank)) if view.tagged else " "


def reported(view: View) -> Line:
    """How many, for a title; nothing without any."""
    count = len(tagged(view))
    return Line(f"  {GLYPH} {count:,} tagged", "accent") if count else Line()


def of_rank(view: View, rank: Rank) -> tuple[JobProcess, ...]:
    """Its process, while there is one."""
    processes = view.processes
    return tuple(item for item in processes if item.role == "rank" and item.pid == rank.pid)

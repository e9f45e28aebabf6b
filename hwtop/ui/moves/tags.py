"""Tags: the processes that the next signal is meant for, chosen one by one on the pages of processes and ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank
from hwtop.ui import process_view, rank_view
from hwtop.ui.view import Tag, View
from hwtop.ui.widgets.line import Line

GLYPH = "•"
"""In a column of its own."""


def tag(item: JobProcess) -> Tag:
    """What tells this process from every other."""
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
    return glyph(view, _of_rank(view, rank)) if view.tagged else " "


def toggled(view: View) -> View:
    """What is under the cursor tagged, or no longer, and the cursor a row further."""
    if view.page == "processes" and not view.inside:
        row = process_view.row(view)
        items = row.processes if row else ()
        further = process_view.moved(view, 1)
    elif view.page == "ranks":
        items = _of_rank(view, view.rank) if view.rank else ()
        further = rank_view.stepped(view, 1)
    else:
        return view
    if not items:
        why = "has ended" if view.rank else "is not chosen yet"
        return replace(view, note=f"nothing to tag: the rank {why}" if view.page == "ranks" else "nothing to tag")
    tags = {tag(item) for item in items}
    kept = view.tagged - tags if tags <= view.tagged else view.tagged | tags
    return replace(further, tagged=kept)


def cleared(view: View) -> View:
    """Without tags."""
    count = len(tagged(view))
    return replace(view, tagged=frozenset(), note=f"{count} untagged" if count else "nothing is tagged")


def told(view: View) -> Line:
    """How many, for a title; nothing without any."""
    count = len(tagged(view))
    return Line(f"  {GLYPH} {count:,} tagged", "accent") if count else Line()


def _of_rank(view: View, rank: Rank) -> tuple[JobProcess, ...]:
    processes = view.job.processes if view.job else ()
    return tuple(item for item in processes if item.role == "rank" and item.pid == rank.pid)

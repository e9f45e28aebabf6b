"""Which rank is selected, on every page. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.model.rank import Rank
from hwtop.ui.panels.ranks.view import ordered
from hwtop.ui.view import View


def stepped(view: View, step: int) -> View:
    """The rank `step` places further is selected; from nothing, from the blamed one, which is shown then; else the first or the last."""
    ranks = ordered(view)
    if not ranks:
        return view
    at = _place(view, ranks)
    if at is None:
        return replace(view, selected=ranks[0 if step > 0 else -1].rank)
    return replace(view, selected=ranks[max(0, min(len(ranks) - 1, at + step))].rank)


def moved(view: View, right: int, down: int, columns: int) -> View:
    """The rank in this direction of a grid is selected; at an edge nothing moves."""
    ranks = ordered(view)
    at = _place(view, ranks)
    if at is None or 0 <= at + right + down * columns < len(ranks):
        return stepped(view, right + down * columns)
    return view


def _place(view: View, ranks: Sequence[Rank]) -> int | None:
    return next((index for index, rank in enumerate(ranks) if rank.rank == view.focused_rank), None)


def next_group(view: View, step: int) -> View:
    """The first rank of the next group of stacks is selected."""
    groups = view.job.stacks.groups if view.job else ()
    if not groups:
        return view
    here = next((index for index, group in enumerate(groups) if view.selected in group.ranks), None)
    at = 0 if here is None else max(0, min(len(groups) - 1, here + step))
    return view if at == here else replace(view, selected=groups[at].ranks[0], scroll=0)

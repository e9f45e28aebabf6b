"""The ranks in the order of the screen, and the way from one to the next. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.model.job import Rank, RankState
from hwtop.ui.view import ORDERS, View

WORST_FIRST: tuple[RankState, ...] = (
    "dead",
    "stopped",
    "stuck",
    "stalled",
    "slow",
    "data-wait",
    "unknown",
    "starting",
    "collective-wait",
    "checkpoint",
    "eval",
    "training",
)
"""Who keeps the others waiting stands before those who wait."""


def ordered(view: View) -> tuple[Rank, ...]:
    """The job's ranks as the ranks page lists them; what is not known comes last."""
    ranks = view.job.ranks if view.job else ()
    if view.page != "ranks" or view.order == "rank":
        return ranks
    return tuple(sorted(ranks, key=lambda rank: (_key(view, rank), rank.rank)))


def _key(view: View, rank: Rank) -> tuple[bool, float]:
    if view.order == "state":
        return False, WORST_FIRST.index(rank.state)
    if view.order == "step":
        step = rank.progress.step if rank.progress else None
        return step is None, step or 0
    return rank.wait_share is None, rank.wait_share or 0.0


def next_order(view: View) -> View:
    """Ordered by the next criterion."""
    return replace(view, order=ORDERS[(ORDERS.index(view.order) + 1) % len(ORDERS)])


def stepped(view: View, step: int) -> View:
    """The rank `step` places further is selected; from nothing, the first or the last."""
    ranks = ordered(view)
    if not ranks:
        return view
    place = next((index for index, rank in enumerate(ranks) if rank.rank == view.selected), None)
    if place is None:
        return replace(view, selected=ranks[0 if step > 0 else -1].rank)
    return replace(view, selected=ranks[max(0, min(len(ranks) - 1, place + step))].rank)


def moved(view: View, right: int, down: int, size: tuple[int, int]) -> View:  # noqa: ARG001
    """The rank that stands in this direction is selected."""
    return stepped(view, right + down)


def next_group(view: View, step: int) -> View:
    """The first rank of the next group of stacks is selected."""
    groups = view.job.stack_groups if view.job else ()
    if not groups:
        return view
    here = next((index for index, group in enumerate(groups) if view.selected in group.ranks), None)
    place = 0 if here is None else max(0, min(len(groups) - 1, here + step))
    return view if place == here else replace(view, selected=groups[place].ranks[0], scroll=0)

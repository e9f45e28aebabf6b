"""Where the arrows lead: a view and a direction in, a view out. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.ui import flame_view, process_view, rank_view
from hwtop.ui.layout import arrange, scrollable
from hwtop.ui.panels import picker, processes, rank_map, ranks
from hwtop.ui.view import View

Size = tuple[int, int]
"""Cells and rows of the terminal."""


def moved(view: View, right: int, down: int, size: Size) -> View:
    """What this page moves: the job to pick, the lines, the function of the flame, or the selected rank."""
    if view.is_picking:
        last = max(0, len(picker.candidates(view)) - 1)
        return replace(view, cursor=max(0, min(last, view.cursor + down)))
    if view.page == "processes" and not view.inside:
        return process_view.moved(view, down)
    if view.page in ("logs", "processes"):
        return scrolled(view, down, size) if down else view
    if view.page == "flame":
        return flame_view.moved(view, right, down)
    if view.page == "stacks" and right:
        return rank_view.next_group(view, right)
    at = arrange(view, *size).get("rank-map")
    return rank_view.moved(view, right, down, rank_map.columns(view, at.width, at.height) if at else 1)


def scrolled(view: View, rows: int, size: Size) -> View:
    """This page, `rows` further down; logs scroll away from their end."""
    if view.is_picking:
        return moved(view, 0, rows, size)
    if view.page == "processes" and not view.inside:
        return process_view.moved(view, rows)
    most = scrollable(view, *size)
    before = min(view.scroll, most)
    scroll = max(0, min(most, before - rows if view.page == "logs" else before + rows))
    return replace(view, scroll=scroll, is_following=not scroll)


def opened(view: View) -> View:
    """The view on a page that was just opened: pages about one rank select one, so that it is looked at closely."""
    if view.page in ("stacks", "flame") and view.rank is None and view.shown_rank is not None:
        return replace(view, selected=view.shown_rank.rank)
    return process_view.closed(view)


def clicked(view: View, panel: str, at: tuple[int, int], size: Size) -> View:
    """The view after a click at this cell of a panel: a rank or process that stands there is selected."""
    rank = None
    if panel == "ranks":
        rank = ranks.rank_at(view, at[1], size[1])
    elif panel == "rank-map":
        rank = rank_map.rank_at(view, *at, *size)
    elif panel == "processes" and not view.inside:
        rows = processes.shown(view, size[1])
        if 0 <= at[1] - 2 < len(rows):
            return process_view.chosen(view, rows[at[1] - 2])
    return view if rank is None else replace(view, selected=rank)

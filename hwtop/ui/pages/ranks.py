"""The ranks page: the ranks side by side, and all about one; and where they stand in the overview. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages import tabular
from hwtop.ui.pages.page import Cell, Companion, Page, PagePanel, PlacesOf, Size, selecting_rank, turned
from hwtop.ui.panels.ranks import card as rank_card
from hwtop.ui.panels.ranks import map as rank_map
from hwtop.ui.panels.ranks import table as ranks
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.state import RANKS
from hwtop.ui.reducers import ranks as rank_moves
from hwtop.ui.reducers import tables
from hwtop.ui.tables import tags
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.place import WIDE, Place, row, stack

_DIFFER_LEAST, _DIFFER_WIDE = 4, 56
"""Rows for titles, frame and one rank that differs; cells from which the list of them stands beside the map."""
_DIFFER_FEW = 8
"""Rows of that list in the overview."""
_STACK_LEAST = 16
"""Rows from which a rank's stack stands beside its card."""
_TABLE_LEAST = 6
"""Rows from which the first ranks have a line below the map of all."""


def one_rank(at: Place) -> dict[str, Place]:
    """All about one rank, with its stack beside it where there is room."""
    if at.width < WIDE or at.height < _STACK_LEAST:
        return {"rank-card": at}
    return row(("rank-card", "stack"), at)


def wanted(view: View, width: int, most: int) -> int:
    """Rows that the overview gives the ranks at most: a line each, or the map of many and the list of those that differ."""
    if not rank_map.is_wanted(view, most):
        return ranks.wanted(view, width)
    cells, rows = rank_map.wanted(view, width, max(_DIFFER_LEAST, most - _DIFFER_LEAST))
    return rows if width - cells >= _DIFFER_WIDE else rows + _DIFFER_FEW


def in_overview(view: View, at: Place) -> dict[str, Place]:
    """The ranks in this part of the overview: many are a map where all of it has room, the rest below or beside it."""
    if not rank_map.is_wanted(view, at.height) or at.height < _DIFFER_LEAST + _TABLE_LEAST:
        return {"ranks": at}
    cells, rows = rank_map.wanted(view, at.width, at.height - _DIFFER_LEAST)
    if rank_map.is_cut(view, cells, rows):
        return {"ranks": at}
    if at.width - cells >= _DIFFER_WIDE:
        rows = rows if at.height - rows >= _TABLE_LEAST else at.height
        sides = {
            "rank-map": Place(at.x, at.y, cells, rows),
            "rank-differ": Place(at.x + cells, at.y, at.width - cells, rows),
        }
        return sides | ({"ranks": Place(at.x, at.y + rows, at.width, at.height - rows)} if rows < at.height else {})
    differ = min(rank_map.wanted_differing(view), at.height - rows)
    differ = differ if at.height - rows - differ >= _TABLE_LEAST else at.height - rows
    below = [("rank-map", rows), ("rank-differ", differ), ("ranks", at.height - rows - differ)]
    return {
        name: Place(at.x, place.y, place.width, place.height) for name, place in stack(below, at.y, at.width).items()
    }


def _in_table(view: View, at: Cell, size: Size) -> View:
    return _selected(view, ranks.rank_at(view, at[1], size[1]))


def _in_own_table(view: View, at: Cell, size: Size) -> View:
    """A click on a title sorts; the last row is the legend."""
    if at[1] == 1:
        return tables.sorted_by(view, RANKS, ranks.column_at(view, at[0], size[0]))
    return _in_table(view, at, (size[0], size[1] - 1))


def _in_map(view: View, at: Cell, size: Size) -> View:
    return _selected(view, rank_map.rank_at(view, *at, *size))


def _in_differing(view: View, at: Cell, size: Size) -> View:
    return _selected(view, rank_map.differing_at(view, at[1], size[1]))


def _selected(view: View, rank: int | None) -> View:
    return view if rank is None else replace(view, selected=rank)


def _tag(view: View, _: PlacesOf) -> View:
    """The process of the selected rank, and on to the next one."""
    items = tags.of_rank(view, view.rank) if view.rank else ()
    if not items:
        return replace(view, note=f"nothing to tag: the rank {'has ended' if view.rank else 'is not selected yet'}")
    return tables.toggled(view, items, rank_moves.stepped(view, 1))


class RanksPage(Page):
    """A line a rank where all fit, else the map with those that differ; below them all about one rank."""

    name = "ranks"
    title = "Ranks"
    tab = Action("ranks", "2", "ranks", "The ranks side by side, and all about one")
    panels = {
        "ranks": PagePanel(ranks.draw, click=_in_table, wheel=rank_moves.stepped),
        "rank-map": PagePanel(rank_map.draw, click=_in_map, wheel=rank_moves.stepped),
        "rank-differ": PagePanel(rank_map.draw_differing, click=_in_differing, wheel=rank_moves.stepped),
        "rank-card": PagePanel(rank_card.draw, wheel=rank_moves.stepped),
    }
    main = ("ranks", "rank-map")
    companions = (Companion("stack", "logs"),)
    variants = {
        "ranks": replace(panels["ranks"], draw=partial(ranks.draw, is_own=True), click=_in_own_table),
        "rank-map": replace(panels["rank-map"], draw=partial(rank_map.draw, is_own=True)),
    }
    keys = {**tabular.keys(RANKS), "tag": _tag}
    lists = frozenset({"left", "right", "filter"})

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """A line a rank where all fit, else the map with those that differ; below them all about one rank."""
        room = bottom - top
        has_legend = bool(view.job and view.job.ranks)
        if not rank_map.is_wanted(view, room - rank_card.LEAST - has_legend):
            rows = max(3, min(ranks.lines_wanted(view) + has_legend, room - rank_card.LEAST))
            return stack([("ranks", rows)], top, width) | one_rank(Place(0, top + rows, width, room - rows))
        cells, rows = rank_map.wanted(view, width, room - rank_card.LEAST - _DIFFER_LEAST)
        if width - cells < _DIFFER_WIDE:
            left = room - rows - rank_card.LEAST
            differ = min(rank_map.wanted_differing(view), max(_DIFFER_LEAST, left // 2))
            return stack([("rank-map", rows), ("rank-differ", differ), ("rank-card", room - rows - differ)], top, width)
        rows = max(rows, min(rank_map.wanted_differing(view), room // 2))
        sides = {"rank-map": Place(0, top, cells, rows), "rank-differ": Place(cells, top, width - cells, rows)}
        return sides | one_rank(Place(0, top + rows, width, room - rows))

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The stack of the rank that is shown, whether it was selected or a finding blames it."""
        return turned(selecting_rank(view), "stacks")

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (
            (("down", "up"), "rank"),
            (("choose",), "its stack"),
            (("filter",), "filter"),
            (("order", "reverse"), "sort"),
            (("panel-alone",), "large"),
        )

    def hits(self, view: View) -> Hits:
        """Ranks."""
        total = len(view.job.ranks) if view.job else 0
        return Hits(len(rank_view.ordered(view)), total, rank_view.query(view).problem)

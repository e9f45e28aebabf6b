"""Where the panels about ranks stand, on their own page and in the overview: a line each, or many as a map. Pure."""

from __future__ import annotations

from hwtop.ui.pages.place import WIDE, Place, row, stack
from hwtop.ui.panels import rank_card, rank_map, ranks
from hwtop.ui.view import View

_DIFFER_LEAST, _DIFFER_WIDE = 4, 56
"""Rows for titles, frame and one rank that differs; cells from which the list of them stands beside the map."""
_DIFFER_FEW = 8
"""Rows of that list in the overview."""
_STACK_LEAST = 16
"""Rows from which a rank's stack stands beside its card."""
_TABLE_LEAST = 6
"""Rows from which the first ranks have a line below the map of all."""


def arrange(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """A line a rank where all fit, else the map with those that differ; below them all about one rank."""
    room = bottom - top
    if not rank_map.is_wanted(view, room - rank_card.LEAST):
        rows = max(3, min(ranks.wanted(view, width), room - rank_card.LEAST))
        return stack([("ranks", rows)], top, width) | one_rank(Place(0, top + rows, width, room - rows))
    cells, rows = rank_map.wanted(view, width, room - rank_card.LEAST - _DIFFER_LEAST)
    if width - cells < _DIFFER_WIDE:
        left = room - rows - rank_card.LEAST
        differ = min(rank_map.wanted_differing(view), max(_DIFFER_LEAST, left // 2))
        return stack([("rank-map", rows), ("rank-differ", differ), ("rank-card", room - rows - differ)], top, width)
    rows = max(rows, min(rank_map.wanted_differing(view), room // 2))
    sides = {"rank-map": Place(0, top, cells, rows), "rank-differ": Place(cells, top, width - cells, rows)}
    return sides | one_rank(Place(0, top + rows, width, room - rows))


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

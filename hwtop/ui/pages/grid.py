"""Where the panels of a person's own overview stand. Pure.

Columns are as wide as drawn. Lines are as high as what stands in them needs; what is left goes to panels that always have a
use for more, such as logs and curves, in even shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hwtop.config.panel_grid import Cells, Grid
from hwtop.ui.widgets.place import Place

_LEAST_ROWS, _LEAST_CELLS = 3, 24

Wanted = Callable[[int], int]
"""Cells -> rows that a panel has a use for, frame included."""


def arrange(grid: Grid, at: Place, wanted: Mapping[str, Wanted]) -> dict[str, Place] | None:
    """The places of all panels of the grid; None where some would be too small. `wanted`: those that have no use for more."""
    edges = [at.x + at.width * column // grid.columns for column in range(grid.columns + 1)]
    widths = {name: edges[cells.right] - edges[cells.left] for name, cells in grid.panels.items()}
    if min(widths.values()) < _LEAST_CELLS:
        return None
    most = {name: max(_LEAST_ROWS, wanted[name](widths[name])) for name in grid.panels if name in wanted}
    heights = _heights(grid, at.height, most)
    if heights is None:
        return None
    tops = [at.y + sum(heights[:line]) for line in range(grid.lines + 1)]
    return {
        name: Place(edges[cells.left], tops[cells.top], widths[name], tops[cells.bottom] - tops[cells.top])
        for name, cells in grid.panels.items()
    }


def _heights(grid: Grid, room: int, most: Mapping[str, int]) -> list[int] | None:
    """Of the lines: the least that each panel needs, then row by row to the lowest line that has a use for it."""
    heights = [0] * grid.lines
    for cells in sorted(grid.panels.values(), key=lambda cells: cells.bottom - cells.top):
        while sum(heights[cells.top : cells.bottom]) < _LEAST_ROWS:
            _raise_lowest(heights, range(cells.top, cells.bottom))
    if sum(heights) > room:
        return None
    while (left := room - sum(heights)) > 0:
        needy = {line for name in grid.panels if (line := _needy(name, grid.panels[name], heights, most)) is not None}
        for line in sorted(needy or range(grid.lines), key=lambda line: heights[line])[:left]:
            heights[line] += 1
            if needy:
                break
    return heights


def _needy(name: str, cells: Cells, heights: list[int], most: Mapping[str, int]) -> int | None:
    """The lowest line of a panel that has a use for another row."""
    if name in most and sum(heights[cells.top : cells.bottom]) >= most[name]:
        return None
    return min(range(cells.top, cells.bottom), key=lambda line: heights[line])


def _raise_lowest(heights: list[int], lines: range) -> None:
    heights[min(lines, key=lambda line: heights[line])] += 1

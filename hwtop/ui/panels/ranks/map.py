"""Many ranks as a map: one cell a rank, its glyph and colour say the state; and the list of those that differ."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.fields import rank as fields
from hwtop.model.rank import Rank
from hwtop.ui import marks
from hwtop.ui.panels.ranks import table as ranks_panel
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.tables import tags
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

_ROW_LENGTHS = (16, 32, 64)
_MOST_ROWS = 16
"""Of a map that is not much higher than it is wide."""
_BLOCK = 8
"""Ranks that stand together: mostly the devices of one node."""
_COUNT_ROWS, _COUNTS_WIDE = 2, 52
"""Rows for how many are in each state, and cells in which that many rows are enough."""
_FEWEST = 16
"""Up to here a list that scrolls shows more than a map."""


class Grid(Struct, frozen=True):
    """How the map is laid out."""

    columns: int
    cell: int
    """Cells of the screen for one rank."""
    label: int
    """Cells of a row's label, the gap behind it included."""

    @property
    def width(self) -> int:
        """Of one row."""
        return self.label + self.columns * self.cell + (self.columns // _BLOCK - 1)


def is_wanted(view: View, rows: int) -> bool:
    """Whether a line for each rank would not fit into `rows` rows."""
    count = len(rank_view.ordered(view))
    return count > _FEWEST and ranks_panel.lines_wanted(view) > rows


def grid(view: View, width: int, rows: int) -> Grid:
    """The map of all ranks with the shortest rows that fits, its cells as wide as there is room; else the tightest."""
    ranks = rank_view.ordered(view)
    label = 1 + len(str(max((rank.rank for rank in ranks), default=0)))
    tightest = Grid(columns=_ROW_LENGTHS[0], cell=1, label=label)
    for columns in _ROW_LENGTHS:
        for cell in (3, 2, 1):
            found = Grid(columns=columns, cell=cell, label=label)
            if found.width > width:
                continue
            tightest = found
            if -(-len(ranks) // columns) <= min(rows, _MOST_ROWS):
                return found
    return tightest


def wanted(view: View, width: int, most: int) -> tuple[int, int]:
    """(cells, rows) of the map with its frame in at most `most` rows."""
    found = grid(view, inner(width), most - 2 - _COUNT_ROWS)
    cells = max(found.width, min(inner(width), _COUNTS_WIDE))
    count = len(rank_view.ordered(view))
    return cells + 4, min(most, -(-count // found.columns) + 2 + len(_counts(view, cells)))


def is_cut(view: View, width: int, height: int) -> bool:
    """Whether a panel of this size has no room for all ranks."""
    form = grid(view, inner(width), height - 2 - len(_counts(view, inner(width))))
    rows = -(-len(rank_view.ordered(view)) // form.columns)
    return rows > height - 2 - len(_counts(view, inner(width))) or form.width > inner(width)


def columns(view: View, width: int, height: int) -> int:
    """Ranks in a row of a panel of this size."""
    return grid(view, inner(width), height - 2 - len(_counts(view, inner(width)))).columns


def rank_at(view: View, x: int, y: int, width: int, height: int) -> int | None:
    """The rank whose cell is at this place of a panel of this size."""
    ranks = rank_view.ordered(view)
    rows = max(1, height - 2 - len(_counts(view, inner(width))))
    form = grid(view, inner(width), rows)
    across = x - 2 - form.label
    block, within = divmod(across, _BLOCK * form.cell + 1)
    column = block * _BLOCK + within // form.cell
    if across < 0 or within == _BLOCK * form.cell or column >= form.columns or not 1 <= y <= rows:
        return None
    index = (_visible(view, form, rows).start + y - 1) * form.columns + column
    return ranks[index].rank if index < len(ranks) else None


def draw(view: View, width: int, height: int, *, is_own: bool = False) -> list[Line]:
    """Rows of ranks, then how many are in each state. `is_own`: on the ranks page."""
    room = inner(width)
    ranks = rank_view.ordered(view)
    title = ranks_panel.heading(view, is_own=is_own)
    if not ranks:
        return box([ranks_panel.none(view)], width, height, title, Line())
    counts = _counts(view, room)
    rows = max(1, height - 2 - len(counts))
    form = grid(view, room, rows)
    visible = _visible(view, form, rows)
    lines = [_row(view, form, number) for number in visible]
    note = Line(f"{len(ranks)} ranks, {form.columns} a row", "dim")
    if len(visible) * form.columns < len(ranks):
        note = Line(f"rows {table.part(visible, -(-len(ranks) // form.columns))}", "accent")
    return box([*lines, *[Line()] * (rows - len(lines)), *counts], width, height, title, note)


def draw_differing(view: View, width: int, height: int) -> list[Line]:
    """One line a rank that is not like most."""
    found = rank_view.differing(view)
    title = Line("Ranks that differ", "title")
    if not found:
        return box([Line("✔ ", "good").add("all ranks are alike", "text")], width, height, title, Line())
    columns = table.chosen(_columns(view), inner(width))
    lines = [table.header(columns)]
    for index in _differing_shown(view, found, height):
        rank, why = found[index]
        line = table.row(columns, ranks_panel.row_of(view, rank, why))
        lines.append(line.recoloured("cursor") if rank.rank == view.selected else line)
    hidden = len(found) + 1 - len(lines)
    return box(lines, width, height, title, Line(f"{len(found)}", "accent").add(f", {hidden} not shown" * bool(hidden)))


def differing_at(view: View, y: int, height: int) -> int | None:
    """The rank whose line of those that differ is at this row."""
    found = rank_view.differing(view)
    shown = _differing_shown(view, found, height)
    return found[shown[y - 2]][0].rank if 0 <= y - 2 < len(shown) else None


def _differing_shown(view: View, found: Sequence[tuple[Rank, str]], height: int) -> range:
    at = next((index for index, (rank, _) in enumerate(found) if rank.rank == view.selected), 0)
    return table.around(len(found), max(1, height - 3), at)


def wanted_differing(view: View) -> int:
    """Rows for all of them, with titles and frame."""
    return 2 + max(1, len(rank_view.differing(view)) + 1)


def _visible(view: View, form: Grid, rows: int) -> range:
    """The rows of the map in sight: with the selected rank."""
    ranks = rank_view.ordered(view)
    at = next((index for index, rank in enumerate(ranks) if rank.rank == view.selected), 0)
    return table.around(-(-len(ranks) // form.columns), rows, at // form.columns)


def _row(view: View, form: Grid, number: int) -> Line:
    ranks = rank_view.ordered(view)[number * form.columns : (number + 1) * form.columns]
    # Out of the order of their numbers a row has no name; its place has.
    name = str(ranks[0].rank) if rank_view.is_plain(view) else f"#{number * form.columns + 1}"
    line = Line(name.rjust(form.label - 1), "label").add(" ")
    for index, rank in enumerate(ranks):
        glyph, role = marks.RANK_STATE[rank.state]
        is_selected = rank.rank == view.selected
        cell = f"[{glyph}]" if is_selected and form.cell == 3 else glyph.center(form.cell)
        if form.cell > 1 and tags.glyph_of_rank(view, rank) == tags.GLYPH:
            cell = tags.GLYPH + cell.lstrip("[ ").ljust(form.cell - 1)[: form.cell - 1]
        line.add(" " if index and index % _BLOCK == 0 else "", "text")
        line.add(cell, "cursor" if is_selected else role)
    return line


def _counts(view: View, width: int) -> list[Line]:
    """The legend, with numbers: a line or two."""
    lines = [Line()]
    for state, count in rank_view.state_counts(rank_view.ordered(view)):
        glyph, role = marks.RANK_STATE[state]
        part = Line(f"{glyph} {count} ", role).add(state, "text")
        if lines[-1].width and lines[-1].width + 3 + part.width > width:
            lines.append(Line())
        lines[-1].add("   " if lines[-1].width else "").extend(part)
    return lines


def _columns(view: View) -> list[Column[ranks_panel.Row]]:
    shared = ranks_panel.some(view, fields.NUMBER, fields.STATE, fields.STEP)
    return [*shared, Column("why", 30, lambda row, _: Line(row.why, "text"), grow=1)]

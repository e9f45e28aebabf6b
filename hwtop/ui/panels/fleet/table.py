"""The nodes, a line each."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.fields import node as fields
from hwtop.fields import units
from hwtop.fields.node import NODE
from hwtop.fields.node_row import NodeRow, problem
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.fleet import map as fleet_map
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.state import NODES
from hwtop.ui.tables import cells
from hwtop.ui.tables.cells import Cell
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

_FRAME = 3
"""Rows of frame and titles."""
_PROBLEM_MOST = 44
"""Cells that what is wrong gets before other columns do."""


def wanted(view: View) -> int:
    """Rows for all nodes."""
    return _FRAME + max(1, len(fleet_view.kept(view)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The table, scrolled to the node under the cursor."""
    rows = fleet_view.kept(view)
    title = Line("Table of nodes", "title").add(f"  {NODES.words(view)}", "dim")
    if not rows:
        words = "no node matches" if fleet_view.every(view) else "no nodes"
        return box([Line("◌ ", "dim").add(words, "dim")], width, height, title, Line())
    columns = _chosen(view, width)
    here, visible = fleet_view.place(view), shown(view, height)
    lines = [table.header(columns, NODES.marked(view))]
    for index in visible:
        line = Line("▸ " if index == here else f"{fleet_map.mark(rows[index])[0]} ", _mark_role(rows[index]))
        line.extend(table.row(columns, rows[index]))
        lines.append(line.recoloured("cursor") if index == here else line)
    lines[0] = Line("  ").extend(lines[0])
    return box(lines, width, height, title, table.note(visible, len(rows), Line(f"{len(rows)} nodes", "dim")))


def shown(view: View, height: int) -> range:
    """Which nodes, by their place, a panel of `height` rows shows."""
    return table.around(len(fleet_view.kept(view)), max(1, height - _FRAME), fleet_view.place(view))


def node_at(view: View, y: int, height: int) -> int | None:
    """Place of the node whose line is at this row."""
    rows = shown(view, height)
    return rows[y - 2] if 0 <= y - 2 < len(rows) else None


def column_at(view: View, x: int, width: int) -> str:
    """Title of the column at this cell; "" between them."""
    return table.column_at(_chosen(view, width), x - (width - inner(width)) // 2 - 2)


@once
def _chosen(view: View, width: int) -> list[tuple[Column[NodeRow], int]]:
    """Those that some node fills; of all nodes, so that a filter moves none."""
    every = fleet_view.every(view)
    filled = {field.id for field in NODE.fields if any(field.value(row) is not None for row in every)}
    columns = cells.columns("nodes", NODE.fields, view.levels, _DRAWN)
    kept = [column for column in columns if column.field.partition(":")[0] in filled | {fields.PROBLEM.id}]
    longest = max((len(problem(row) or "") for row in every), default=0)
    problem_width = max(8, min(_PROBLEM_MOST, longest, inner(width) * 2 // 5))
    resized = [replace(each, width=problem_width) if each.field == fields.PROBLEM.id else each for each in kept]
    return table.chosen(resized, inner(width) - 2)


def _mark_role(row: NodeRow) -> str:
    return fleet_map.mark(row)[1]


def _name(row: NodeRow, _: int) -> Line:
    return Line(row.node.name, "strong" if row.is_current else "dim")


def _ranks(row: NodeRow, _: int) -> Line:
    if row.node.report is None:
        return Line(units.UNKNOWN, "dim")
    alive = sum(rank.is_alive for rank in row.ranks)
    if alive == len(row.ranks):
        return Line(str(alive), "text" if alive else "dim")
    return Line(f"✖{alive}/{len(row.ranks)}", "bad")


def _state(row: NodeRow, _: int) -> Line:
    rank = row.worst_rank
    if rank is None or not row.is_current:
        return Line(units.UNKNOWN, "dim")
    glyph, role = marks.RANK_STATE[rank.state]
    return Line(f"{glyph} {rank.state}", role)


def _phase(row: NodeRow, _: int) -> Line:
    found = fields.PHASE.value(row)
    return Line(units.UNKNOWN, "dim") if found is None else Line(str(found), marks.PHASE[found])  # type: ignore[index]


def _problem(row: NodeRow, _: int) -> Line:
    found = problem(row)
    if found is None:
        return Line()
    role = fleet_map.mark(row)[1]
    return Line(found, role if role in ("bad", "warn") else "text")


_DRAWN: dict[str, Cell[NodeRow]] = {
    fields.NAME.id: _name,
    fields.STATUS.id: lambda row, _: fleet_view.status(row),
    fields.RANKS.id: _ranks,
    fields.STATE.id: _state,
    fields.PHASE.id: _phase,
    fields.PROBLEM.id: _problem,
}
"""What cells are drawn with that show more than the value."""

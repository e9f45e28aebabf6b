"""Nodes and their GPUs as a heat map: a line a node with numbers where all have room, else blocks of glyphs in columns."""

from __future__ import annotations

from msgspec import Struct

from hwtop.fields.node_row import NodeRow, problem
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.fleet import heat as heats
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.heat import Heat, Scale
from hwtop.ui.panels.fleet.state import NODES
from hwtop.ui.tables.filter import reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_middle

_CELLS = (8, 7, 3, 2, 1)
"""Cells of a GPU in a line of its node: from 7 on with its value."""
_LINES_MOST = 16
"""More nodes are blocks: a line for each is what the table has."""
_NAME_MOST = 20
_SLOTS_MOST = 16
"""GPUs, or ranks of a node without GPUs, that are drawn of a node."""
_GAP = 2
_FRAME, _HEAD, _LEGEND = 2, 1, 1
_EDGES = 9
"""Cells of the upper edge around title and note."""
_WHY_LEAST = 18
"""Cells of what is wrong, behind the GPUs of a node."""


class Grid(Struct, frozen=True):
    """How the map is laid out."""

    columns: int
    """Nodes beside each other; 1 with a line for each."""
    name: int
    """Cells of a name."""
    cell: int
    """Cells of a GPU."""
    slots: int
    is_lines: bool

    @property
    def block(self) -> int:
        """Cells of a node, without the gap behind it."""
        return 2 + self.name + 1 + self.slots * self.cell


def wanted(view: View, width: int, most: int) -> int:
    """Rows for all nodes with frame and legend, `most` at most."""
    form = grid(view, width, most)
    rows = -(-max(1, len(fleet_view.kept(view))) // form.columns)
    return min(most, rows + _FRAME + _LEGEND + (_HEAD if form.is_lines else 0))


@once
def grid(view: View, width: int, height: int) -> Grid:
    """The map in a panel of this size."""
    room, rows = inner(width), fleet_view.every(view)
    slots = min(_SLOTS_MOST, max((len(fleet_view.slots(row)) for row in rows), default=1) or 1)
    longest = max((cells(row.node.name) for row in rows), default=4)
    if len(rows) <= min(_LINES_MOST, max(1, height - _FRAME - _HEAD - _LEGEND)):
        forms = [Grid(1, min(_NAME_MOST, longest), cell, slots, is_lines=True) for cell in _CELLS]
        return next((form for form in forms if form.block <= room), forms[-1])
    short = max((cells(name) for name in fleet_view.short_names(view)[1].values()), default=4)
    form = Grid(1, min(_NAME_MOST, short), 1, slots, is_lines=False)
    columns = max(1, (room + _GAP) // (form.block + _GAP))
    return Grid(columns, form.name, 1, slots, is_lines=False)


def columns(view: View, width: int, height: int) -> int:
    """Nodes beside each other in a panel of this size."""
    return grid(view, width, height).columns


def node_at(view: View, x: int, y: int, width: int, height: int) -> int | None:
    """Place of the node at this cell among those kept."""
    form = grid(view, width, height)
    line = y - 1 - (_HEAD if form.is_lines else 0)
    shown = _shown(view, form, height)
    column = (x - 2) // (form.block + _GAP) if not form.is_lines else 0
    if not 0 <= line < len(shown) or not 0 <= column < form.columns or x < 2:
        return None
    place = shown[line] * form.columns + column
    return place if place < len(fleet_view.kept(view)) else None


def draw(view: View, width: int, height: int) -> list[Line]:
    """The nodes in the order of the table, what the cells mean in the last row."""
    rows, room = fleet_view.kept(view), inner(width)
    heat = heats.shown(view)
    form = grid(view, width, height)
    title = _title(view, heat, form)
    if not rows:
        words = (
            "no node matches"
            if fleet_view.every(view)
            else "one machine is watched: hwtop fleet watches a job over several nodes"
        )
        return box([Line("◌ ", "dim").add(words, "dim")], width, height, title, Line())
    of = heats.scale(view)
    shown = _shown(view, form, height)
    lines = [_head(form, rows)] if form.is_lines else []
    lines += [_line(view, form, heat, of, number, room) for number in shown]
    lines += [Line()] * (height - _FRAME - _LEGEND - len(lines))
    lines.append(heats.legend(heat))
    last = min(len(rows), shown.stop * form.columns)
    first = shown.start * form.columns
    notes = [fleet_view.reported(view), fleet_view.reported(view, is_short=True)]
    if last - first < len(rows):
        part = Line(table.part(range(first, last), len(rows)), "accent").add(" ─ ", "border")
        notes = [Line().extend(part).extend(note) for note in notes] + notes
    note = next((note for note in notes if title.width + note.width + _EDGES <= width), notes[-1])
    return box(lines, width, height, title, note)


def _title(view: View, heat: Heat, form: Grid) -> Line:
    title = Line("Nodes", "title").add(f"  {heat.name}", "accent")
    head, _ = fleet_view.short_names(view)
    if head and not form.is_lines:
        title.add(f"  {head}*", "dim")
    if word := view.filter_of(NODES.name):
        kept, total = len(fleet_view.kept(view)), len(fleet_view.every(view))
        return title.extend(reported(word, kept, total, "nodes", fleet_view.query(view).problem))
    return title.add(f"  {NODES.words(view)}", "dim")


def _shown(view: View, form: Grid, height: int) -> range:
    """The rows of the map in sight: with the node under the cursor."""
    room = max(1, height - _FRAME - _LEGEND - (_HEAD if form.is_lines else 0))
    count = -(-len(fleet_view.kept(view)) // form.columns)
    return table.around(count, room, fleet_view.place(view) // form.columns)


def _head(form: Grid, rows: tuple[NodeRow, ...]) -> Line:
    """Numbers of the GPUs."""
    line = Line(" " * (2 + form.name + 1))
    most = max(rows, key=lambda row: len(fleet_view.slots(row)))
    for slot in fleet_view.slots(most)[: form.slots]:
        number = str(slot.number) if slot.gpu or form.cell > 2 else ""
        line.add(number.rjust(6).ljust(form.cell) if form.cell > 6 else number[-form.cell :].ljust(form.cell), "label")
    return line


def _line(view: View, form: Grid, heat: Heat, of: Scale, number: int, room: int) -> Line:
    rows = fleet_view.kept(view)
    line = Line()
    for place in range(number * form.columns, min(len(rows), (number + 1) * form.columns)):
        line.add(" " * _GAP if line.width else "").extend(_block(view, form, heat, of, place))
    if form.is_lines and room - line.width - _GAP >= _WHY_LEAST and (found := problem(rows[number])):
        role = marks.SEVERITY[rows[number].severity or "info"][2] if rows[number].severity else "warn"
        line.add(" " * _GAP).add(found, role if rows[number].is_current else "dim")
    return line


def _block(view: View, form: Grid, heat: Heat, of: Scale, place: int) -> Line:
    """Mark, name and cells of a node."""
    row = fleet_view.kept(view)[place]
    name = row.node.name if form.is_lines else fleet_view.short_names(view)[1][row.node.name]
    is_here = place == fleet_view.place(view)
    glyph, role = mark(row)
    line = Line("▸" if is_here else glyph, "accent" if is_here else role)
    line.add(" ").add(elide_middle(name, form.name).ljust(form.name), "cursor" if is_here else _name_role(role))
    line.add(" ")
    slots = fleet_view.slots(row)[: form.slots]
    for slot in slots:
        text, tone = heats.cell(heat, row, slot, of, form.cell)
        line.add(text, tone)
    if not slots:
        line.add("–" * form.slots if not form.is_lines else "no report yet", "dim")
    return line.fitted(form.block) if not form.is_lines or slots else line


def mark(row: NodeRow) -> tuple[str, str]:
    """Glyph and role of what is wrong with a node: it does not report, or a finding is about it."""
    if row.node.status not in ("reporting", "ended"):
        return marks.NODE_STATUS[row.node.status]
    if row.severity in ("warning", "critical"):
        glyph, _, role = marks.SEVERITY[row.severity]
        return glyph, role
    if row.node.status == "reporting" and problem(row):
        return "▲", "warn"
    return " ", "text"


def _name_role(role: str) -> str:
    return role if role in ("bad", "warn") else "label"

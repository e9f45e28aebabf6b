"""The jobs on this machine, to pick one from."""

from __future__ import annotations

from hwtop.model.process import JobCandidate
from hwtop.ui import units
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

_ORDER = {"training": 0, "python": 1}


def candidates(view: View) -> list[JobCandidate]:
    """What can be picked, training jobs first, else in the order of the scan."""
    return sorted(view.frame.moment.candidates or (), key=lambda candidate: _ORDER.get(candidate.kind, 2))


def draw(view: View, width: int, height: int) -> list[Line]:
    """One row a job; with none, how to try hwtop without one."""
    title = Line("Pick a job", "title")
    found = candidates(view)
    room = inner(width)
    if not found:
        lines = [
            Line("No Python process runs on this machine.", "strong"),
            Line(),
            Line("Start a training job and it appears here, or try a small one with a planted fault:", "text"),
            Line("    hwtop demo", "accent"),
        ]
        return box(lines, width, height, title, Line())
    columns = table.chosen(_columns(), room - 2)
    cursor = min(view.cursor, len(found) - 1)
    lines = [table.header(columns)]
    for index in table.around(len(found), max(1, height - 5), cursor):
        line = Line("▸ " if index == cursor else "  ", "accent").extend(table.row(columns, found[index])).fitted(room)
        lines.append(line.recoloured("cursor") if index == cursor else line)
    lines[0] = Line("  ").extend(lines[0]).fitted(room)
    chosen = found[cursor]
    lines += [Line()] * (height - 3 - len(lines))
    if view.note or not chosen.can_attach:
        lines.append(
            Line("▲ ", "warn").add(view.note or f"cannot attach: {chosen.reason or 'no reason given'}", "warn")
        )
    else:
        lines.append(Line("Enter", "key").add(f" attaches to {chosen.pid}", "text"))
    jobs = sum(candidate.kind == "training" for candidate in found)
    note = Line(f"{jobs} training job{'' if jobs == 1 else 's'}", "accent" if jobs else "dim")
    return box(lines, width, height, title, note)


def _columns() -> list[Column[JobCandidate]]:
    return [
        Column("pid", 7, lambda item, _: Line(str(item.pid), "strong"), align="right"),
        Column("kind", 10, _kind),
        Column("ranks", 5, lambda item, _: Line(str(item.ranks) if item.ranks else units.UNKNOWN), 1, align="right"),
        Column("user", 8, lambda item, _: Line(item.user, "dim"), 2),
        Column("age", 4, lambda item, _: Line(units.short_duration(item.age_s)), 2, align="right"),
        Column("attach", 6, lambda item, _: Line("yes", "good") if item.can_attach else Line("▲ no", "warn")),
        Column("what", 16, lambda item, _: Line(item.title), grow=1),
    ]


def _kind(item: JobCandidate, _: int) -> Line:
    return Line("● training", "good") if item.kind == "training" else Line(f"  {item.kind}", "dim")

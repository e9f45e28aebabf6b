"""All findings, one line each, with a cursor."""

from __future__ import annotations

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.frame import Frame
from hwtop.model.symptom import Finding
from hwtop.ui import marks
from hwtop.ui.panels.symptoms import view as symptom_view
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import elide_end, elide_middle

_HEADER_FROM = 3
"""Findings from which on the columns have titles."""


class _Row(Struct, frozen=True):
    finding: Finding
    frame: Frame
    is_selected: bool


def wanted(view: View) -> int:
    """Rows for all of them, titles and frame included."""
    count = len(view.frame.findings)
    return 2 + count + (count >= _HEADER_FROM)


def draw(view: View, width: int, height: int) -> list[Line]:
    """In the order of weight; what does not fit scrolls with the cursor."""
    findings, room = view.frame.findings, inner(width) - 2
    chosen = table.chosen(_columns(findings), room)
    shown = rows_shown(view, height)
    lines = [Line("  ").extend(table.header(chosen))] if _has_header(view, height) else []
    here = symptom_view.selected(view)
    for at in shown:
        row = _Row(findings[at], view.frame, findings[at] is here)
        lines.append(Line("▸ " if row.is_selected else "  ", "accent").extend(table.row(chosen, row)))
    note = Line()
    if len(shown) < len(findings):
        note.add(table.part(shown, len(findings)), "accent").add(" ─ ", "border")
    kind = symptom_view.kind(view.frame)
    note.add("class ", "label").add(kind, "text") if kind else note.add(f"{len(findings)} found", "dim")
    border = "border-hot" if findings and findings[0].severity == "critical" else "border"
    return box(lines, width, height, Line("Symptoms", "title"), note, border)


def rows_shown(view: View, height: int) -> range:
    """Which findings, by their place, a panel of `height` rows shows: the selected one is among them."""
    room = max(1, height - 2 - _has_header(view, height))
    return table.around(len(view.frame.findings), room, symptom_view.place(view))


def place_at(view: View, y: int, height: int) -> int | None:
    """The place among all findings of the one in row `y` of the panel."""
    shown = rows_shown(view, height)
    at = shown.start + y - 1 - _has_header(view, height)
    return at if at in shown else None


def _has_header(view: View, height: int) -> bool:
    return len(view.frame.findings) >= _HEADER_FROM and height >= wanted(view)


def _columns(findings: tuple[Finding, ...]) -> list[Column[_Row]]:
    longest = max((len(finding.symptom) for finding in findings), default=0)
    whose = max((len(rank_set(finding.ranks)) for finding in findings), default=0)
    columns = [
        Column("", 10, _severity),
        Column("symptom", min(30, longest), _symptom),
        Column("conf.", 5, _confidence, align="right"),
        Column("", 6, _confidence_bar, 4),
        Column("seen", 8, _since, 1),
        Column("for", 4, _age, 2, align="right"),
        Column("ranks", max(5, min(12, whose)), _ranks, 3),
        Column("what", 24, _title, 5, grow=1),
    ]
    return columns if whose else [column for column in columns if column.title != "ranks"]


def _severity(row: _Row, _: int) -> Line:
    glyph, word, role = marks.SEVERITY[row.finding.severity]
    return Line(f"{glyph} {word}", role)


def _symptom(row: _Row, width: int) -> Line:
    return Line(elide_middle(row.finding.symptom, width), "strong" if row.is_selected else "text")


def _confidence(row: _Row, _: int) -> Line:
    return Line(f"{row.finding.confidence:.0%}", "text")


def _confidence_bar(row: _Row, width: int) -> Line:
    return bar(row.finding.confidence, width, "info")


def _since(row: _Row, _: int) -> Line:
    return Line(symptom_view.clock_after(row.frame, row.finding.first_seen_s), "label")


def _age(row: _Row, _: int) -> Line:
    return Line(units.short_duration(round(row.frame.watched_s - row.finding.first_seen_s)), "label")


def _ranks(row: _Row, width: int) -> Line:
    return Line(
        elide_end(rank_set(row.finding.ranks) or units.UNKNOWN, width), "accent" if row.finding.ranks else "dim"
    )


def _title(row: _Row, width: int) -> Line:
    return Line(elide_end(row.finding.title, width), "strong" if row.is_selected else "text")

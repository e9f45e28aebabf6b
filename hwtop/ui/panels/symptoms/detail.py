"""One finding in full: evidence, what to do, how to test it, what speaks against it; without one, what was checked."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import units
from hwtop.lazy_regex import lazy_regex
from hwtop.model.symptom import Finding
from hwtop.symptoms.severity import weightiest
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.panels.symptoms import questions as hypotheses
from hwtop.ui.panels.symptoms import timeline as symptom_timeline
from hwtop.ui.panels.symptoms import view as symptom_view
from hwtop.ui.panels.symptoms.view import Section
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, broken

LEAST = 12
"""Rows for title, two facts and the first steps."""
_TITLED = 24
"""Cells of the headings that stand beside their text, where there is room for that."""
_BESIDE = 130
_COMMAND = lazy_regex(r"`([^`]+)`")


def wanted(view: View, width: int) -> int:
    """Rows for the finding alone, frame included."""
    finding = symptom_view.selected(view)
    return 2 + (len(_story(view, finding, inner(width))) if finding else 0)


def draw(view: View, width: int, height: int) -> list[Line]:
    """The selected finding, as far down as the person has scrolled."""
    finding = symptom_view.selected(view)
    return _boxed(view, _fitted(view, finding, inner(width), height) if finding else [], width, height)


def draw_all(view: View, width: int, height: int) -> list[Line]:
    """The same, with timeline and usual suspects below it; without a finding these alone."""
    return _boxed(view, _all(view, inner(width), height), width, height)


def hidden(view: View, width: int, height: int) -> int:
    """Rows of the finding that are out of sight."""
    finding = symptom_view.selected(view)
    return max(0, len(_fitted(view, finding, inner(width), height)) - (height - 2)) if finding else 0


def hidden_of_all(view: View, width: int, height: int) -> int:
    """Rows out of sight, what stands below the finding included."""
    return max(0, len(_all(view, inner(width), height)) - (height - 2))


def _boxed(view: View, lines: list[Line], width: int, height: int) -> list[Line]:
    shown = table.window(len(lines), height - 2, view.scroll)
    finding = symptom_view.selected(view)
    note = table.note(shown, len(lines), hypotheses.tally(view) if finding is None else Line())
    if shown.stop < len(lines):
        note.add("  ").add(key_names.first("page-down", view.keymap), "key").add(" more", "label")
    if finding is None:
        return box(lines[shown.start :], width, height, Line("Symptoms", "title"), note)
    border = "border-hot" if finding.severity == "critical" else "border"
    return box(lines[shown.start :], width, height, Line(finding.symptom, "title"), note, border)


def _fitted(view: View, finding: Finding, room: int, height: int) -> list[Line]:
    """Without air between the sections where that would push some of them out of sight."""
    lines = _story(view, finding, room)
    return lines if len(lines) <= height - 2 else [line for line in lines if line.width]


@once
def _all(view: View, room: int, height: int) -> list[Line]:
    finding = symptom_view.selected(view)
    lines = _fitted(view, finding, room, height) if finding else _calm(view, room)
    if view.frame.episodes:
        lines += [Line(), _heading("When", room), *symptom_timeline.lines(view, room)]
    if view.frame.hypotheses:
        lines += [Line(), _heading("Checks", room)]
        # Twelve answers at a glance are worth more than what was looked at for each, which Enter shows.
        rows = None if view.alone or finding is not None else height - 2 - len(lines)
        lines += hypotheses.lines(view, room, rows, has_checks=bool(view.alone) or finding is None)
    return lines


def _calm(view: View, room: int) -> list[Line]:
    """Why there is nothing here, in words."""
    watched = units.duration(round(view.frame.watched_s))
    if view.job is None:
        return broken(Line("● ", "info").add("watching the machine; no job is attached"), room, 2)
    over = weightiest(each for each in view.frame.episodes if each.cleared_s is not None)
    if over is not None and view.frame.verdict.level != "ok":
        line = Line("■ ", "dim").add(f"over: {over.title}", "strong").add("; here is what was checked", "text")
    elif view.frame.verdict.level in ("ok", "ended"):
        line = (
            Line("✔ ", "good").add(f"nothing proven in {watched}", "strong").add("; here is what was checked", "text")
        )
    else:
        line = Line("◌ ", "dim").add(f"nothing proven so far in {watched}; here is what was checked", "text")
    return broken(line, room, 2)


def _story(view: View, finding: Finding, room: int) -> list[Line]:
    glyph, word, role = marks.SEVERITY[finding.severity]
    mark = f"{glyph} {word}  "
    lines = broken(Line(mark, role).add(finding.title, "strong"), room, len(mark))
    lines += broken(Line("  ").add(" · ".join(symptom_view.facts(view.frame, finding)), "label"), room, 2)
    for section in symptom_view.sections(finding):
        lines += [Line(), *_section(section, room)]
    if times := tuple(symptom_view.times(view.frame, finding)):
        lines += [Line(), *_section(Section("Seen", times), room)]
    return lines


def _section(section: Section, room: int) -> Iterator[Line]:
    """The heading beside its sentences where there is room for both, else above them."""
    indent = _TITLED if room >= _BESIDE else 2
    if indent == 2:
        yield Line(section.title, "label")
    for number, text in enumerate(section.texts, 1):
        mark = f"{number}. " if section.is_numbered else "│ " if section.is_quoted else "• "
        is_first = number == 1 and indent == _TITLED
        head = Line(section.title if is_first else "", "label").fitted(indent)
        head.add(mark, "accent" if section.is_numbered else "dim")
        yield from broken(head.extend(_sentence(text, section)), room, indent + len(mark))


def _sentence(text: str, section: Section) -> Line:
    """Commands stand out from the words around them: those between backticks, and those with their reason behind a hash."""
    if section.is_quoted:
        return Line(text, "dim")
    command, has_reason, reason = text.partition("   # ")
    if has_reason:
        return Line(command, "accent").add(f"   # {reason}", "dim")
    line = Line()
    for number, part in enumerate(_COMMAND.split(text)):
        line.add(part, "accent" if number % 2 else "text")
    return line


def _heading(text: str, width: int) -> Line:
    head = Line(text, "label").add(" ")
    return head.add("─" * max(0, width - head.width), "track")

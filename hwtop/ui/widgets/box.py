"""Boxes: a rounded frame with a title and a note around lines."""

from __future__ import annotations

from hwtop.ui.widgets.line import Line

PADDING = 1


def inner(width: int) -> int:
    """Cells of a row inside a box of `width` cells."""
    return max(0, width - 2 - 2 * PADDING)


def box(lines: list[Line], width: int, height: int, title: Line, note: Line, border: str = "border") -> list[Line]:
    """`height` lines of `width` cells: what does not fit is left out, the note first."""
    if width < 4 or height < 2:
        return [Line().fitted(width) for _ in range(height)]
    left, right = Line("│", border).add(" " * PADDING), Line(" " * PADDING).add("│", border)
    rows = [_top(width, title, note, border)]
    for index in range(height - 2):
        content = lines[index] if index < len(lines) else Line()
        rows.append(Line().extend(left).extend(content.fitted(inner(width))).extend(right))
    return [*rows, Line("╰" + "─" * (width - 2) + "╯", border)]


def _top(width: int, title: Line, note: Line, border: str) -> Line:
    room = width - 4
    shown = title if title.width + 2 <= room else title.fitted(max(0, room - 2))
    note_width = note.width + 2 if note.width else 0
    if shown.width + 2 + note_width + 1 > room:
        note_width = 0
    line = Line("╭─", border).add(" ").extend(shown).add(" ")
    line.add("─" * (room - shown.width - 2 - note_width), border)
    if note_width:
        line.add(" ").extend(note).add(" ")
    return line.add("─╮", border)

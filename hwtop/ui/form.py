"""Forms: rows of which each has one of some values, as lines. Pure; `screens/form.py` holds the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells

_LABEL = 12
_WIDEST = 70
_KEYS = (("←→", "change"), ("Enter", "save"), ("Esc", "leave"))


class Row(Struct, frozen=True):
    """One question and its answers."""

    label: str
    values: tuple[str, ...]
    """In words, the default first."""
    chosen: int = 0

    def turned(self, step: int) -> Row:
        """The row with the value `step` further; the first follows the last."""
        return replace(self, chosen=(self.chosen + step) % len(self.values))


def size(rows: Sequence[Row], width: int, height: int) -> tuple[int, int]:
    """Cells and rows of the box on a screen of this size."""
    return max(1, min(_WIDEST, width)), max(1, min(height, len(rows) + 2))


def draw(title: str, rows: Sequence[Row], cursor: int, width: int, height: int) -> list[Line]:
    """The form in a box, the row of the cursor in sight."""
    room = max(1, height - 2)
    first = max(0, cursor - room + 1)
    lines = [_line(row, number == cursor) for number, row in enumerate(rows)][first:]
    keys = Line()
    for number, (key, word) in enumerate(_KEYS):
        keys.add("  " if number else "").add(key, "key").add(f" {word}", "label")
    return box(lines, width, height, Line(title, "title"), keys)


def _line(row: Row, is_here: bool) -> Line:
    """All values side by side, the chosen one marked."""
    line = Line("▸ " if is_here else "  ", "accent").add(row.label, "strong" if is_here else "label")
    line.add(" " * max(1, _LABEL - cells(row.label)))
    for number, value in enumerate(row.values):
        is_chosen = number == row.chosen
        line.add(
            f"[{value}]" if is_chosen else f" {value} ", ("cursor" if is_here else "strong") if is_chosen else "dim"
        )
    return line

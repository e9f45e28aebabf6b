"""Blocks of the GPU card: a heading with labelled facts below it, and how blocks flow into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line, beside, broken

LABEL = 15
"""Cells of a label."""
_BAR_LEAST, _BAR_MOST = 8, 24
_WORDS = 22
"""Cells beside a bar."""
GAP = 3
"""Cells between columns."""


class Block(Struct, frozen=True):
    """Some lines about one subject."""

    title: str
    lines: tuple[Line, ...]
    is_ill: bool = False
    """It shows a problem, and comes first where room is short."""

    def drawn(self, width: int) -> list[Line]:
        """With its heading, a rule that is as wide as the column."""
        head = Line(self.title, "label").add(" ")
        return [head.add("─" * max(0, width - head.width), "track"), *self.lines]


def block(title: str, lines: Iterable[Line], width: int, indent: int = LABEL) -> Block:
    """Lines without text are left out, too long ones go on below their text; it is ill where one is in a colour of warning."""
    kept = tuple(part for line in lines if line.width for part in broken(line, width, indent))
    return Block(title, kept, any(role in ("warn", "bad") for line in kept for _, role in line.spans))


def fact(label: str, text: str = "", role: str = "text") -> Line:
    """One labelled line; `text` may be empty, to be followed by more."""
    return Line(f"{label:<{LABEL}}", "label").add(text, role)


def gauge(label: str, share: float | None, words: Line, width: int, role: str = "info") -> Line:
    """A bar on a scale from nothing to all, and the number in words; the number alone where there is no room for both, or no scale."""
    size = min(_BAR_MOST, width - LABEL - _WORDS)
    if size < _BAR_LEAST or share is None:
        return fact(label).extend(words)
    return fact(label).extend(bar(share, size, role)).add("  ").extend(words)


def flow(blocks: Sequence[Block], width: int, columns: int) -> list[Line]:
    """The blocks below each other in so many columns of about the same height, in their order."""
    cells = column_width(width, columns)
    drawn = [[*each.drawn(cells), Line()] for each in blocks]
    total = sum(map(len, drawn))
    parts: list[list[Line]] = [[]]
    for lines in drawn:
        is_full = len(parts[-1]) + len(lines) / 2 > total / columns
        if parts[-1] and is_full and len(parts) < columns:
            parts.append([])
        parts[-1] += lines
    return beside([(part[:-1], cells) for part in parts], GAP)


def column_width(width: int, columns: int) -> int:
    """Cells of each column."""
    return (width - GAP * (columns - 1)) // columns

"""Blocks of the host page: a framed box a subject, and how boxes fill columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from hwtop.fields.field import Field
from hwtop.fields.level import Levels
from hwtop.model.frame import DerivedState
from hwtop.ui.tables import cells
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line, beside

LABEL = 10
"""Cells of a label."""
_BAR_LEAST, _BAR_MOST = 6, 40


class HostTrend(Struct, frozen=True):
    """What a block shows of the last minutes where there is room: drawn only once it is known how much."""

    draw: Callable[[int], list[Line]]
    """So many rows of dots, and one for the axis."""
    at: int
    """It stands before the line of this number."""
    caption: str = ""


class Block(Struct, frozen=True):
    """Some lines about one subject, in a frame."""

    title: str
    lines: list[Line]
    note: Line = field(default_factory=Line)
    past: HostTrend | None = None
    rows: int = 0
    """Of its past; 0 = it is not shown."""

    @property
    def height(self) -> int:
        """Rows with frame."""
        reported = self.rows + 1 + bool(self.past.caption) if self.past and self.rows else 0
        return len(self.lines) + 2 + reported

    def drawn(self) -> list[Line]:
        """All lines inside the frame."""
        if self.past is None or not self.rows:
            return self.lines
        caption = [Line(self.past.caption, "label")] if self.past.caption else []
        return [*self.lines[: self.past.at], *caption, *self.past.draw(self.rows), *self.lines[self.past.at :]]


def gauge(field: Field[DerivedState], derived: DerivedState, levels: Levels, words: Line, width: int) -> Line:
    """A bar from 0 to 100 % on which the limits are marked, and the number in words; without room the words alone."""
    size = min(_BAR_MOST, width - LABEL - words.width - 1)
    line = Line(field.label, "label").fitted(LABEL)
    if size < _BAR_LEAST:
        return line.extend(words)
    return line.extend(cells.bar(field, derived, levels, size)).add(" ").extend(words)


def fact(label: str, *spans: tuple[str, str]) -> Line:
    """One labelled line."""
    return Line(label, "label").fitted(LABEL).extend(spans)


def packed(parts: Iterable[Line], width: int, gap: int = 2) -> list[Line]:
    """Facts one after the other in as many lines as they need; none is broken."""
    lines = [Line()]
    for part in parts:
        if lines[-1].width and lines[-1].width + gap + part.width > width:
            lines.append(Line())
        lines[-1].add(" " * gap if lines[-1].width else "").extend(part)
    return [line for line in lines if line.width]


def columns(blocks: Sequence[Block], count: int) -> list[list[Block]]:
    """The blocks in so many columns, in their order, the highest column as low as possible."""
    for limit in range(max((block.height for block in blocks), default=0), sum(block.height for block in blocks) + 1):
        filled: list[list[Block]] = [[]]
        for block in blocks:
            if sum(each.height for each in filled[-1]) + block.height > limit and filled[-1]:
                filled.append([])
            filled[-1].append(block)
        if len(filled) <= count:
            return filled
    return [[]]


def drawn(parts: Sequence[Sequence[Block]], widths: Sequence[int], height: int) -> list[Line]:
    """The columns beside each other; the last box of each reaches down to `height` or to the end of the highest column."""
    height = max(height, *(sum(block.height for block in part) for part in parts))
    return beside([(_column(part, width, height), width) for part, width in zip(parts, widths, strict=True)], gap=0)


def _column(part: Sequence[Block], width: int, height: int) -> list[Line]:
    lines: list[Line] = []
    for number, block in enumerate(part):
        rows = height - len(lines) if number == len(part) - 1 else block.height
        lines += box(block.drawn(), width, rows, Line(block.title, "title"), block.note)
    return lines

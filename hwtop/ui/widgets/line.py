"""Line: one row of text in roles. A role is a name that the style sheet gives a colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from hwtop.ui.widgets.text import ELLIPSIS, cells, elide_middle, fit, visible, wrap

Span = tuple[str, str]
_WORDS_OF = re.compile(r"\s*\S+|\s+$")


class Line:
    """Spans of (text, role), and their width in cells. All text passes `visible`, so text from the machine can be added as it is."""

    __slots__ = ("spans", "width")

    def __init__(self, text: str = "", role: str = "text") -> None:
        self.spans: list[Span] = []
        self.width = 0
        if text:
            self.add(text, role)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self.spans == other.spans

    __hash__ = None  # type: ignore[assignment]

    def add(self, text: str, role: str = "text") -> Line:
        """Append `text`; returns the line itself."""
        if text:
            self._append(visible(text), role)
        return self

    def extend(self, other: Line | Iterable[Span]) -> Line:
        """Append another line's spans; returns the line itself."""
        if isinstance(other, Line):
            for text, role in other.spans:
                self._append(text, role)
        else:
            for text, role in other:
                self.add(text, role)
        return self

    def _append(self, text: str, role: str) -> None:
        self.width += cells(text)  # of each character: what joins some into one is not visible text
        if self.spans and self.spans[-1][1] == role:
            text = self.spans.pop()[0] + text
        self.spans.append((text, role))

    @property
    def text(self) -> str:
        """What is read, without roles."""
        return "".join(text for text, _ in self.spans)

    def fitted(self, width: int, align: str = "left") -> Line:
        """A line of exactly `width` cells; what is too long ends in an ellipsis."""
        missing = width - self.width
        if missing == 0:
            return self
        if missing > 0:
            line = Line()
            if align == "right":
                return line.add(" " * missing).extend(self)
            return line.extend(self).add(" " * missing)
        line = Line()
        left = width
        for text, role in self.spans:
            size = cells(text)
            if size < left:
                line.add(text, role)
                left -= size
                continue
            # One cell is kept for the ellipsis: something is left out after this span, or of it.
            line.add(fit(text + ELLIPSIS * 2, left), role)
            break
        return line

    def filled(self, width: int, role: str) -> Line:
        """As `fitted`, with what is added in `role`: for rows with a background."""
        return Line().extend(self).add(" " * (width - self.width), role).fitted(width)

    def recoloured(self, role: str) -> Line:
        """The same text in one role, e.g. of a row that is lost or under the cursor."""
        return Line(self.text, role)


def painted(glyphs: Iterable[Span]) -> Line:
    """A line of single glyphs, e.g. of a trend."""
    line = Line()
    for role, run in groupby(glyphs, key=itemgetter(1)):
        line.add("".join(glyph for glyph, _ in run), role)
    return line


def beside(columns: Iterable[tuple[list[Line], int]], gap: int = 2) -> list[Line]:
    """Blocks of (lines, width) side by side, `gap` cells apart."""
    blocks = list(columns)
    height = max((len(lines) for lines, _ in blocks), default=0)
    rows: list[Line] = []
    for index in range(height):
        row = Line()
        for number, (lines, width) in enumerate(blocks):
            row.add(" " * gap if number else "")
            row.extend((lines[index] if index < len(lines) else Line()).fitted(width))
        rows.append(row)
    return rows


def wrapped(mark: tuple[str, str], text: str, role: str, width: int) -> Iterator[Line]:
    """`text` in rows of `width` cells: behind a mark and its role the first one, the others as far in."""
    for number, piece in enumerate(wrap(text, max(8, width - len(mark[0])))):
        yield Line(" " * len(mark[0]) if number else mark[0], mark[1]).add(piece, role)


def broken(line: Line, width: int, indent: int) -> list[Line]:
    """The line in as many as it needs, broken between words; `indent`: cells before the text from the second on."""
    if line.width <= width:
        return [line]
    lines, room = [Line()], width
    for text, role in line.spans:
        for piece in _WORDS_OF.findall(text):
            size = cells(piece)
            if size > room and lines[-1].width > indent:
                lines.append(Line(" " * indent))
                room, piece = width - indent, piece.lstrip()
                size = cells(piece)
            lines[-1].add(piece if size <= room else elide_middle(piece, max(1, room)), role)
            room = width - lines[-1].width
    return lines


def change(old: Line, new: Line) -> tuple[int, int] | None:
    """The cells (start, length) from the first to the last difference of two lines; None when they are the same.

    One run a row: sending the unchanged cells in between is cheaper than moving the cursor and setting colours anew.
    """
    if old.spans == new.spans:
        return None
    first, last = _same_ends(old.spans, new.spans)
    start = _width(new.spans[:first])
    before, after = _cells(old.spans[first : len(old.spans) - last]), _cells(new.spans[first : len(new.spans) - last])
    if len(before) != len(after):
        return start, max(old.width, new.width) - start
    first, last = _same_ends(before, after)
    # Where a wide character gave way to a narrow one, the cells of both lines are meant.
    length = max(_width(line[first : len(line) - last]) for line in (before, after))
    return start + _width(after[:first]), length


def _same_ends(before: list[Span], after: list[Span]) -> tuple[int, int]:
    """How many are the same in the beginning, and of the others at the end."""
    first = _same(before, after)
    return first, _same(before[first:][::-1], after[first:][::-1])


def _same(before: list[Span], after: list[Span]) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (old, new) in pairs if old != new), min(len(before), len(after)))


def _cells(spans: list[Span]) -> list[Span]:
    return [(character, role) for text, role in spans for character in text]


def _width(spans: list[Span]) -> int:
    return cells("".join(text for text, _ in spans))

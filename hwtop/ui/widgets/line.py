"""Line: one row of text in roles. A role is a name that the style sheet gives a colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hwtop.ui.widgets.text import ELLIPSIS, cells, fit, visible, wrap

Span = tuple[str, str]


class Line:
    """Spans of (text, role). All text passes `visible`, so text from the machine can be added as it is."""

    __slots__ = ("spans",)

    def __init__(self, text: str = "", role: str = "text") -> None:
        self.spans: list[Span] = []
        if text:
            self.add(text, role)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self.spans == other.spans

    __hash__ = None  # type: ignore[assignment]

    def add(self, text: str, role: str = "text") -> Line:
        """Append `text`; returns the line itself."""
        if not text:
            return self
        text = visible(text)
        if self.spans and self.spans[-1][1] == role:
            text = self.spans.pop()[0] + text
        self.spans.append((text, role))
        return self

    def extend(self, other: Line | Iterable[Span]) -> Line:
        """Append another line's spans; returns the line itself."""
        for text, role in other.spans if isinstance(other, Line) else other:
            self.add(text, role)
        return self

    @property
    def text(self) -> str:
        """What is read, without roles."""
        return "".join(text for text, _ in self.spans)

    @property
    def width(self) -> int:
        """In cells."""
        return sum(cells(text) for text, _ in self.spans)

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


def change(old: Line, new: Line) -> tuple[int, int] | None:
    """The cells (start, length) from the first to the last difference of two lines; None when they are the same.

    One run a row: sending the unchanged cells in between is cheaper than moving the cursor and setting colours anew.
    """
    before, after = _cells(old), _cells(new)
    if before == after:
        return None
    if len(before) != len(after):
        return 0, max(old.width, new.width)
    differ = [index for index, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    first, last = differ[0], differ[-1]
    # Where a wide character gave way to a narrow one, the cells of both lines are meant.
    start = _width(after[:first])
    return start, max(_width(before[: last + 1]), _width(after[: last + 1])) - start


def _cells(line: Line) -> list[Span]:
    return [(character, role) for text, role in line.spans for character in text]


def _width(spans: list[Span]) -> int:
    return cells("".join(text for text, _ in spans))

"""Line: one row of text in roles. A role is a name that the style sheet gives a colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from hwtop.lazy_regex import lazy_regex
from hwtop.ui.widgets.text import ELLIPSIS, cells, elide_middle, fit, visible, wrap

Span = tuple[str, str]
_WORDS_OF = lazy_regex(r"\s*\S+|\s+$")


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
            shown = visible(text)
            self._join(((shown, role),), cells(shown))
        return self

    def extend(self, other: Line | Iterable[Span]) -> Line:
        """Append another line's spans; returns the line itself."""
        if isinstance(other, Line):
            self._join(other.spans, other.width)
        else:
            for text, role in other:
                self.add(text, role)
        return self

    def _join(self, spans: Sequence[Span], width: int) -> None:
        """Append what is visible already and has this width: that of each character, as what joins some into one is not visible."""
        if self.spans and spans and self.spans[-1][1] == spans[0][1]:
            (text, role), *spans = spans
            self.spans[-1] = self.spans[-1][0] + text, role
        self.spans += spans
        self.width += width

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
            blank, line = Line(" " * missing), Line()
            return line.extend(blank).extend(self) if align == "right" else line.extend(self).extend(blank)
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

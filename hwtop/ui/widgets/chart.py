"""Charts: values over a labelled axis in braille dots, two by four a cell."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import ceil

from msgspec import Struct

from hwtop.ui.widgets.axis import Axis
from hwtop.ui.widgets.line import Line

_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)
"""Braille dots of a cell from the bottom up."""


class Stroke(Struct, frozen=True):
    """Points that are joined from left to right."""

    xs: Sequence[float]
    """Ascending."""
    ys: Sequence[float]
    """Finite; above 0 on a log axis."""
    role: str = "accent"
    """Of the line through the medians."""
    band: str = "dim"
    """Of the dots from the least to the greatest, where several values share a column."""


class Mark(Struct, frozen=True):
    """Something that stands on the horizontal axis."""

    x: float
    glyph: str
    role: str


class _Canvas:
    """Dots in cells, and the role of each cell."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.dots = [[0] * width for _ in range(height)]
        self.roles = [[""] * width for _ in range(height)]
        self.above: set[int] = set()
        self.below: set[int] = set()

    def rise(self, column: int, first: int, last: int, role: str, *, is_on_top: bool) -> None:
        """Dots `first` to `last` of a column of dots, 0 at the bottom."""
        cell, bits = column // 2, _RIGHT if column % 2 else _LEFT
        if first > last:
            first, last = last, first
        for below in range(first // 4, last // 4 + 1):
            row = self.height - 1 - below
            for level in range(max(first - 4 * below, 0), min(last - 4 * below, 3) + 1):
                self.dots[row][cell] |= bits[level]
            if is_on_top or not self.roles[row][cell]:
                self.roles[row][cell] = role


def chart(
    strokes: Sequence[Stroke],
    x: Axis,
    y: Axis,
    width: int,
    height: int,
    *,
    marks: Sequence[Mark] = (),
    gutter: int = 0,
    has_x: bool = True,
    x_name: str = "",
) -> list[Line]:
    """`height` lines of `width` cells: ticks and labels at the left, the line, and below it the horizontal axis with its
    labels and, where it is free, its name, in two of the rows. The labels at the left take `gutter` cells at least.

    Values above or below the axis are told by ▲ and ▼ at its ends, never drawn as if they were there.
    """
    rows = height - 2 if has_x else height
    gutter = max([gutter, *(len(label) for label in y.labels())])
    canvas = _Canvas(max(1, width - gutter - 2), max(1, rows))
    for stroke in strokes:
        _draw(stroke, x, y, canvas)
    labels = _rows_of(y, rows)
    lines = []
    for row in range(rows):
        label = labels.get(row)
        line = Line(f"{label or '':>{gutter}} ", "label").add("┤" if label else "│", "border")
        lines.append(line.extend(_cells(canvas, row, is_ruled=label is not None)).fitted(width))
    return [*lines, *_below(x, x_name, canvas.width, gutter, marks, width)] if has_x else lines


def _draw(stroke: Stroke, x: Axis, y: Axis, canvas: _Canvas) -> None:
    most = 4 * canvas.height - 1
    before: tuple[int, float] | None = None
    for column, low, middle, high in _columns(stroke, x, 2 * canvas.width):
        share = bottom = top = y.share(middle)
        if low != high:
            bottom, top = y.share(low), y.share(high)
            if top >= 0 and bottom <= 1:
                canvas.rise(column, _level(bottom, most), _level(top, most), stroke.band, is_on_top=False)
        if top > 1 + 1e-9:
            canvas.above.add(column // 2)
        if bottom < -1e-9:
            canvas.below.add(column // 2)
        _join(canvas, before, (column, share), stroke.role, most)
        before = column, share


def _columns(stroke: Stroke, x: Axis, count: int) -> Iterator[tuple[int, float, float, float]]:
    """(column, least, median, greatest) of each column of dots that has values."""
    wide = (x.high - x.low) / max(1, count - 1)
    start, total = 0, len(stroke.xs)
    for column in range(count):
        end = bisect_right(stroke.xs, x.low + (column + 0.5) * wide, start)
        if end > start:
            values = sorted(stroke.ys[start:end]) if end > start + 1 else stroke.ys[start:end]
            yield column, values[0], values[len(values) // 2], values[-1]
        start = end
        if start == total:
            return


def _join(canvas: _Canvas, before: tuple[int, float] | None, here: tuple[int, float], role: str, most: int) -> None:
    """A line from the value before to this one; where both lie beyond the same end, none."""
    column, share = here
    last = _level(share, most)
    if before is None:
        if 0 <= share <= 1:
            canvas.rise(column, last, last, role, is_on_top=True)
        return
    if (share > 1 and before[1] > 1) or (share < 0 and before[1] < 0):
        return
    first, gap = _level(before[1], most), column - before[0]
    for step in range(1, gap + 1):
        start, end = first + (last - first) * (step - 1) // gap, first + (last - first) * step // gap
        # It touches the dot before, and does not draw over it.
        start += (end > start) - (end < start)
        canvas.rise(before[0] + step, start, end, role, is_on_top=True)


def _level(share: float, most: int) -> int:
    return 0 if share <= 0 else most if share >= 1 else int(share * most + 0.5)


def _cells(canvas: _Canvas, row: int, *, is_ruled: bool) -> Line:
    """One row: its dots, what lies beyond at its first and last, a faint line at a tick."""
    beyond = canvas.above if row == 0 else frozenset()
    below = canvas.below if row == canvas.height - 1 else frozenset()
    empty = ("┈", "track") if is_ruled else (" ", "text")
    line, text, role = Line(), "", ""
    for cell, dots in enumerate(canvas.dots[row]):
        if cell in beyond:
            glyph, of = "▲", "warn"
        elif cell in below:
            glyph, of = "▼", "warn"
        elif dots:
            glyph, of = chr(0x2800 + dots), canvas.roles[row][cell]
        else:
            glyph, of = empty
        if of != role:
            line.add(text, role)
            text, role = "", of
        text += glyph
    return line.add(text, role)


def _rows_of(y: Axis, rows: int) -> dict[int, str]:
    """Row -> label. The ends first, then those between that are not next to one that has its label."""
    labels = list(zip(y.ticks, y.labels(), strict=True))
    placed: dict[int, str] = {}
    for tick, label in sorted(labels, key=lambda item: item[0] not in (y.low, y.high)):
        row = round((1 - y.share(tick)) * (rows - 1))
        if not {row - 1, row, row + 1} & placed.keys() or (tick == y.high and row not in placed):
            placed[row] = label
    return placed


def _below(x: Axis, x_name: str, cells: int, gutter: int, marks: Sequence[Mark], width: int) -> list[Line]:
    """The horizontal axis with its marks, and its labels as far as they do not touch."""
    rule = ["─"] * cells
    labels = [" "] * (cells + gutter + 2)
    free_from = 0
    for tick, label in zip(x.ticks, x.labels(), strict=True):
        at = _cell(x, tick, cells)
        first = max(0, min(len(labels) - len(label), at + gutter + 2 - len(label) // 2))
        if first < free_from:
            continue
        rule[at] = "┬"
        labels[first : first + len(label)] = label
        free_from = first + len(label) + 2
    if free_from + len(x_name) <= len(labels):
        labels[len(labels) - len(x_name) :] = x_name
    axis = Line(" " * (gutter + 1)).add("└", "border")
    on_it = {_cell(x, mark.x, cells): mark for mark in reversed(marks) if x.low <= mark.x <= x.high}
    start = 0
    for at, mark in sorted(on_it.items()):
        axis.add("".join(rule[start:at]), "border").add(mark.glyph, mark.role)
        start = at + 1
    axis.add("".join(rule[start:]), "border")
    return [axis.fitted(width), Line("".join(labels), "label").fitted(width)]


def _cell(x: Axis, value: float, cells: int) -> int:
    return ceil(x.share(value) * (2 * cells - 1) - 0.5) // 2

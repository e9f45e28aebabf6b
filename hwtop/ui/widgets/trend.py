"""Trends: the newest samples on a fixed scale in braille dots, two samples a cell, four levels a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hwtop.ui.widgets.line import Line

_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)
_BLOCKS = " ▁▂▃▄▅▆▇█"


def trend(
    values: Sequence[float | None],
    width: int,
    height: int,
    top: float,
    role: Callable[[float], str] | str = "good",
) -> list[Line]:
    """`height` lines of `width` cells; the newest sample is at the right edge, 0 at the bottom, `top` at the top.

    Never scaled to its own values: a steady 0 and a steady 100 must not look the same. A missing sample is a gap.
    """
    newest = list(values)[-2 * width :]
    samples: list[float | None] = [*[None] * (2 * width - len(newest)), *newest]
    dots = [_dots(value, top, height) for value in samples]
    rows: list[Line] = []
    for row in range(height):
        line = Line()
        below = 4 * (height - 1 - row)
        for cell in range(width):
            left, right = dots[2 * cell], dots[2 * cell + 1]
            code = sum(_LEFT[: max(0, left - below)]) + sum(_RIGHT[: max(0, right - below)])
            worst = max(samples[2 * cell] or 0.0, samples[2 * cell + 1] or 0.0)
            line.add(chr(0x2800 + code) if code else " ", role if isinstance(role, str) else role(worst))
        rows.append(line)
    return rows


def _dots(value: float | None, top: float, height: int) -> int:
    if value is None or top <= 0:
        return 0
    levels = 4 * height
    return min(levels, max(1, round(min(1.0, max(0.0, value / top)) * levels)))


def blocks(values: Sequence[float | None], top: float, role: Callable[[float], str]) -> Line:
    """One block character a value, e.g. one a core; a missing one is a dash."""
    line = Line()
    for value in values:
        if value is None:
            line.add("–", "dim")
            continue
        level = min(8, max(1, round(min(1.0, max(0.0, value / top)) * 8)))
        line.add(_BLOCKS[level], role(value))
    return line

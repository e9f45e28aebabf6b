"""Trends: the newest samples on a fixed scale in braille dots, two samples a cell, four levels a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hwtop.ui.widgets.line import Line, Span, painted

_LEFT = (0, 0x40, 0x44, 0x46, 0x47)
_RIGHT = (0, 0x80, 0xA0, 0xB0, 0xB8)
"""The dots of one half of a cell, from the bottom up to each level."""
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
    worst = [max(samples[place] or 0.0, samples[place + 1] or 0.0) for place in range(0, 2 * width, 2)]
    roles = [role if isinstance(role, str) else role(value) for value in worst]
    return [
        painted(zip(_glyphs([dot - below for dot in dots]), roles, strict=True))
        for below in range(4 * (height - 1), -1, -4)
    ]


def _glyphs(dots: Sequence[int]) -> Iterator[str]:
    """Of one row: two samples a cell, each with so many dots above the lower edge of the row."""
    for left, right in zip(dots[::2], dots[1::2], strict=True):
        code = _LEFT[min(4, max(0, left))] | _RIGHT[min(4, max(0, right))]
        yield chr(0x2800 + code) if code else " "


def _dots(value: float | None, top: float, height: int) -> int:
    if value is None or top <= 0:
        return 0
    levels = 4 * height
    return min(levels, max(1, round(min(1.0, max(0.0, value / top)) * levels)))


def blocks(values: Sequence[float | None], top: float, role: Callable[[float], str]) -> Line:
    """One block character a value, e.g. one a core; a missing one is a dash."""
    return painted(_block(value, top, role) for value in values)


def _block(value: float | None, top: float, role: Callable[[float], str]) -> Span:
    if value is None:
        return "–", "dim"
    level = min(8, max(1, round(min(1.0, max(0.0, value / top)) * 8)))
    return _BLOCKS[level], role(value)

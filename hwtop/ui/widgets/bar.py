"""Bars: a share of a fixed whole, drawn in half cells."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.ui.widgets.line import Line, painted


def bar(share: float | None, width: int, role: str = "good", ticks: Sequence[float] = ()) -> Line:
    """A bar of `width` cells for `share` in 0..1. Unknown is an empty dashed track; above 0 shows at least half a cell.

    `ticks`: shares that are marked on what is left of the track, e.g. from where on it is too much.
    """
    if width <= 0:
        return Line()
    if share is None or share != share:
        return Line("╌" * width, "track")
    share = min(1.0, max(0.0, share))
    halves = min(2 * width, max(round(share * width * 2), 1 if share > 0 else 0))
    full, half = divmod(halves, 2)
    marked = {min(width - 1, int(tick * width)) for tick in ticks}
    line = Line("━" * full + "╸" * half, role)
    track = painted(("┼", "label") if cell in marked else ("─", "track") for cell in range(full + half, width))
    return line.extend(track)


def stacked(parts: list[tuple[float, str, str]], width: int) -> Line:
    """Shares (0..1, role, glyph) one after the other in one bar of `width` cells; what they leave is track."""
    line = Line()
    done = 0
    total = 0.0
    for share, role, glyph in parts:
        total += share
        end = round(max(0.0, min(1.0, total)) * width)
        line.add(glyph * (end - done), role)
        done = max(done, end)
    return line.add("─" * (width - done), "track")

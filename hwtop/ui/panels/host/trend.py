"""A share of the host over the last minutes, on a scale from 0 to 100 % that is written beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hwtop.fields import units
from hwtop.model.frame import DerivedState
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.trend import trend

_SCALE = 5
"""Cells of the labels of the scale."""


def past(
    history: Sequence[DerivedState],
    share_pct: Callable[[DerivedState], float | None],
    width: int,
    rows: int,
    role: Callable[[float], str] | str = "info",
) -> list[Line]:
    """`rows` of dots with the scale on their left, and a row with how far back they reach; nothing without rows."""
    if rows <= 0:
        return []
    cells = max(1, width - _SCALE)
    shown = history[-2 * cells :]
    drawn = trend([share_pct(derived) for derived in shown], cells, rows, 100, role)
    labels = ["100%", *[""] * (rows - 2), "0%"][-rows:]
    lines = [Line(f"{label:>4} ", "dim").extend(line) for label, line in zip(labels, drawn, strict=True)]
    return [*lines, Line(_reach(shown, cells), "dim").fitted(width, "right")]


def _reach(shown: Sequence[DerivedState], cells: int) -> str:
    """ "2 min 10 s ago        now", as wide as the dots."""
    if len(shown) < 2:
        return "now"
    start = f"{units.duration(round(shown[-1].at_s - shown[0].at_s))} ago"
    reach = min(cells, (len(shown) + 1) // 2)
    return start + "now".rjust(reach - len(start)) if reach >= len(start) + 4 else "now"

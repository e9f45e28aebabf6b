"""All curves, small, below each other: the one under the cursor is drawn large beside them."""

from __future__ import annotations

import math

from hwtop.model.curve import Curve
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.curves import view as curve_view
from hwtop.ui.panels.curves.plot import plot
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.panels.curves.view import TITLES
from hwtop.ui.view import View
from hwtop.ui.widgets.axis import number
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap

_TALLEST = 11
"""Rows of one curve; more would not show more."""
_GUTTER = 7


def draw(view: View, width: int, height: int) -> list[Line]:
    """As many rows for each as there is room, its name and newest value first."""
    reported = curve_view.curves(view)
    here = curve_view.selected(view)
    room, lines = inner(width), []
    each = item_height(view, height)
    for curve in reported[first_shown(view, height) :]:
        is_here = here is not None and curve.name == here.name
        lines.append(_head(curve, room, is_here=is_here))
        drawn = (
            plot(curve, room, each - 1, is_log=curve.name in view.state(CurvesState).log_scales, gutter=_GUTTER)
            if each > 2
            else None
        )
        rows = drawn.lines if drawn else []
        lines += [*rows, *[Line()] * (each - 1 - len(rows))]
    missing = [TITLES[name].lower() for name in TITLES if name not in {curve.name for curve in reported}]
    if missing:
        not_reported = wrap(f"not reported: {', '.join(missing)}", room)
        is_room = len(not_reported) <= height - 2 - len(lines)
        lines += [Line(text, "dim") for text in (not_reported if is_room else [f"not reported: {len(missing)} more"])]
    return box(
        lines, width, height, Line("Curves", "title"), Line(key_names.several(("up", "down"), view.keymap), "key")
    )


def item_height(view: View, height: int) -> int:
    """Rows of one curve in a list of this height."""
    return max(2, min(_TALLEST, (height - 2) // max(1, len(curve_view.curves(view)))))


def row_at(view: View, y: int, height: int) -> int:
    """The place among all curves of the one in row `y` of the panel; what is outside of the list is -1."""
    each, reported = item_height(view, height), curve_view.curves(view)
    place = first_shown(view, height) + (y - 1) // each
    return place if y >= 1 and place < len(reported) else -1


def first_shown(view: View, height: int) -> int:
    """The first curve in sight: the one under the cursor always is."""
    reported, here = curve_view.curves(view), curve_view.selected(view)
    return max(0, (reported.index(here) if here else 0) + 1 - max(1, (height - 2) // item_height(view, height)))


def _head(curve: Curve, width: int, *, is_here: bool) -> Line:
    value = curve.points[-1].value
    trend = curve_view.trend(curve)
    glyph, role = curve_view.direction(curve.name, trend.change) if trend else (" ", "dim")
    if not math.isfinite(value):
        glyph, role = "✖", "bad"
    newest = Line(number(value), "strong" if math.isfinite(value) else "bad")
    unit = curve_view.unit(curve)
    newest.add(unit if len(TITLES[curve.name]) + newest.width + len(unit) + 6 <= width else "", "label").add(
        f" {glyph}", role
    )
    head = Line("▸ " if is_here else "  ", "accent").add(TITLES[curve.name], "title" if is_here else "text")
    return head.fitted(max(0, width - newest.width)).extend(newest).fitted(width)

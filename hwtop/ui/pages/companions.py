"""Rows that a panel has no use for go to another panel that helps to answer the page's question. Pure.

The split is at a fixed share, so that no edge jumps while what a panel says grows and shrinks a little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hwtop.ui.pages.page import Companion, PagePanel
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.place import Place

_FRAME = "│╭╮╰╯─ "
_ROWS = 34
"""Of a panel, from which it can spare some."""


def joined(
    view: View, companions: Sequence[Companion], places: dict[str, Place], panels: Mapping[str, PagePanel]
) -> dict[str, Place]:
    """The places with companions below the panels that have room to spare."""
    for pair in companions if view.job else ():
        at = places.get(pair.panel)
        if at is None or at.height < _ROWS or pair.below in places:
            continue
        kept = at.height * pair.share_pct // 100
        if _is_enough(view, panels[pair.panel], at, kept):
            places = places | {
                pair.panel: Place(at.x, at.y, at.width, kept),
                pair.below: Place(at.x, at.y + kept, at.width, at.height - kept),
            }
    return places


def _is_enough(view: View, panel: PagePanel, at: Place, kept: int) -> bool:
    """All that it says has room in `kept` rows; one whose charts grow with the rows says so itself."""
    if panel.hidden is not None:
        return panel.hidden(view, at.width, kept) == 0
    return _used(panel.draw(view, at.width, at.height)) <= kept


def _used(lines: list[Line]) -> int:
    """Rows down to the last that says something, with the frame below it."""
    last = next((row for row in reversed(range(len(lines))) if lines[row].text.strip(_FRAME)), 0)
    return last + 2

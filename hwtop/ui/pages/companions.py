"""Rows that a panel has no use for go to another panel that helps to answer the page's question. Pure.

The split is at a fixed share, so that no edge jumps while what a panel says grows and shrinks a little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hwtop.ui.pages.place import Place
from hwtop.ui.view import Page, View
from hwtop.ui.widgets.line import Line

Draw = Callable[[View, int, int], list[Line]]


@dataclass(frozen=True)
class _Companion:
    """`below` gets the rows of `panel` behind its share, while that holds all of it."""

    panel: str
    below: str
    share_pct: int = 50


_COMPANIONS: dict[Page, tuple[_Companion, ...]] = {
    "ranks": (_Companion("stack", "logs"),),
    "stacks": (_Companion("stack-tree", "ranks"), _Companion("stack", "logs")),
    "flame": (_Companion("flame-path", "stack"), _Companion("stack", "logs")),
    "gpu": (_Companion("gpu-processes", "ranks"),),
    "host": (_Companion("host-page", "busiest", 60),),
    "symptoms": (
        _Companion("symptom", "ranks", 60),
        _Companion("suspects", "logs"),
        _Companion("symptom-page", "ranks", 60),
    ),
}
_FRAME = "│╭╮╰╯─ "
_ROWS = 34
"""Of a panel, from which it can spare some."""


def joined(view: View, places: dict[str, Place], panels: Mapping[str, Draw]) -> dict[str, Place]:
    """The places with companions below the panels that have room to spare."""
    for pair in _COMPANIONS.get(view.page, ()) if view.job else ():
        at = places.get(pair.panel)
        if at is None or at.height < _ROWS or pair.below in places:
            continue
        kept = at.height * pair.share_pct // 100
        if _used(panels[pair.panel](view, at.width, at.height)) <= kept:
            places = places | {
                pair.panel: Place(at.x, at.y, at.width, kept),
                pair.below: Place(at.x, at.y + kept, at.width, at.height - kept),
            }
    return places


def _used(lines: list[Line]) -> int:
    """Rows down to the last that says something, with the frame below it."""
    last = next((row for row in reversed(range(len(lines))) if lines[row].text.strip(_FRAME)), 0)
    return last + 2

"""Where the keys and clicks about panels lead: a view and what was pressed in, a view out. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from hwtop.ui import panel_view
from hwtop.ui.moves import mouse as mouse_moves
from hwtop.ui.moves import moves
from hwtop.ui.pages.layout import arrange
from hwtop.ui.view import View

Pressed = Literal["next", "previous", "left", "right", "up", "down", "alone", "hide", "all"]
_WAYS: dict[Pressed, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
"""Cells to the right and down."""


def pressed(view: View, what: Pressed, size: moves.Size) -> View:
    """Another panel is meant, or the one that is has the page, goes, or comes back with all others."""
    if view.is_picking:
        return view
    view = replace(view, note="")
    places = arrange(view, *size)
    if what in _WAYS:
        return panel_view.panel_beside(view, places, *_WAYS[what])
    if what in ("next", "previous"):
        return panel_view.next_panel(view, places, 1 if what == "next" else -1)
    if what == "alone":
        return panel_view.toggled(view, places)
    return panel_view.hidden(view, places) if what == "hide" else panel_view.restored(view)


def clicked(view: View, panel: str, at: tuple[int, int], clicks: int, size: moves.Size) -> View:
    """A click on the title of a panel, or two anywhere on it, make it have the page, or no longer; one selects what stands
    there, and the panel is the one that is meant."""
    places = arrange(view, *size)
    place = places.get(panel)
    if place is None:
        return view
    is_framed = panel_view.is_framed(panel, place) and not view.is_picking
    if is_framed and (at[1] == 0 or (clicks == 2 and panel in (view.panel, view.alone))):
        return panel_view.toggled(view, places, panel)
    after = mouse_moves.clicked(view, panel, at, (place.width, place.height))
    return panel_view.chosen(after, panel) if is_framed and after.page == view.page else after

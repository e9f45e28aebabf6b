"""Where the mouse leads: a view, a panel and a cell of it in, a view out. What a panel does with it stands in its page. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.ui.input import keyboard
from hwtop.ui.pages import registry
from hwtop.ui.pages.layout import arrange
from hwtop.ui.pages.page import Cell, Size
from hwtop.ui.pages.registry import current
from hwtop.ui.panels import time_bar
from hwtop.ui.reducers import focus
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.view import View

_NOTCH = 3
"""Rows of text for one notch of the wheel."""


def wheeled(view: View, panel: str, down: int, size: Size) -> View:
    """One notch of the wheel over this panel: its list goes on by a row, its text by a few; the time bar by a frame."""
    if view.is_picking or panel == "compact":
        return keyboard.moved(view, 0, down, size)
    if panel == "time-bar":
        return time_moves.stepped(view, down)
    if panel in current(view).text_panels(view):
        return keyboard.scrolled(view, _NOTCH * down, size)
    found = registry.panel(view, panel)
    return found.wheel(view, down) if found and found.wheel else view


def clicked(view: View, panel: str, at: Cell, clicks: int, size: Size) -> View:
    """A click on the title of a panel, or two anywhere on it, maximize it, or show all panels again; one selects what is there
    and focuses the panel."""
    places = arrange(view, *size)
    place = places.get(panel)
    if place is None:
        return view
    is_framed = focus.is_framed(panel, place) and not view.is_picking
    if is_framed and (at[1] == 0 or (clicks == 2 and panel in (view.panel, view.alone))):
        return keyboard.maximized(view, places, panel)
    return selected(focus.chosen(view, panel) if is_framed else view, panel, at, (place.width, place.height))


def selected(view: View, panel: str, at: Cell, size: Size) -> View:
    """What is at this cell of a panel of this size is selected."""
    found = registry.panel(view, panel)
    return registry.settled(view, found.click(view, at, size)) if found and found.click else view


def pulled(view: View, x: int, width: int, *, is_drag: bool) -> View:
    """The frame of this cell of the time bar; right of its track now, or while it is dragged the newest one."""
    view = replace(view, note="")
    if not view.past.kept or view.time_typed is not None:
        return view
    place = time_bar.place_at(view, x, width)
    if place is None:
        return time_moves.shown(view, len(view.past.kept) - 1) if is_drag else time_moves.live(view)
    return time_moves.shown(view, place)

"""Where each panel stands for a view and a size, and the whole picture. Pure: sizes in, places and lines out."""

from __future__ import annotations

from hwtop.ui.pages import actions, compact, companions, footer, vacancy
from hwtop.ui.pages.page import Draw, Page, Places
from hwtop.ui.pages.registry import PANELS as PAGE_PANELS
from hwtop.ui.pages.registry import current, panel
from hwtop.ui.panels import hint, time_bar, verdict
from hwtop.ui.reducers import focus
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.place import Place

PANELS: dict[str, Draw] = {
    "verdict": verdict.draw,
    **{name: panel.draw for name, panel in PAGE_PANELS.items()},
    "compact": compact.draw,
    "time-bar": time_bar.draw,
    "hint": hint.draw,
    "footer": footer.draw,
}
COMPACT_BELOW = (60, 15)
"""Cells and rows under which panels give way to text."""


def arrange(view: View, width: int, height: int) -> Places:
    """The panels to show and where; they never overlap and fill the screen. Worked out once for each view and size."""
    places = view.arranged.get((width, height))
    if places is None:
        places = view.arranged[width, height] = _arranged(actions.with_keys(view), width, height)
    return places


def _arranged(view: View, width: int, height: int) -> Places:
    if width < COMPACT_BELOW[0] or height < COMPACT_BELOW[1]:
        return {"compact": Place(0, 0, width, height)}
    top, bottom = verdict.ROWS, height - footer.rows(view, width)
    places = {"verdict": Place(0, 0, width, top), "footer": Place(0, bottom, width, height - bottom)}
    if said := hint.rows(view, width):
        bottom -= said
        places["hint"] = Place(0, bottom, width, said)
    if time_bar.rows(view):
        bottom -= 1
        places["time-bar"] = Place(0, bottom, width, 1)
    page = current(view)
    if view.is_picking:
        return places | page.arrange(view, top, bottom, width)
    if view.alone:
        return places | _alone(view, top, bottom, width)
    body = companions.joined(view, page.companions, page.arrange(view, top, bottom, width), PAGE_PANELS)
    return places | vacancy.without(body, focus.gone(view, body, kept(page, view)))


def _alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One panel has the page, some with company."""
    arranged = PAGE_PANELS[view.alone].alone
    return arranged(view, top, bottom, width) if arranged else {view.alone: Place(0, top, width, bottom - top)}


def kept(page: Page, view: View) -> tuple[str, ...]:
    """The panels of which the first that is there cannot be hidden."""
    return page.focused_first(view) if page.keeps_main else ()


def focused(view: View, places: Places) -> str:
    """The panel that a key about panels is about; "" where there is no choice."""
    return focus.focused(view, places, current(view).focused_first(view))


def drawn(view: View, name: str, places: Places) -> list[Line]:
    """The lines of a panel, with a mark where it is in focus."""
    view = actions.with_keys(view)
    place = places[name]
    found = panel(view, name)
    lines = (found.draw if found else PANELS[name])(view, place.width, place.height)
    return focus.marked(view, lines) if name == focused(view, places) else lines


def picture(view: View, width: int, height: int) -> list[Line]:
    """The whole screen: `height` lines of `width` cells."""
    rows: list[list[tuple[int, Line]]] = [[] for _ in range(height)]
    places = arrange(view, width, height)
    for name, place in places.items():
        for offset, line in enumerate(drawn(view, name, places)):
            rows[place.y + offset].append((place.x, line))
    lines: list[Line] = []
    for parts in rows:
        line = Line()
        for x, part in sorted(parts, key=lambda item: item[0]):
            line = line.fitted(x).extend(part) if line.width < x else line.extend(part)
        lines.append(line.fitted(width))
    return lines

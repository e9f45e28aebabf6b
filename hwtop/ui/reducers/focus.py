"""Which panel is in focus, alone or hidden: what the keys about panels make of a view. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hwtop.ui.keys import names as key_names
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.place import Place

Places = Mapping[str, Place]
Main = tuple[str, ...]
"""The panels that a page is about, the best first."""

FIXED = frozenset({"verdict", "hint", "time-bar", "footer", "compact", "picker"})
"""They always stay, and are never in focus."""
_FRAME = 3
"""Rows from which a panel has a frame, and a title to mark."""


def focused(view: View, places: Places, main: Main) -> str:
    """The panel that a key about panels is about; "" where there is only one or none has a frame."""
    if view.alone:
        return view.alone if view.alone in places else ""
    here = _choosable(places)
    if len(here) < 2 or view.is_picking:
        return ""
    return view.panel if view.panel in here else next((name for name in main if name in here), here[0])


def gone(view: View, body: Places, kept: Main) -> list[str]:
    """The panels of this page that the user has hidden, without the first of `kept` that is there."""
    main = next((name for name in kept if name in body), "")
    return [name for name in body if name in view.hidden and name != main]


def next_panel(view: View, places: Places, main: Main, step: int) -> View:
    """The next panel, as one reads, is in focus."""
    here = _choosable(places)
    if view.alone or len(here) < 2:
        key = key_names.first("panel-alone", view.keymap)
        return replace(view, note=f"this page shows one panel{f'; {key} shows all' if view.alone else ''}")
    return replace(view, panel=here[(here.index(focused(view, places, main)) + step) % len(here)])


def panel_beside(view: View, places: Places, main: Main, right: int, down: int) -> View:
    """The nearest panel in this direction is in focus."""
    now = focused(view, places, main)
    if view.alone or not now:
        return next_panel(view, places, main, 1)
    here = places[now]
    found = [(_way(here, places[name], right, down), name) for name in _choosable(places) if name != now]
    ways = [(way, name) for way, name in found if way is not None]
    return replace(view, panel=min(ways)[1]) if ways else view


def chosen(view: View, name: str) -> View:
    """This panel is in focus."""
    return view if view.alone else replace(view, panel=name)


def alone(view: View, name: str, maximized: str = "") -> View:
    """The panel, or the one that it grows into, has the page; all panels again where one has it."""
    if view.alone:
        return replace(view, alone="", scroll=0)
    return replace(view, alone=maximized or name, panel=name, scroll=0)


def is_only(places: Places) -> bool:
    """There is no other panel to choose."""
    return len(_choosable(places)) < 2


def first(places: Places) -> str:
    """The first panel, as one reads; "" where none has a frame."""
    return next(iter(_choosable(places)), "")


def hidden(view: View, places: Places, main: Main, kept: Main) -> View:
    """Without the panel in focus, on every page where it would stand beside others."""
    name = focused(view, places, main)
    if not name or is_only(places):
        return replace(view, note="this is the only panel here: it stays")
    if name in kept:
        key = key_names.first("next-panel", view.keymap)
        return replace(view, note=f"{name} is what this page is about: it stays; {key} focuses another panel")
    key, settings = (key_names.first(action, view.keymap) for action in ("panel-all", "settings"))
    note = f"{name} is hidden; {key} shows all panels again, {settings} keeps it hidden"
    return replace(view, hidden=view.hidden | {name}, panel="", note=note)


def restored(view: View) -> View:
    """With all panels."""
    if not view.hidden:
        return replace(view, note="no panel is hidden")
    return replace(view, hidden=frozenset(), note=f"shown again: {', '.join(sorted(view.hidden))}")


def is_framed(name: str, place: Place) -> bool:
    """It has a frame with a title, and can be in focus."""
    return name not in FIXED and place.height >= _FRAME


def marked(view: View, lines: list[Line]) -> list[Line]:
    """The panel with a mark before its title; where it is alone on the page, with the way back at its lower edge."""
    if len(lines) < _FRAME or not lines[0].text.startswith("╭─ "):
        return lines
    if view.alone:
        return [*lines[:-1], _way_back(lines[-1], key_names.first("panel-alone", view.keymap))]
    (start, role), *spans = lines[0].spans
    return [Line("╭", role).add("▸", "accent").add(start[2:], role).extend(spans), *lines[1:]]


def _way_back(edge: Line, key: str) -> Line:
    border = edge.spans[0][1]
    words = Line("╰─ ", border).add(key, "key").add(" all panels ", "label")
    return words.add(edge.text[words.width :], border) if edge.text.startswith("╰" + "─" * words.width) else edge


def _choosable(places: Places) -> list[str]:
    return sorted(
        (name for name, place in places.items() if is_framed(name, place)),
        key=lambda name: (places[name].y, places[name].x),
    )


def _way(here: Place, there: Place, right: int, down: int) -> tuple[int, int] | None:
    """(cells to go, cells aside) in a direction; None where it does not lie there or nothing of it is beside."""
    if down:
        here, there = (Place(p.y, p.x, p.height, p.width) for p in (here, there))
    is_onward = there.x >= here.x + here.width if right + down > 0 else there.x + there.width <= here.x
    overlap = min(here.y + here.height, there.y + there.height) - max(here.y, there.y)
    if not is_onward or overlap <= 0:
        return None
    return abs(there.x - here.x), abs(there.y - here.y)

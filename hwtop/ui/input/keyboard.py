"""What a key makes of a view: the keys of all pages are bound to reducers here, the others in the page (`pages/`). Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.action import Action
from hwtop.ui.pages import actions, layout, registry
from hwtop.ui.pages.page import Places, PlacesOf, Reducer, Size
from hwtop.ui.pages.registry import current
from hwtop.ui.panels.logs.state import SEARCH
from hwtop.ui.reducers import focus, logs, playback, ranks, time
from hwtop.ui.view import View


def pressed(view: View, action: str, size: Size) -> View:
    """The view after this action, on a screen of so many cells and rows."""
    view = replace(actions.with_keys(view), note="")
    page = current(view)
    if view.playback is not None and (play := _PLAYBACK.get(action)):
        return play(view)
    if reduce := page.keys.get(action) or _SHARED.get(action):
        return registry.settled(view, reduce(view, partial(_places, size)))
    if view.is_picking:
        return view
    found = actions.by_id()[action]
    if not found.elsewhere:
        return _not_here(view, found)
    home = registry.named(found.elsewhere)
    if not home.is_there(view):
        return replace(view, note=f"{found.description}: on the page {home.title}, which this job has not")
    if found.is_about_rank and view.shown_rank is not None:
        view = replace(view, selected=view.shown_rank.rank)
    there = replace(registry.turned(view, found.elsewhere), came_from=page.name if found.is_about_rank else "")
    reduce = current(there).keys.get(action)
    return reduce(there, partial(_places, size)) if reduce else there


def moved(view: View, right: int, down: int, size: Size) -> View:
    """The arrow keys, so many cells and rows."""
    return current(view).move(view, right, down, partial(_places, size))


def scrolled(view: View, rows: int, size: Size) -> View:
    """This page, `rows` further down."""
    return current(view).scroll(view, rows, partial(_places, size))


def chosen(view: View, size: Size) -> View:
    """What this page has selected, from close by."""
    return registry.settled(view, current(view).choose(view, partial(_places, size)))


def cleared(view: View) -> View:
    """Without what was opened last, else without what was typed, else without selection, mark and scroll."""
    closed = current(view).back(view)
    if closed is not None:
        return registry.turned(closed, view.came_from) if view.came_from else closed
    if current(view).filter(view):
        return typed(replace(view, typing=""), "")
    if view.alone:
        return focus.alone(view, "")
    if view.opened:
        return registry.turned(view, "fleet")
    return time.live(view) if view.is_paused and view.playback is None else registry.cleared(view)


def typed(view: View, word: str) -> View:
    """`word` is the filter of this page, which starts anew with it, or the word to search for."""
    view = replace(view, is_typed_anew=False)
    if view.typing == SEARCH:
        return logs.searching_for(view, word)
    page = current(view)
    return page.restarted(replace(view, filters={**view.filters, page.subject(view): word}))


def _places(size: Size, view: View) -> Places:
    return layout.arrange(view, *size)


def _not_here(view: View, action: Action) -> View:
    """With a word where the action belongs."""
    pages = " and ".join(f"{name} ({key_names.first(name, view.keymap)})" for name in actions.homes(action))
    return replace(view, note=f"{action.description}: on {pages}")


def _move(right: int, down: int) -> Reducer:
    return lambda view, places: current(view).move(view, right, down, places)


def _scroll(rows: int) -> Reducer:
    return lambda view, places: current(view).scroll(view, rows, places)


def _rank(step: int) -> Reducer:
    return _with_job(lambda view, _: current(view).rank_selected(ranks.stepped(view, step)))


def _time(what: time.Pressed) -> Reducer:
    return lambda view, _: time.pressed(view, what)


def _clear(view: View, _: PlacesOf) -> View:
    return cleared(view)


def _filter(view: View, places: PlacesOf) -> View:
    """What is typed next is the filter of this page; pages without rows lead to that of the panel in focus, else to the logs."""
    if not current(view).has("filter"):
        panel = focus.focused(view, places(view), _main(view))
        filters_itself = panel in registry.NAMES and registry.named(panel).has("filter")
        view = registry.turned(view, panel if filters_itself else actions.by_id()["filter"].elsewhere)
    return replace(view, typing=current(view).subject(view), is_typed_anew=True)


def _panel_beside(right: int, down: int) -> Reducer:
    def reduce(view: View, places: PlacesOf) -> View:
        return focus.panel_beside(view, places(view), _main(view), right, down)

    return _with_job(reduce)


def _next_panel(step: int) -> Reducer:
    return _with_job(lambda view, places: focus.next_panel(view, places(view), _main(view), step))


def maximized(view: View, places: Places, name: str = "") -> View:
    """This panel, or the one in focus, has the page; all panels again where one has it."""
    if not view.alone and focus.is_only(places):
        return replace(view, note="this is the only panel here")
    name = name or layout.focused(view, places) or focus.first(places)
    panel = registry.panel(view, name)
    return focus.alone(current(view).before_alone(view), name, panel.maximized if panel else "")


def _alone(view: View, places: PlacesOf) -> View:
    return maximized(view, places(view))


def _hide(view: View, places: PlacesOf) -> View:
    return focus.hidden(view, places(view), _main(view), layout.kept(current(view), view))


def _restore(view: View, _: PlacesOf) -> View:
    return focus.restored(view)


def _main(view: View) -> tuple[str, ...]:
    return current(view).focused_first(view)


def _with_job(reduce: Reducer) -> Reducer:
    """Nothing while a job is still to be picked."""
    return lambda view, places: view if view.is_picking else reduce(view, places)


_SHARED: dict[str, Reducer] = {
    "down": _move(0, 1),
    "up": _move(0, -1),
    "right": _move(1, 0),
    "left": _move(-1, 0),
    "next-rank": _rank(1),
    "previous-rank": _rank(-1),
    "page-down": _scroll(10),
    "page-up": _scroll(-10),
    "start": _scroll(-100_000),
    "end": _scroll(100_000),
    "next-panel": _next_panel(1),
    "previous-panel": _next_panel(-1),
    "panel-left": _panel_beside(-1, 0),
    "panel-right": _panel_beside(1, 0),
    "panel-up": _panel_beside(0, -1),
    "panel-down": _panel_beside(0, 1),
    "panel-alone": _with_job(_alone),
    "panel-hide": _with_job(_hide),
    "panel-all": _with_job(_restore),
    "filter": _filter,
    "clear": _clear,
    "pause": _time("pause"),
    "step-back": _time("step-back"),
    "step-on": _time("step-on"),
    "turn-back": _time("turn-back"),
    "turn-on": _time("turn-on"),
    "go-to-time": _with_job(_time("ask")),
}
"""Action -> what it does on every page that does not do something else."""
_PLAYBACK: dict[str, Callable[[View], View]] = {"pause": playback.toggled, "tag": playback.toggled}
"""Action -> what it does while a recording is shown, on every page: there is no process to tag for a signal."""

"""The one table of actions: those of all pages and those of each, with their keys, and where each does something. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec.structs import replace

from hwtop.ui.keys import shared
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.keys.names import Keymap
from hwtop.ui.pages.page import Page
from hwtop.ui.pages.registry import NAMES, PAGES, cleared, current
from hwtop.ui.view import View

_ALWAYS: tuple[Offer, ...] = (
    (("palette",), "commands"),
    (("copy",), "copy"),
    (("pause",), "pause"),
    (("faster", "slower"), "interval"),
)
_PAUSED: tuple[Offer, ...] = (
    (("pause",), "now"),
    (("turn-back", "turn-on"), "findings"),
    (("step-back", "step-on"), "step"),
)
_QUIT: tuple[Offer, ...] = ((("quit",), "quit"), (("help",), "help"))


@cache
def every() -> tuple[Action, ...]:
    """All actions, in the order of help and palette."""
    tabs = (replace(page.tab, screen=f"page('{page.name}')") for page in PAGES)
    return (*shared.APP, *tabs, *_of_monitor(), shared.INTERRUPT)


def _of_monitor() -> Iterator[Action]:
    """Those of the screen with the pages, without the keys of the pages themselves."""
    yield from (*shared.TURNS, shared.JOBS, *shared.MOVES, *shared.PANELS, *shared.TABLES)
    for page in PAGES:
        yield from page.actions
    yield from (*shared.CHANGES, *shared.PICTURE, *shared.TIME)


@cache
def by_id() -> Mapping[str, Action]:
    """The same by their names."""
    return {action.id: action for action in every()}


@cache
def defaults() -> Keymap:
    """The keys of all actions before the user has changed any."""
    return {action.id: action.key for action in every()}


def complete(keymap: Keymap) -> Keymap:
    """The keys of all actions, those in `keymap` instead of the defaults."""
    return keymap if keymap.keys() >= defaults().keys() else {**defaults(), **keymap}


def with_keys(view: View) -> View:
    """The view with the keys of all actions."""
    full = complete(view.keymap)
    return view if full is view.keymap else replace(view, keymap=full)


def call(action: Action) -> str:
    """What the monitor runs for it, with its owner."""
    return f"app.{action.action}" if action in shared.APP else action.action


def homes(action: Action) -> tuple[str, ...]:
    """The pages that list this action, its home first; empty: it does the same on every page."""
    found = [page.name for page in PAGES if page.has(action.id)]
    return tuple(sorted(found, key=lambda name: name != action.home))


def is_offered(action: Action, view: View) -> bool:
    """Whether this user has it: with --readonly some are gone."""
    return not (view.is_readonly and action.changes_job)


def is_possible(action: Action, view: View) -> bool:
    """Whether it does something on this page now."""
    if not is_offered(action, view):
        return False
    if view.is_picking:
        return action.works_without_job or current(view).has(action.id)
    return view.page in (homes(action) or NAMES) or bool(action.elsewhere) or action.is_global


def offers(view: View) -> list[Offer]:
    """The keys to name in the footer, in the order of their use; the first ones are named in the narrowest terminal, too."""
    page = current(view)
    if view.is_picking:
        return [*_QUIT, *page.offers(view), _ALWAYS[0]]
    held = _held(view)
    back: list[Offer] = [(("clear",), word)] if (word := _back(page, view)) else []
    if view.hidden:
        back.append((("panel-all",), f"{len(view.hidden)} hidden"))
    rest = [offer for offer in _ALWAYS if offer[0] not in {actions for actions, _ in held}]
    found = [*held, *_QUIT, *back, *page.offers(view), *rest]
    gone = shared.CHANGING if view.is_readonly else frozenset()
    return [(actions, word) for actions, word in found if not gone & set(actions)]


def _held(view: View) -> tuple[Offer, ...]:
    """What goes through the frames of a recording, or the earlier ones of a live watch."""
    if view.playback is not None:
        play = "pause" if view.playback.is_playing else "play"
        return ((("pause",), play), *_PAUSED[1:], (("faster", "slower"), "speed"))
    return _PAUSED if view.is_paused else ()


def _back(page: Page, view: View) -> str:
    """What Esc does; "" where there is nothing to undo."""
    if page.is_open(view) or view.alone:
        return "back"
    if page.is_filtered(view):
        return "all"
    if view.opened:
        return "fleet"
    if view.is_paused and view.playback is None:
        return "now"
    return "clear" if cleared(view) != view else ""

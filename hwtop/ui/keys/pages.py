"""The keys that are worth naming now: on this page, with what is selected, opened and typed; the most useful ones first. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.ui.keys import bindings as keys
from hwtop.ui.keys import names as key_names
from hwtop.ui.view import Page, View

Told = tuple[tuple[str, ...], str]
"""Ids of bindings that belong together ("down", "up"), and what they do here."""

_MOVE = ("down", "up")
_SORT = (("order", "reverse"), "sort")
_RANK = (("previous-rank", "next-rank"), "rank")
_SCROLL = (("page-down", "page-up"), "scroll")
_PAGES: dict[Page, tuple[Told, ...]] = {
    "overview": ((_MOVE, "rank"), (("symptoms",), "why"), (("panel-alone",), "large")),
    "ranks": (
        (_MOVE, "rank"),
        (("choose",), "its stack"),
        (("filter",), "filter"),
        _SORT,
        (("panel-alone",), "large"),
    ),
    "stacks": ((_MOVE, "rank"), (("left", "right"), "group"), (("deep",), "deep look"), _SCROLL),
    "flame": ((("down", "up", "right", "left"), "function"), (("choose",), "zoom"), _RANK),
    "logs": (
        (("filter",), "filter"),
        (("search",), "search"),
        (("next-flagged", "previous-flagged"), "flagged"),
        (("choose",), "around"),
        (("others",), "others"),
        (("follow",), "follow"),
    ),
    "curves": (
        (_MOVE, "curve"),
        (("choose",), "large"),
        (("log-scale",), "log scale"),
        (("order",), "source"),
    ),
    "gpu": ((_MOVE, "GPU"), (("choose",), "all of it"), _RANK),
    "host": ((_MOVE, "scroll"),),
    "symptoms": ((_MOVE, "finding"), (("choose",), "all of it"), _SCROLL),
    "processes": (
        (("environment",), "environment"),
        (("logs-or-files",), "files"),
        (("signal",), "signal"),
        (("tag",), "tag"),
        (("filter",), "filter"),
        (("deep",), "deep look"),
        _SORT,
    ),
}
_ALWAYS: tuple[Told, ...] = (
    (("palette",), "commands"),
    (("copy",), "copy"),
    (("pause",), "pause"),
    (("faster", "slower"), "interval"),
)
_INSIDE: tuple[Told, ...] = (
    (("filter",), "filter"),
    (("environment",), "environment"),
    (("logs-or-files",), "files"),
    _RANK,
)
"""Of one process."""
_OPEN: tuple[Told, ...] = (
    (_MOVE, "line"),
    (("next-flagged", "previous-flagged"), "next"),
    (("choose",), "around"),
    (("others",), "others"),
    _RANK,
)
"""Of one log line."""
_HELD: tuple[Told, ...] = (
    (("pause",), "now"),
    (("step-back", "step-on"), "step"),
    (("turn-back", "turn-on"), "findings"),
)
"""While the picture is held."""
_HELP: Told = (("help",), "help")
_QUIT: Told = (("quit",), "quit")


def told(view: View) -> list[Told]:
    """In the order of their use; the first ones are named in the narrowest terminal, too."""
    if view.is_picking:
        return _known([_QUIT, _HELP, (("choose",), "attach"), (_MOVE, "choose"), (("palette",), "commands")])
    now = _HELD if view.is_paused else ()
    back: list[Told] = [(("clear",), word)] if (word := _back(view)) else []
    if view.hidden:
        back.append((("panel-all",), f"{len(view.hidden)} hidden"))
    rest = [item for item in _ALWAYS if not (view.is_paused and item[0] == ("pause",))]
    found = _known([*now, _QUIT, _HELP, *back, *_of_page(view), *rest])
    gone = keys.CHANGING if view.is_readonly else frozenset()
    return [(actions, word) for actions, word in found if not gone & set(actions)]


def _known(found: list[Told]) -> list[Told]:
    """Without keys that there are not."""
    return [(actions, word) for actions, word in found if key_names.by_id().keys() >= set(actions)]


def _of_page(view: View) -> Iterator[Told]:
    if view.page == "processes" and view.inside:
        yield from _INSIDE
        return
    if view.page == "logs" and view.log_inside:
        yield from _OPEN
        return
    if view.page == "overview" and view.selected is not None:
        yield ("choose",), "its stack"
    for actions, word in _PAGES[view.page]:
        if word == "flagged" and view.search:
            yield actions, "hit"
        elif not (word == "follow" and view.is_following) and not (word == "why" and not view.frame.findings):
            yield actions, word


def _back(view: View) -> str:
    """What Esc does; "" where there is nothing to undo."""
    if view.log_inside or view.alone or (view.page == "processes" and view.inside) or view.flame_zoom:
        return "back"
    if view.filter or (view.page == "logs" and view.search):
        return "no filter"
    if view.is_paused:
        return "now"
    has_left = view.selected is not None or view.mark is not None or view.scroll or view.panel
    return "clear" if has_left or view.gpu is not None or view.finding is not None else ""

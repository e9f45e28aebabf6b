"""Where the keys of tables lead: tags, order, tree, and the process that is followed. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from hwtop.ui import order, process_view
from hwtop.ui.keys import names as key_names
from hwtop.ui.moves import tags
from hwtop.ui.view import Page, View

Pressed = Literal["tag", "untag", "tree", "branches", "follow", "order", "reverse", "cpu", "mem"]
_TABLES: tuple[Page, ...] = ("ranks", "processes")


def pressed(view: View, what: Pressed) -> View:
    """The view after this key; on a page without a table the same."""
    if view.is_picking or view.page not in _TABLES or view.inside:
        return view
    if what in ("tree", "branches", "follow") and view.page != "processes":
        key = key_names.first("processes", view.keymap)
        return replace(view, note=f"branches and single processes are on the processes page: {key}")
    return _MOVES[what](replace(view, note=""))


def _busiest(view: View) -> View:
    return order.by(view, "cpu")


def _largest(view: View) -> View:
    return order.by(view, "mem")


_MOVES: dict[Pressed, Callable[[View], View]] = {
    "tag": tags.toggled,
    "untag": tags.cleared,
    "tree": process_view.flattened,
    "branches": process_view.all_turned,
    "follow": process_view.followed,
    "order": order.following,
    "reverse": order.turned,
    "cpu": _busiest,
    "mem": _largest,
}

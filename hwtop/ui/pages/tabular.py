"""What the keys of every page with a sortable table do."""

from __future__ import annotations

from hwtop.ui.pages.page import PlacesOf, Reducer
from hwtop.ui.tables import order, tags
from hwtop.ui.view import View


def _untag(view: View, _: PlacesOf) -> View:
    return tags.cleared(view)


def _next(view: View, _: PlacesOf) -> View:
    return order.following(view)


def _reverse(view: View, _: PlacesOf) -> View:
    return order.turned(view)


def _by(column: str) -> Reducer:
    return lambda view, _: order.by(view, column)


KEYS: dict[str, Reducer] = {
    "untag": _untag,
    "sort-cpu": _by("cpu"),
    "sort-mem": _by("mem"),
    "order": _next,
    "reverse": _reverse,
}
"""Action -> what it does."""

"""On which pages a key does something, and whether it does now. Pure."""

from __future__ import annotations

from textual.binding import Binding

from hwtop.ui.keys import bindings as keys
from hwtop.ui.view import PAGES, Page, View

_TABLES: tuple[Page, ...] = ("ranks", "processes")
_HOMES: dict[str, tuple[Page, ...]] = {
    "right": ("stacks", "ranks", "flame", "curves", "gpu", "processes"),
    "left": ("stacks", "ranks", "flame", "curves", "gpu", "processes"),
    "tag": ("processes", "ranks"),
    "untag": ("processes", "ranks"),
    "sort-cpu": _TABLES,
    "sort-mem": _TABLES,
    "tree": ("processes",),
    "branches": ("processes",),
    "order": (*_TABLES, "curves"),
    "reverse": _TABLES,
    "log-scale": ("curves",),
    "filter": ("logs", *_TABLES, "gpu"),
    "search": ("logs",),
    "next-flagged": ("logs",),
    "previous-flagged": ("logs",),
    "follow": ("logs", "processes"),
    "others": ("logs",),
    "environment": ("processes",),
    "logs-or-files": ("processes",),
    "deep": ("stacks", "processes"),
    "signal": ("processes",),
}
"""Where keys belong that not every page has a use for, the page that needs them most first."""
_FROM_ANYWHERE = frozenset(
    {"filter", "search", "next-flagged", "previous-flagged", "others", "environment", "logs-or-files", "deep", "signal"}
)
"""Of those, the ones that lead to their page, or open a dialog, from every other."""
_PICKING = frozenset(
    {
        "down",
        "up",
        "page-down",
        "page-up",
        "start",
        "end",
        "choose",
        "pause",
        "step-back",
        "step-on",
        "turn-back",
        "turn-on",
        "go-to-time",
        "faster",
        "slower",
        "repaint",
        "copy",
        "help",
        "palette",
        "settings",
        "suspend",
        "interrupt",
        "quit",
    }
)
"""What can be done while there is no job yet."""


def homes(binding: Binding) -> tuple[Page, ...]:
    """The pages that `binding` belongs to; empty: it means the same on every page."""
    return _HOMES.get(binding.id or "", ())


def is_offered(binding: Binding, view: View) -> bool:
    """Whether there is such a key for this person: with --readonly some are gone."""
    return not (view.is_readonly and binding in keys.CHANGES)


def is_possible(binding: Binding, view: View) -> bool:
    """Whether the key does something on this page now."""
    action = binding.id or ""
    if not is_offered(binding, view):
        return False
    if view.is_picking:
        return action in _PICKING
    return view.page in (homes(binding) or PAGES) or action in _FROM_ANYWHERE

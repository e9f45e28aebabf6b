"""The last row: pages on the left, keys on the right."""

from __future__ import annotations

from hwtop.ui.view import PAGES, Page, View
from hwtop.ui.widgets.line import Line

_KEYS = (("q", "quit"), ("?", "help"), ("p", "pause"), ("j k", "rank"), ("Enter", "its stack"), ("Esc", "clear"))
_PICKER_KEYS = (("q", "quit"), ("?", "help"), ("Enter", "attach"), ("j k", "choose"))


def draw(view: View, width: int, _: int) -> list[Line]:
    """Keys are left out from the right when there is no room."""
    line = Line()
    if not view.is_picking:
        for text, page in _tabs():
            line.add(text, "tab-on" if page == view.page else "tab")
    keys = list(_PICKER_KEYS if view.is_picking else _KEYS)
    while keys and line.width + 2 + _width(keys) > width:
        keys.pop()
    line.add(" " * (width - line.width - _width(keys)))
    for key, word in keys:
        line.add(key, "key").add(f" {word}  ", "label")
    return [line.fitted(width)]


def page_at(x: int) -> Page | None:
    """The page whose tab is at cell `x`."""
    start = 0
    for text, page in _tabs():
        if start <= x < start + len(text):
            return page
        start += len(text)
    return None


def _tabs() -> list[tuple[str, Page]]:
    return [(f" {number} {page.capitalize()} ", page) for number, page in enumerate(PAGES, 1)]


def _width(keys: list[tuple[str, str]]) -> int:
    return sum(len(key) + len(word) + 3 for key, word in keys)

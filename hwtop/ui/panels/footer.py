"""The last row: pages on the left, keys on the right."""

from __future__ import annotations

from hwtop.ui.view import PAGES, Page, View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, visible

_FIRST = (("q", "quit"), ("?", "help"))
_KEYS: dict[Page, tuple[tuple[str, str], ...]] = {
    "overview": (("p", "pause"), ("j k", "rank"), ("Enter", "its stack"), ("+ -", "interval"), ("Esc", "clear")),
    "stacks": (("p", "pause"), ("j k", "rank"), ("PgDn", "scroll"), ("Esc", "clear")),
    "logs": (("/", "filter"), ("n N", "flagged"), ("F", "follow"), ("p", "pause"), ("Esc", "clear")),
    "processes": (("/", "filter"), ("j k", "scroll"), ("p", "pause"), ("Esc", "clear")),
}
_PICKER_KEYS = (("q", "quit"), ("?", "help"), ("Enter", "attach"), ("j k", "choose"))


def draw(view: View, width: int, _: int) -> list[Line]:
    """Keys are left out from the right when there is no room. What is typed, or said about the last key, comes first."""
    if view.is_typing:
        return [_input(view, width)]
    line = Line()
    if not view.is_picking:
        for text, page in _tabs():
            line.add(text, "tab-on" if page == view.page else "tab")
    if view.note and not view.is_picking:
        return [line.extend(Line(view.note, "accent").fitted(max(0, width - line.width - 1), "right")).fitted(width)]
    keys = list(_PICKER_KEYS if view.is_picking else _FIRST + _KEYS[view.page])
    while keys and line.width + 2 + _width(keys) > width:
        keys.pop()
    line.add(" " * (width - line.width - _width(keys)))
    for key, word in keys:
        line.add(key, "key").add(f" {word}  ", "label")
    return [line.fitted(width)]


def _input(view: View, width: int) -> Line:
    help_ = Line("!word leaves out  ", "label").add("Enter", "key").add(" keeps  ", "label")
    help_.add("Esc", "key").add(" clears ", "label")
    room = width - 4 - help_.width
    if room < 12:
        help_, room = Line(), width - 4
    shown = visible(view.filter)
    while cells(shown) > room:
        shown = shown[1:]  # the end is where one types
    line = Line(" / ", "key").add(shown, "strong").add("▏", "accent")
    return line.add(" " * (width - line.width - help_.width)).extend(help_).fitted(width)


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

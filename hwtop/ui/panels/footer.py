"""The last row: pages on the left, keys on the right. What is said about the last key takes as many rows as it needs."""

from __future__ import annotations

from hwtop.ui import process_view, rank_view
from hwtop.ui.view import PAGES, Page, View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, visible, wrap

PAGE_KEYS: dict[Page, str] = {
    "overview": "1",
    "ranks": "2",
    "stacks": "3",
    "flame": "f",
    "logs": "4",
    "curves": "5",
    "gpu": "g",
    "host": "6",
    "processes": "7",
    "symptoms": "8",
}

_FIRST = (("q", "quit"), ("?", "help"))
_KEYS: dict[Page, tuple[tuple[str, str], ...]] = {
    "overview": (
        ("↑ ↓", "rank"),
        ("Enter", "its stack"),
        ("8", "why"),
        ("p", "pause"),
        ("+ -", "interval"),
        ("Esc", "clear"),
    ),
    "ranks": (
        ("↑ ↓", "rank"),
        ("Enter", "its stack"),
        ("/", "filter"),
        ("o O", "sort"),
        ("y", "copy"),
        ("Esc", "clear"),
    ),
    "stacks": (("y", "copy"), ("↑ ↓", "rank"), ("← →", "group"), ("PgDn", "scroll"), ("d", "deep look")),
    "flame": (("Enter", "zoom"), ("Esc", "back"), ("< >", "rank"), ("y", "copy")),
    "logs": (
        ("/", "filter"),
        ("S", "search"),
        ("n N", "flagged"),
        ("Enter", "around"),
        ("a", "others"),
        ("F", "follow"),
    ),
    "curves": (
        ("↑ ↓", "curve"),
        ("L", "log scale"),
        ("Enter", "large"),
        ("o", "source"),
        ("y", "copy"),
        ("Esc", "back"),
    ),
    "gpu": (("↑ ↓", "GPU"), ("Enter", "all of it"), ("< >", "rank"), ("y", "copy"), ("Esc", "back")),
    "host": (("↑ ↓", "scroll"), ("y", "copy"), ("p", "pause")),
    "symptoms": (("↑ ↓", "finding"), ("PgDn", "scroll"), ("Enter", "all of it"), ("y", "copy"), ("Esc", "back")),
    "processes": (
        ("e", "environment"),
        ("l", "files"),
        ("k", "signal"),
        ("d", "deep look"),
        ("/", "filter"),
        ("o O", "sort"),
    ),
}
_INSIDE_KEYS = (("Esc", "back"), ("/", "filter"), ("e", "environment"), ("l", "files"), ("y", "copy"), ("< >", "rank"))
"""Of one process."""
_OPEN_KEYS = (("Esc", "back"), ("↑ ↓", "line"), ("n N", "next"), ("Enter", "around"), ("a", "others"), ("< >", "rank"))
"""Of one log line."""
_CHANGING = ("k", "d")
_PICKER_KEYS = (("q", "quit"), ("?", "help"), ("Enter", "attach"), ("↑ ↓", "choose"))
_MOST_ROWS = 6
"""Of a note."""


def rows(view: View, width: int) -> int:
    """How many rows the footer needs."""
    return len(_note(view, width)) or 1


def draw(view: View, width: int, _: int) -> list[Line]:
    """Keys are left out from the right when there is no room. What is typed, or said about the last key, comes first."""
    if view.is_typing:
        return [_input(view, width)]
    if note := _note(view, width):
        return note
    tabs = _tabs(view, width)
    line = Line()
    for text, page in tabs:
        line.add(text, "tab-on" if page == view.page else "tab")
    if view.note and not view.is_picking:
        return [line.extend(Line(view.note, "accent").fitted(max(0, width - line.width - 1), "right")).fitted(width)]
    keys = list(_PICKER_KEYS if view.is_picking else _FIRST + _keys(view))
    while keys and line.width + 2 + _width(keys) > width:
        keys.pop()
    line.add(" " * (width - line.width - _width(keys)))
    for key, word in keys:
        line.add(key, "key").add(f" {word}  ", "label")
    return [line.fitted(width)]


def page_at(view: View, x: int, width: int) -> Page | None:
    """The page whose tab is at cell `x`."""
    if _note(view, width):
        return None
    start = 0
    for text, page in _tabs(view, width):
        if start <= x < start + len(text):
            return page
        start += len(text)
    return None


def _keys(view: View) -> tuple[tuple[str, str], ...]:
    """Of the page; without those that --readonly takes away."""
    told = _INSIDE_KEYS if view.page == "processes" and view.inside else _KEYS[view.page]
    if view.page == "logs" and view.search:
        told = tuple((key, "hit" if key == "n N" else word) for key, word in told)
    if view.page == "logs" and view.log_inside:
        told = _OPEN_KEYS
    return tuple(pair for pair in told if not (view.is_readonly and pair[0] in _CHANGING))


def _note(view: View, width: int) -> list[Line]:
    """A note that has no room beside the short tabs: plain rows without a frame, so that a mouse can mark it."""
    tabs = sum(len(text) for text, _ in _tabs(view, width))
    if not view.note or view.is_picking or view.is_typing or tabs + 2 + cells(view.note) <= width:
        return []
    return [Line(f" {piece}", "accent").fitted(width) for piece in wrap(view.note, max(1, width - 2))[:_MOST_ROWS]]


def _input(view: View, width: int) -> Line:
    help_ = _told_of(view)
    help_.add("Enter", "key").add(" finds  " if view.is_searching else " keeps  ", "label")
    help_.add("Esc", "key").add(" clears ", "label")
    problem = filter_problem(view)
    help_ = Line(f"▲ {problem} ", "warn") if problem else help_
    head = " search: " if view.is_searching else " / "
    room = width - 1 - len(head) - help_.width
    if problem and room < cells(view.typed):
        room = max(12, min(cells(view.typed), width // 3))
        help_ = help_.fitted(max(0, width - 1 - len(head) - room))
    elif not problem and room < 12:
        help_, room = Line(), width - 1 - len(head)
    shown = visible(view.typed)
    while shown and cells(shown) > room:
        shown = shown[1:]  # the end is where one types
    line = Line(head, "key").add(shown, "strong").add("▏", "accent")
    return line.add(" " * (width - line.width - help_.width)).extend(help_).fitted(width)


def _told_of(view: View) -> Line:
    """What can be typed."""
    if view.is_searching:
        return Line()
    if view.subject in ("ranks", "processes"):
        return Line("rank=0-3 cpu>80 state=D !word  ", "label")
    return Line("!word leaves out  ", "label")


def filter_problem(view: View) -> str:
    """Why a term of the filter that is typed asks nothing; "" where there is none."""
    if view.is_searching or view.subject not in ("ranks", "processes"):
        return ""
    return rank_view.query(view).problem if view.subject == "ranks" else process_view.query(view).problem


def _tabs(view: View, width: int) -> list[tuple[str, Page]]:
    """Names of all pages where there is room, else of the one on screen."""
    if view.is_picking:
        return []
    names = [(f" {PAGE_KEYS[page]} {_name(page)} ", page) for page in PAGES]
    needed = sum(len(text) for text, _ in names) + (cells(view.note) + 2 if view.note else _width(list(_FIRST)) + 2)
    if needed <= width:
        return names
    return [(text if page == view.page else f" {PAGE_KEYS[page]} ", page) for text, page in names]


def _name(page: Page) -> str:
    return "GPUs" if page == "gpu" else page.capitalize()


def _width(keys: list[tuple[str, str]]) -> int:
    return sum(cells(key) + len(word) + 3 for key, word in keys)

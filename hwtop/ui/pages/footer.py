"""The last row: pages on the left, keys on the right. What is said about the last key takes as many rows as it needs."""

from __future__ import annotations

from msgspec import Struct

from hwtop.ui.keys import names as key_names
from hwtop.ui.pages import actions
from hwtop.ui.pages.registry import current, tabs
from hwtop.ui.panels.logs.state import SEARCH
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, tail, wrap

_MOST_ROWS = 6
"""Of a note."""
_LEAST_KEYS = 40
"""Cells that keys get beside the names of all pages; where these would leave fewer, the names stand closer."""
_QUIT_AND_HELP = 18
"""Cells without which the names of the pages, however close, are worth less than these two keys."""


def rows(view: View, width: int) -> int:
    """How many rows the footer needs."""
    return len(_note(view, width)) or 1


def draw(view: View, width: int, _: int) -> list[Line]:
    """Keys are left out from the right when there is no room. What is typed, or said about the last key, comes first."""
    view = actions.with_keys(view)
    if view.typing:
        return [_input(view, width)]
    if note := _note(view, width):
        return note
    line = Line()
    for text, page in _tabs(view, width):
        key = key_names.first(page, view.keymap)
        head = 1 + cells(key) if key else 0
        line.add(text[:head], "tab-on" if page == view.page else "tab-key")
        line.add(text[head:], "tab-on" if page == view.page else "tab")
    if view.note and not view.is_picking:
        return [line.extend(Line(view.note, "accent").fitted(max(0, width - line.width - 1), "right")).fitted(width)]
    offers = _offers(view, width - line.width - 2)
    line.add(" " * (width - line.width - sum(offer.width for offer in offers)))
    for offer in offers:
        line.add(" ".join(offer.names), "key").add(f" {offer.word}  ", "label")
    return [line.fitted(width)]


class _Offer(Struct, frozen=True):
    """Keys that do one thing, as they stand in the row."""

    actions: tuple[str, ...]
    names: tuple[str, ...]
    word: str

    @property
    def width(self) -> int:
        return cells(" ".join(self.names)) + cells(self.word) + 3

    def action_at(self, x: int) -> str:
        """Id of the binding at cell `x` of the offer; a click on the word is one on the first key."""
        start = 0
        for action, name in zip(self.actions, self.names, strict=True):
            if start <= x < start + cells(name):
                return action
            start += cells(name) + 1
        return self.actions[0]


def _offers(view: View, room: int) -> list[_Offer]:
    """As many as have room, the most useful ones."""
    offers = []
    for ids, word in actions.offers(view):
        pairs = [(action, name) for action in ids if (name := key_names.first(action, view.keymap))]
        if not pairs:
            continue
        offer = _Offer(tuple(action for action, _ in pairs), tuple(name for _, name in pairs), word)
        room -= offer.width
        if room < 0:
            break
        offers.append(offer)
    return offers


def clicked(view: View, x: int, width: int) -> str:
    """The action of the tab or the key at cell `x`; "" where there is none."""
    view = actions.with_keys(view)
    if _note(view, width) or view.typing:
        return ""
    start = 0
    for text, page in _tabs(view, width):
        if start <= x < start + cells(text):
            return _call(page)
        start += cells(text)
    if view.note and not view.is_picking:
        return ""
    offers = _offers(view, width - start - 2)
    start = width - sum(offer.width for offer in offers)
    for offer in offers:
        if start <= x < start + offer.width - 2:
            return _call(offer.action_at(x - start))
        start += offer.width
    return ""


def _call(action: str) -> str:
    return actions.call(actions.by_id()[action])


def _note(view: View, width: int) -> list[Line]:
    """A note that has no room beside the short tabs: plain rows without a frame, so that a mouse can mark it."""
    taken = sum(cells(text) for text, _ in _tabs(view, width))
    if not view.note or view.is_picking or view.typing or taken + 2 + cells(view.note) <= width:
        return []
    return [Line(f" {piece}", "accent").fitted(width) for piece in wrap(view.note, max(1, width - 2))[:_MOST_ROWS]]


def _input(view: View, width: int) -> Line:
    found = None if view.typing == SEARCH else current(view).hits(view)
    help_ = _reported_of(view, found)
    help_.add("Enter", "key").add(" finds  " if view.typing == SEARCH else " keeps  ", "label")
    help_.add("Esc", "key").add(" clears ", "label")
    problem = found.problem if found else ""
    help_ = Line(f"▲ {problem} ", "warn") if problem else help_
    head = " search: " if view.typing == SEARCH else " / "
    room = width - 1 - len(head) - help_.width
    if problem and room < cells(view.typed):
        room = max(12, min(cells(view.typed), width // 3))
        help_ = help_.fitted(max(0, width - 1 - len(head) - room))
    elif not problem and room < 12:
        help_, room = Line(), width - 1 - len(head)
    line = Line(head, "key").add(tail(view.typed, room), "hit" if view.is_typed_anew else "strong").add("▏", "accent")
    return line.add(" " * (width - line.width - help_.width)).extend(help_).fitted(width)


def _reported_of(view: View, found: Hits | None) -> Line:
    """How many rows are left, or what can be typed."""
    if view.typing == SEARCH:
        return Line()
    if found is None:
        return Line("!word leaves out  ", "label")
    if view.typed:
        return Line(f"{found.kept:,} of {found.total:,}  ", "accent" if found.kept else "warn")
    return Line(f"{current(view).filter_example} !word  ", "label")


def _tabs(view: View, width: int) -> list[tuple[str, str]]:
    """Titles of all pages with their names where there is room, closer where it is scarce, else of the one in view."""
    if view.is_picking:
        return []
    keys = {page: f" {key}" if (key := key_names.first(page.name, view.keymap)) else "" for page in tabs(view)}
    said = cells(view.note) + 2 if view.note else 0  # a short note leaves the names where they are
    for gap, least in ((" ", _LEAST_KEYS), ("", _QUIT_AND_HELP)):
        found = [(f"{key} {page.title}{gap}", page.name) for page, key in keys.items()]
        if sum(cells(text) for text, _ in found) + max(said, least) <= width:
            return found if gap else _close(found, [page.name for page in keys].index(view.page))
    here = current(view)
    return [(f"{key} {page.title} " if page is here else f"{key} ", page.name) for page, key in keys.items()]


def _close(found: list[tuple[str, str]], here: int) -> list[tuple[str, str]]:
    """Without gaps; the one in view takes the blank before the next, so that its ground is even on both sides."""
    (text, page), *after = found[here:]
    if not after:
        return found
    return [*found[:here], (f"{text} ", page), (after[0][0][1:], after[0][1]), *after[1:]]

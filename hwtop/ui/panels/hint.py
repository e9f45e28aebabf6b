"""A line above the footer that is read once: the keys that a newcomer needs, or why nothing can be looked into and the
command that mends it. The next key takes it away."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hwtop.ui.keys import names as key_names
from hwtop.ui.panels import consent
from hwtop.ui.playback import Playback
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.text import cells

_FEW = (("help", "help"), ("overview", "pages"), ("palette", "all commands"), ("quit", "quit"))
_PAGES = ("ranks", "stacks", "flame", "logs", "curves", "gpu", "host", "processes", "symptoms")
_NAMED_FROM = 100
"""Cells from which the footer names all pages."""
_MOST_ROWS = 4


def rows(view: View, width: int) -> int:
    """How many it needs; 0 without anything to say."""
    return len(_lines(view, width))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The line."""
    return _lines(view, width)[:height]


def read(view: View) -> View:
    """The view after a key: what was said is not said again."""
    if view.is_first:
        return replace(view, is_first=False)
    return replace(view, is_refusal_read=True) if _refused(view) else view


def waiting(keymap: Mapping[str, str], playback: Playback | None, width: int, height: int) -> list[Line]:
    """The screen before the first look at the machine has ended, or a recording is loaded as far as it is to be shown."""
    said = [
        Line("hwtop", "title"),
        Line("the first look at the machine …" if playback is None else f"loading {playback.name} …", "text"),
        Line(key_names.first("quit", keymap), "key").add(" quits", "label"),
    ]
    lines = [Line()] * max(0, (height - len(said)) // 2)
    lines += [Line(" " * max(0, (width - line.width) // 2)).extend(line) for line in said]
    return [line.fitted(width) for line in (lines + [Line()] * height)[:height]]


def _lines(view: View, width: int) -> list[Line]:
    if view.is_first:
        return [_first(view, width), *([] if view.is_picking or width >= _NAMED_FROM else [_pages(view, width)])]
    said = _refused(view)
    if not said:
        return []
    error, advice = said
    warning = wrapped((" ▲ ", "warn"), error, "warn", width - 1)
    lines = [*warning, *wrapped((" → ", "accent"), advice, "accent", width - 1)]
    offered = consent.offer(view, 1)
    return [line.fitted(width) for line in (*lines[: _MOST_ROWS - len(offered)], *offered)]


def _first(view: View, width: int) -> Line:
    line = Line(" New here? ", "tab-on").add(" ")
    for action, word in _FEW:
        key = key_names.first(action, view.keymap)
        if action == "overview":
            key = f"{key}–{key_names.first('symptoms', view.keymap)}"
        if line.width + cells(key) + len(word) + 3 <= width and not (view.is_picking and action == "overview"):
            line.add(" ").add(key, "key").add(f" {word} ", "text")
    away = "any key hides this "
    return line.fitted(width - len(away)).add(away, "dim") if line.width + len(away) < width else line.fitted(width)


def _pages(view: View, width: int) -> Line:
    """The pages by name, which the footer of a narrow terminal has no room for."""
    line = Line()
    for page in _PAGES:
        key = key_names.first(page, view.keymap)
        if line.width + cells(key) + len(page) + 2 <= width:
            line.add(" ").add(key, "key").add(f" {page}", "text")
    return line.fitted(width)


def _refused(view: View) -> tuple[str, str] | None:
    """Why no rank could be looked into, and what would help; None where one could, or it was read."""
    job = view.job
    if job is None or view.is_refusal_read or not job.stacks.errors:
        return None
    if any(rank.stack.dump is not None and not rank.stack.dump.error for rank in job.ranks):
        return None
    error, advice = job.stacks.errors[0]
    return (f"No Python stacks of the ranks: {error}", advice) if advice else None

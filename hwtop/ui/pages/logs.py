"""The logs page: what the job and the kernel have written. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Cell, Page, PagePanel, Places, PlacesOf, Reducer, Size, turned
from hwtop.ui.panels.logs import context as log_context
from hwtop.ui.panels.logs import lines as logs
from hwtop.ui.panels.logs import others as log_others
from hwtop.ui.panels.logs.state import SEARCH, LogInside, LogsState
from hwtop.ui.reducers import logs as log_moves
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place, stack

_LINES_LEAST = 6
"""Rows for the log lines while one of them is open below."""
_OPENED: dict[LogInside, tuple[str, Callable[[View, int], int]]] = {
    "context": ("log-context", log_context.wanted),
    "others": ("log-others", log_others.wanted),
}
"""What stands below the log lines, and the rows that it has a use for."""


def _rows(view: View, places: Places) -> int:
    place = places.get("logs")
    return logs.rows_of(view, place.width, place.height) if place else 1


def _inside(view: View) -> LogInside:
    return view.state(LogsState).inside


def _opened(what: LogInside) -> Reducer:
    """The marked line opened or closed; it stays in sight."""

    def reduce(view: View, places: PlacesOf) -> View:
        after = log_moves.opened(replace(view, alone=""), what)
        return log_moves.stepped(after, 0, _rows(after, places(after))) if _inside(after) else after

    return reduce


def _flagged(step: int) -> Reducer:
    """The next line that is searched for, or that matched a pattern; or the one before."""
    return lambda view, places: log_moves.jump(view, step, _rows(view, places(view)))


def _searching(view: View, _: PlacesOf) -> View:
    return replace(view, typing=SEARCH, is_typed_anew=True)


def _following(view: View, _: PlacesOf) -> View:
    return log_moves.following(view)


def _mark(view: View, at: Cell, size: Size) -> View:
    line = logs.line_at(view, at[1], *size)
    return view if line is None else log_moves.marked(view, line)


def _glimpse(view: View, at: Cell, size: Size) -> View:  # noqa: ARG001
    """On other pages the lines lead to this one."""
    return turned(view, LogsPage.name)


class LogsPage(Page):
    """The lines, and below them what is around one of them, or what the other ranks logged then."""

    name = "logs"
    title = "Logs"
    tab = Action("logs", "5", "logs", "What the job and the kernel have written")
    is_of_job = False
    panels = {
        "logs": PagePanel(logs.draw_newest, click=_glimpse, hidden=logs.hidden),
        "log-context": PagePanel(log_context.draw),
        "log-others": PagePanel(log_others.draw),
    }
    main = ("logs",)
    scrolling = ("logs",)
    variants = {"logs": replace(panels["logs"], draw=logs.draw, click=_mark)}
    actions = (
        Action("search", "ctrl+f,f3", "search", "Search for a word in the logs", elsewhere="logs"),
        Action(
            "next-flagged",
            "n",
            "next flagged",
            "Next match, error or warning in the logs",
            words="flagged",
            elsewhere="logs",
        ),
        Action(
            "previous-flagged",
            "N",
            "previous flagged",
            "Previous match, error or warning in the logs",
            words="flagged last",
            elsewhere="logs",
        ),
        Action("others", "a", "others", "What the other ranks wrote at that time", elsewhere="logs"),
    )
    keys = {
        "search": _searching,
        "next-flagged": _flagged(1),
        "previous-flagged": _flagged(-1),
        "others": _opened("others"),
        "follow": _following,
    }
    lists = frozenset({"filter"})
    filter_example = "rank=0-3 loss"

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The lines, with what is open below them."""
        if not (inside := _inside(view)):
            return {"logs": Place(0, top, width, bottom - top)}
        panel, wanted = _OPENED[inside]
        rows = min(wanted(view, width), bottom - top - max(_LINES_LEAST, (bottom - top) // 3))
        return stack([("logs", bottom - top - rows), (panel, rows)], top, width)

    def entered(self, view: View) -> View:
        """At the newest line."""
        return self.restarted(view)

    def restarted(self, view: View) -> View:
        """At the newest line."""
        return log_moves.at_newest(view)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:  # noqa: ARG002
        """It scrolls, or marks another line where one is open."""
        return self.scroll(view, down, places) if down else view

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:
        """Away from the end; where a line is open, another one is."""
        if _inside(view):
            return log_moves.stepped(view, rows, _rows(view, places(view)))
        after = super().scroll(view, -rows, places)
        return after.with_state(replace(after.state(LogsState), is_following=not after.scroll))

    def text_panels(self, view: View) -> Collection[str]:  # noqa: ARG002
        """All of it."""
        return self.panels.keys()

    def before_alone(self, view: View) -> View:
        """The lines alone."""
        return log_moves.closed(view)

    def choose(self, view: View, places: PlacesOf) -> View:
        """The marked line with those around it."""
        return _opened("context")(view, places)

    def back(self, view: View) -> View | None:
        """The lines alone; then without the search."""
        if _inside(view):
            return log_moves.closed(view)
        return log_moves.searching_for(view, "") if view.filter_of(SEARCH) else None

    def is_open(self, view: View) -> bool:
        """A line is open."""
        return bool(_inside(view))

    def is_filtered(self, view: View) -> bool:
        """Some are hidden, or marked."""
        return bool(self.filter(view) or view.filter_of(SEARCH))

    def cleared(self, view: View) -> View:
        """At the newest line."""
        return view.with_state(LogsState(inside=_inside(view)))

    def offers(self, view: View) -> Sequence[Offer]:
        """Its keys in the footer."""
        flags = ("next-flagged", "previous-flagged")
        if _inside(view):
            return (
                (("down", "up"), "line"),
                (flags, "next"),
                (("choose",), "around"),
                (("others",), "others"),
                (("previous-rank", "next-rank"), "rank"),
            )
        found = [
            (("filter",), "filter"),
            (("choose",), "whole line"),
            (("search",), "search"),
            (flags, "hit" if view.filter_of(SEARCH) else "flagged"),
            (("others",), "others"),
        ]
        return found if view.state(LogsState).is_following else [*found, (("follow",), "follow")]

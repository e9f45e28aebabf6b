"""A page: its panels, where they stand, what its keys do, what is selected and what is copied. Pure.

Each page is one object in a file of its own, and one line in `registry.py`. All that differs between pages is an attribute or
a method of `Page`; nothing else asks which page is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.model.member import JobProcess
from hwtop.model.plan import UserFocus
from hwtop.symptoms.summary import few_lines
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.panels.ranks import map as rank_map
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.reducers import ranks as rank_moves
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.place import Place

_IDLE_STACK_BUDGET_PCT = 0.5
"""Of a core, half as much as otherwise: it is looked half as often as well. Engineering default."""
Places = Mapping[str, Place]
"""Panel -> where it stands."""
PlacesOf = Callable[[View], Places]
"""The arrangement of a view on the screen as it is now."""
Cell = tuple[int, int]
"""Of a panel, from its left upper corner."""
Size = tuple[int, int]
"""Cells and rows of a panel, or of the screen."""
Draw = Callable[[View, int, int], list[Line]]
"""A view and the size of the panel."""
Click = Callable[[View, Cell, Size], View]
"""A view, the cell, and the size of the panel."""
Arrange = Callable[[View, int, int, int], dict[str, Place]]
"""A view, the first row, the row after the last, and the cells of a row."""
Reducer = Callable[[View, PlacesOf], View]
"""What a key makes of a view."""


class PagePanel(Struct, frozen=True):
    """A panel: how it is drawn, and what the mouse does in it, on every page where it stands."""

    draw: Draw
    click: Click | None = None
    wheel: Callable[[View, int], View] | None = None
    """So many rows further down in its list."""
    hidden: Callable[[View, int, int], int] | None = None
    """Rows that a panel of this size has no room for."""
    maximized: str = ""
    """The panel that it grows into where it has the page; "" = itself."""
    alone: Arrange | None = None
    """Where it stands then, and with which company; None = it fills the page."""


class Companion(Struct, frozen=True):
    """`below` gets the rows of `panel` behind its share, while that holds all of it."""

    panel: str
    below: str
    share_pct: int = 50


class Page:
    """All about one page; what a page does not override is as on the overview."""

    name: str
    tab: Action
    """The key that shows it, with its words in help and palette."""
    title: str
    """On its tab."""
    panels: Mapping[str, PagePanel]
    """Those that are defined here; any page may place them."""
    main: tuple[str, ...]
    """The panels that it is about, the best first: in focus unless another one is chosen."""
    keeps_main = True
    """They cannot be hidden here."""
    companions: Sequence[Companion] = ()
    scrolling: tuple[str, ...] = ()
    """Those of its panels that scroll, of which one is shown at a time."""
    variants: Mapping[str, PagePanel] = {}
    """Panels that are drawn or clicked in another way here than on other pages."""
    actions: Sequence[Action] = ()
    """Those that only this page has."""
    keys: Mapping[str, Reducer] = {}
    """Action -> what it does here: its own actions, and those that several pages have."""
    lists: frozenset[str] = frozenset()
    """Other actions that help and palette list with this page."""
    is_of_job = True
    """Of a job over several nodes it has something to show; else it is about one node, which is opened with it."""
    filter_example = "rank=0-3 cpu>80 state=D"

    def is_there(self, view: View) -> bool:  # noqa: ARG002
        """Whether it has a tab: it has something to show of what is watched."""
        return True

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """Its panels from row `top` up to row `bottom`."""
        raise NotImplementedError

    def focused_first(self, view: View) -> tuple[str, ...]:  # noqa: ARG002
        """The panels to focus on, the best first."""
        return self.main

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """The arrow keys: another rank is selected, in a map in this direction."""
        at = places(view).get("rank-map")
        return rank_moves.moved(view, right, down, rank_map.columns(view, at.width, at.height) if at else 1)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:
        """Page up and down, start and end: so many rows further down, as far as there is text."""
        most = self.scrollable(view, places(view))
        return replace(view, scroll=max(0, min(most, min(view.scroll, most) + rows)))

    def scrollable(self, view: View, places: Places) -> int:
        """How far it can be scrolled, in rows."""
        for name in self.scrolling:
            place, hidden = places.get(name), self.panels[name].hidden
            if place is not None and hidden is not None:
                return hidden(view, place.width, place.height)
        return 0

    def text_panels(self, view: View) -> Collection[str]:  # noqa: ARG002
        """The panels that the wheel scrolls as things are."""
        return self.scrolling

    def restarted(self, view: View) -> View:
        """From its start, as when its filter changes."""
        return replace(view, scroll=0)

    def before_alone(self, view: View) -> View:
        """The view before one panel gets the page."""
        return view

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """Enter: what is selected, from close by."""
        return view

    def back(self, view: View) -> View | None:  # noqa: ARG002
        """Esc: without what was opened last; None where nothing is open."""
        return None

    def is_open(self, view: View) -> bool:  # noqa: ARG002
        """There is something that `back` closes."""
        return False

    def is_filtered(self, view: View) -> bool:
        """There is a filter that Esc clears."""
        return bool(self.filter(view))

    def cleared(self, view: View) -> View:
        """Without what is selected on this page alone."""
        return view

    def offers(self, view: View) -> Sequence[Offer]:
        """The keys to name in the footer as things are, the most useful ones first."""
        raise NotImplementedError

    def copied(self, view: View) -> str:
        """What is copied: for a chat or an issue."""
        return few_lines(view.frame)

    def subject(self, view: View) -> str:  # noqa: ARG002
        """Whose filter is typed here."""
        return self.name

    def filter(self, view: View) -> str:
        """What is typed here."""
        return view.filter_of(self.subject(view))

    def rank_selected(self, view: View) -> View:
        """The view after another rank was selected by the keys of all pages."""
        return view

    def hits(self, view: View) -> Hits | None:  # noqa: ARG002
        """What a filter that is typed leaves; None where it looks for words, not rows."""
        return None

    def entered(self, view: View) -> View:
        """The view when the page comes into sight."""
        return view

    def row(self, view: View) -> TreeRow | None:  # noqa: ARG002
        """The row of processes under its cursor, to send signals to."""
        return None

    def process(self, view: View) -> JobProcess | None:
        """The process of a deep look: that of the rank on screen."""
        rank = view.shown_rank
        return next((item for item in view.processes if rank and item.pid == rank.pid), None)

    def user_focus(self, view: View) -> UserFocus:
        """What the feed should look at closely."""
        return UserFocus(
            node=view.opened or None,
            rank=view.selected,
            request=view.request,
            stack_budget_pct=_stack_budget_pct(view),
        )

    def has(self, action: str) -> bool:
        """Whether this action is listed with the page."""
        return action in self.keys or action in self.lists


def turned(view: View, page: str) -> View:
    """The view on another page, from its start; the selection stays."""
    return replace(view.at_page(page), scroll=0, typing="", panel="", alone="", came_from="", note="")


def focus_on_shown(view: View) -> UserFocus:
    """Of a page about one rank: it is looked at closely, also where nobody has selected it."""
    shown = view.shown_rank
    rank = shown.rank if shown is not None else view.selected
    return UserFocus(rank=rank, request=view.request, stack_budget_pct=_stack_budget_pct(view))


def _stack_budget_pct(view: View) -> float | None:
    return _IDLE_STACK_BUDGET_PCT if view.is_idle else None


def selecting_rank(view: View) -> View:
    """With the rank that a page about one rank shows as the one to move from."""
    shown = rank_view.shown(view)
    return replace(view, selected=shown.rank) if shown is not None and shown != view.rank else view

"""The flame page: where in its code a rank spent the last minute. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.model.plan import UserFocus
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages import ranks as ranks_page
from hwtop.ui.pages.page import Cell, Companion, Page, PagePanel, PlacesOf, Size, focus_on_shown
from hwtop.ui.panels.stacks import flame, flame_view
from hwtop.ui.panels.stacks.state import FlameState
from hwtop.ui.reducers import flame as flame_moves
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place, stack

_LEAST, _BESIDE = 80, 110
"""Cells from which functions have boxes, and from which the list of the hottest path stands beside them."""


def _in_boxes(view: View, at: Cell, size: Size) -> View:
    node = flame.node_at(view, *at, *size)
    return view if node is None else flame_moves.chosen(view, node)


def _in_path(view: View, at: Cell, size: Size) -> View:
    node = flame.path_node_at(view, at[1], size[1])
    return view if node is None else flame_moves.chosen(view, node)


def _down(view: View, rows: int) -> View:
    return flame_moves.moved(view, 0, rows)


class FlamePage(Page):
    """The functions of one rank as boxes, and the hottest path as a list."""

    name = "flame"
    title = "Flame"
    tab = Action("flame", "4,f", "flame", "Where in its code a rank spends its time")
    is_of_job = False
    panels = {
        "flame": PagePanel(flame.draw, click=_in_boxes, wheel=_down),
        "flame-path": PagePanel(flame.draw_path, click=_in_path, wheel=_down),
    }
    main = ("flame", "flame-path")
    companions = (Companion("flame-path", "stack"), Companion("stack", "logs"))
    lists = frozenset({"left", "right"})

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The boxes with the hottest path beside or below them; in a narrow terminal, where no name fits a box, the path alone."""
        room = bottom - top
        if flame_view.flame_of(view) is None and view.job is not None:
            why = min(flame.wanted_why(view, width), room * 2 // 3)
            return stack([("flame-path", why)], top, width) | ranks_page.one_rank(
                Place(0, top + why, width, room - why)
            )
        if width < _LEAST:
            return stack([("flame-path", room)], top, width)
        if width >= _BESIDE:
            side = min(80, width * 2 // 5)
            return {
                "flame": Place(0, top, width - side, room),
                "flame-path": Place(width - side, top, side, room),
            }
        path = min(flame.wanted_path(view, width), room - min(flame.wanted(view, width), room * 2 // 3))
        return stack([("flame", room - path), ("flame-path", path)], top, width)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:  # noqa: ARG002
        """The box in this direction."""
        return flame_moves.moved(view, right, down)

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The selected box at full width."""
        return flame_moves.zoomed(view)

    def back(self, view: View) -> View | None:
        """The whole flame again, the selection kept; then without the selection."""
        return flame_moves.unzoomed(view)

    def is_open(self, view: View) -> bool:
        """It is zoomed."""
        return bool(view.state(FlameState).zoom)

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (
            (("down", "up", "right", "left"), "function"),
            (("choose",), "zoom"),
            (("previous-rank", "next-rank"), "rank"),
        )

    def copied(self, view: View) -> str:
        """The hottest path."""
        return flame_view.sentence(view)

    def user_focus(self, view: View) -> UserFocus:
        """A flame is kept of one rank: of the one on the page, whether it was selected or a finding blames it."""
        return focus_on_shown(view)

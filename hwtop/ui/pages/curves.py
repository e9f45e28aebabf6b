"""The curves page: loss, speed and what else the training reports. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Cell, Page, PagePanel, PlacesOf, Size
from hwtop.ui.panels.curves import curve
from hwtop.ui.panels.curves import list as curve_list
from hwtop.ui.panels.curves import view as curve_view
from hwtop.ui.reducers import curves as curve_moves
from hwtop.ui.reducers import focus
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place

_LIST_FROM = 70
"""Cells from which the small curves stand beside the large one."""


def _in_list(view: View, at: Cell, size: Size) -> View:
    return curve_moves.chosen(view, curve_list.row_at(view, at[1], size[1]))


class CurvesPage(Page):
    """All curves small beside the large one."""

    name = "curves"
    title = "Curves"
    tab = Action("curves", "6", "curves", "Loss, speed and other training metrics")
    is_of_job = False
    panels = {
        "curve-list": PagePanel(curve_list.draw, click=_in_list, wheel=curve_moves.moved),
        "curve": PagePanel(curve.draw, wheel=curve_moves.moved),
    }
    main = ("curve",)
    lists = frozenset({"left", "right"})
    actions = (Action("log-scale", "L", "log scale", "Log scale for the large curve"),)
    keys = {
        "order": lambda view, _: curve_moves.next_source(view),
        "log-scale": lambda view, _: curve_moves.scaled(view),
    }

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The large one alone in a narrow terminal, or where there is no other."""
        if width < _LIST_FROM or len(curve_view.curves(view)) < 2:
            return {"curve": Place(0, top, width, bottom - top)}
        side = max(29, min(60, width * 3 // 10))
        return {
            "curve-list": Place(0, top, side, bottom - top),
            "curve": Place(side, top, width - side, bottom - top),
        }

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:  # noqa: ARG002
        """Another curve is drawn large."""
        return curve_moves.moved(view, down or right)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:  # noqa: ARG002
        """The same."""
        return curve_moves.moved(view, rows)

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The large curve alone."""
        return focus.alone(view, "curve")

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (
            (("down", "up"), "curve"),
            (("choose",), "large"),
            (("log-scale",), "log scale"),
            (("order",), "source"),
        )

    def copied(self, view: View) -> str:
        """The newest values."""
        return curve_view.sentence(view) if view.job is not None else super().copied(view)

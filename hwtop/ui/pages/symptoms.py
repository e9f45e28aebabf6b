"""The symptoms page: the findings, the selected one in full, what else was checked, and when. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Cell, Companion, Page, PagePanel, PlacesOf, Size, turned
from hwtop.ui.panels.symptoms import detail as symptom_detail
from hwtop.ui.panels.symptoms import findings
from hwtop.ui.panels.symptoms import list as symptom_list
from hwtop.ui.panels.symptoms import questions as hypotheses
from hwtop.ui.panels.symptoms import timeline as symptom_timeline
from hwtop.ui.panels.symptoms import view as symptom_view
from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.reducers import focus
from hwtop.ui.reducers import symptoms as symptom_moves
from hwtop.ui.view import View
from hwtop.ui.widgets.place import WIDE, Place, stack


def _beside(view: View, at: Place) -> dict[str, Place]:
    main = at.width * 11 // 20
    side = at.width - main
    when = min(symptom_timeline.wanted(view), at.height // 3)
    return {
        "symptom": Place(0, at.y, main, at.height),
        "suspects": Place(main, at.y, side, at.height - when),
        "symptom-timeline": Place(main, at.y + at.height - when, side, when),
    }


def _below(view: View, at: Place) -> dict[str, Place]:
    when, asked = symptom_timeline.wanted(view), hypotheses.least(view)
    if not view.frame.hypotheses or at.height - when - asked < symptom_detail.LEAST:
        return {"symptom-page": at}
    reported = min(symptom_detail.wanted(view, at.width), at.height - when - asked)
    asked = min(hypotheses.wanted(view, at.width), at.height - when - reported)
    rows = [("symptom", at.height - when - asked), ("suspects", asked), ("symptom-timeline", when)]
    return stack(rows, at.y, at.width)


def _in_findings(view: View, at: Cell, size: Size) -> View:
    place = findings.place_at(view, at[1], *size)
    return view if place is None else turned(symptom_moves.chosen(view, place), SymptomsPage.name)


def _in_list(view: View, at: Cell, size: Size) -> View:
    place = symptom_list.place_at(view, at[1], size[1])
    return view if place is None else symptom_moves.chosen(view, place)


def _in_timeline(view: View, at: Cell, size: Size) -> View:
    symptom = symptom_timeline.symptom_at(view, at[1], size[1])
    places = [place for place, finding in enumerate(view.frame.findings) if finding.symptom == symptom]
    return symptom_moves.chosen(view, places[0]) if places else view


class SymptomsPage(Page):
    """One finding with its evidence and steps; the others, the checks and the timeline where there is room, else below it."""

    name = "symptoms"
    title = "Symptoms"
    tab = Action("symptoms", "0", "symptoms", "Findings with evidence; the other checks")
    panels = {
        "findings": PagePanel(findings.draw, click=_in_findings),
        "symptom-list": PagePanel(symptom_list.draw, click=_in_list, wheel=symptom_moves.moved),
        "symptom": PagePanel(symptom_detail.draw, hidden=symptom_detail.hidden, maximized="symptom-page"),
        "symptom-page": PagePanel(symptom_detail.draw_all, hidden=symptom_detail.hidden_of_all),
        "suspects": PagePanel(hypotheses.draw),
        "symptom-timeline": PagePanel(symptom_timeline.draw, click=_in_timeline, wheel=symptom_moves.moved),
    }
    main = ("symptom", "symptom-page")
    companions = (
        Companion("symptom", "ranks", 60),
        Companion("suspects", "logs"),
        Companion("symptom-page", "ranks", 60),
    )
    scrolling = ("symptom", "symptom-page")

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The finding needs the most room: the rest has panels of its own where room is left."""
        room = bottom - top
        if not view.frame.findings:
            return {"symptom-page": Place(0, top, width, room)}
        listed = min(symptom_list.wanted(view), max(3, room // 3))
        places = stack([("symptom-list", listed)], top, width)
        left = Place(0, top + listed, width, room - listed)
        if width >= WIDE and view.frame.hypotheses:
            return places | _beside(view, left)
        return places | _below(view, left)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """Another finding, or further down in the only one or the one that has the page."""
        is_read = bool(view.alone) or not view.frame.findings
        return self.scroll(view, down, places) if down and is_read else symptom_moves.moved(view, down or right)

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The finding alone."""
        return focus.alone(view, "symptom", "symptom-page")

    def cleared(self, view: View) -> View:
        """The first finding is selected."""
        return view.with_state(SymptomsState())

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (("down", "up"), "finding"), (("choose",), "all of it"), (("page-down", "page-up"), "scroll")

    def copied(self, view: View) -> str:
        """The selected finding with its steps."""
        return symptom_view.sentence(view)

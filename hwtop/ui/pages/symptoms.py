"""Where the panels of the symptoms page stand: the findings, the selected one in full, what else was checked, and when. Pure."""

from __future__ import annotations

from hwtop.ui.pages.place import WIDE, Place, stack
from hwtop.ui.panels import hypotheses, symptom_detail, symptom_list, symptom_timeline
from hwtop.ui.view import View


def arrange(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The story of one finding needs the most room: the rest has panels of its own where the room is left, else it stands
    below the story, to be scrolled to."""
    room = bottom - top
    if not view.frame.findings:
        return {"symptom-page": Place(0, top, width, room)}
    listed = min(symptom_list.wanted(view), max(3, room // 3))
    places = stack([("symptom-list", listed)], top, width)
    left = Place(0, top + listed, width, room - listed)
    if width >= WIDE and view.frame.hypotheses:
        return places | _beside(view, left)
    return places | _below(view, left)


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
    told = min(symptom_detail.wanted(view, at.width), at.height - when - asked)
    asked = min(hypotheses.wanted(view, at.width), at.height - when - told)
    rows = [("symptom", at.height - when - asked), ("suspects", asked), ("symptom-timeline", when)]
    return stack(rows, at.y, at.width)

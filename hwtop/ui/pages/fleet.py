"""The fleet page: the nodes of a job as a heat map and a table, what is wrong with the job, and one node. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.symptoms.summary import few_lines
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages import tabular
from hwtop.ui.pages.page import Cell, Page, PagePanel, PlacesOf, Size, turned
from hwtop.ui.panels.fleet import card, table
from hwtop.ui.panels.fleet import map as fleet_map
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.state import NODES, FleetState
from hwtop.ui.panels.symptoms import findings
from hwtop.ui.reducers import fleet, tables
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.place import WIDE, Place, stack

_TABLE_LEAST = 7
"""Rows of the table: titles and four nodes."""
_FINDINGS_LEAST = 4


def _in_map(view: View, at: Cell, size: Size) -> View:
    place = fleet_map.node_at(view, *at, *size)
    return view if place is None else fleet.chosen(view, place)


def _in_table(view: View, at: Cell, size: Size) -> View:
    """A click on a title sorts."""
    if at[1] == 1:
        return tables.sorted_by(view, NODES, table.column_at(view, at[0], size[0]))
    place = table.node_at(view, at[1], size[1])
    return view if place is None else fleet.chosen(view, place)


class FleetPage(Page):
    """It has a tab where a job over several nodes is watched."""

    name = "fleet"
    title = "Fleet"
    tab = Action("fleet", "A", "fleet", "The nodes of a job: heat map and table")
    panels = {
        "fleet-map": PagePanel(fleet_map.draw, click=_in_map, wheel=fleet.moved),
        "fleet-table": PagePanel(table.draw, click=_in_table, wheel=fleet.moved),
        "fleet-card": PagePanel(card.draw, wheel=fleet.moved),
    }
    main = ("fleet-map", "fleet-table")
    actions = (
        Action(
            "heat", "v", "heat map", "Heat map: utilization, power, temperature, phase, step lag", elsewhere="fleet"
        ),
    )
    keys = {
        **{action: reduce for action, reduce in tabular.keys(NODES).items() if action != "untag"},
        "heat": lambda view, _: fleet.next_heat(view),
    }
    lists = frozenset({"left", "right", "filter"})
    filter_example = "node~gpu-0 util<50 status=lost"

    def is_there(self, view: View) -> bool:
        """A job over several nodes is watched."""
        return bool(view.job_frame.nodes)

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """What is wrong, the map, the table; beside or below it the node under the cursor where there is room."""
        room = bottom - top
        wanted = fleet_map.wanted(view, width, max(6, min(room - _TABLE_LEAST, room * 9 // 20)))
        left = room - wanted
        least = min(table.wanted(view), max(_TABLE_LEAST, left // 2))
        found = min(findings.wanted(view, width), left - least, room // 4) if view.frame.findings else 0
        found = found if found >= _FINDINGS_LEAST else 0
        rest = left - found
        places = stack([("findings", found), ("fleet-map", wanted), ("fleet-table", rest)], top, width)
        at = places["fleet-table"]
        if width >= WIDE and rest >= card.LEAST:
            side = max(card.WIDTH, width // 3)
            places["fleet-table"] = Place(0, at.y, width - side, rest)
            places["fleet-card"] = Place(width - side, at.y, side, rest)
        elif rest - least >= card.LEAST:
            rows = min(table.wanted(view), max(least, rest // 2))
            places |= stack([("fleet-table", rows), ("fleet-card", rest - rows)], at.y, width)
        return places

    def entered(self, view: View) -> View:
        """Of the whole job."""
        return fleet.closed(view)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """Another node, in the map in this direction; where the table is in focus, in its order."""
        at = places(view).get("fleet-map")
        is_map = at is not None and view.panel != "fleet-table"
        columns = fleet_map.columns(view, at.width, at.height) if at is not None and is_map else 1
        step = right + down * columns
        if columns > 1 and not 0 <= fleet_view.place(view) + step < len(fleet_view.kept(view)):
            return view
        return fleet.moved(view, step)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:  # noqa: ARG002
        """So many nodes further."""
        return fleet.moved(view, rows)

    def restarted(self, view: View) -> View:
        """At the first node."""
        return view.with_state(replace(view.state(FleetState), node=""))

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The node under the cursor in the usual pages."""
        row = fleet_view.selected(view)
        if row is None:
            return view
        return fleet.opened(turned(fleet.chosen(view, fleet_view.place(view)), "overview"), row.node.name)

    def cleared(self, view: View) -> View:
        """The first node is under the cursor."""
        return self.restarted(view)

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (
            (("choose",), "open node"),
            (("heat",), "heat map"),
            (("filter",), "filter"),
            (("order", "reverse"), "sort"),
            (("down", "up"), "node"),
        )

    def copied(self, view: View) -> str:
        """The conclusion of the job, and the node under the cursor."""
        return f"{few_lines(view.job_frame)}\n{fleet_view.sentence(view)}"

    def hits(self, view: View) -> Hits:
        """Nodes."""
        return Hits(len(fleet_view.kept(view)), len(fleet_view.every(view)), fleet_view.query(view).problem)

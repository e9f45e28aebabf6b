"""While there is no job: the list to pick one from, then the machine that one would run on. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.ui.keys.action import Offer
from hwtop.ui.pages.page import Cell, Page, PagePanel, PlacesOf, Size
from hwtop.ui.panels import picker
from hwtop.ui.panels.gpu import lines as gpu
from hwtop.ui.panels.host import cpu, disk, memory, network
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place, row, stack

_PANELS_FROM = (110, 34)
"""Cells and rows from which the host has a panel a subject."""
_PICKER_LEAST = 9
_HOST, _HOST_LEAST = 4, 8
"""Rows of the host in one panel, and of its four panels beside each other."""


def _in_list(view: View, at: Cell, size: Size) -> View:
    place = picker.place_at(view, at[1], *size)
    return view if place is None else picker.moved_to(view, place)


class PickerPage(Page):
    """Not one of the tabs: it is in view while no job is watched and there are some to pick from."""

    name = "picker"
    title = ""
    panels = {"picker": PagePanel(picker.draw, click=_in_list)}
    main = ("picker",)
    lists = frozenset({"filter"})
    filter_example = "train.py training ada"

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The list gets what it wants, the GPUs a line each where they have room, the host what is left."""
        room = bottom - top
        has_panels = width >= _PANELS_FROM[0] and room >= _PANELS_FROM[1]
        host = _HOST_LEAST if has_panels else _HOST
        picked = min(picker.wanted(view, width), room - host)
        wants = gpu.wanted(view, width) if view.frame.derived.gpus else 0
        gpus = wants if room - host - max(picked, _PICKER_LEAST) >= wants else 0
        if wants and not gpus and room - host - picked >= 3:
            gpus = 3
        left = room - picked - gpus - host
        if not has_panels:
            return stack([("picker", picked + left), ("gpu", gpus), ("host", host)], top, width)
        each = width // 4
        most = max(panel.wanted(view, each) for panel in (cpu, memory, disk, network))
        more = max(0, min(left, most - host))
        places = stack([("picker", room - gpus - host - more), ("gpu", gpus)], top, width)
        return places | row(("cpu", "memory", "disk", "network"), Place(0, bottom - host - more, width, host + more))

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:  # noqa: ARG002
        """Another job."""
        return picker.moved_to(view, picker.place(view) + down)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:
        """The same."""
        return self.move(view, 0, rows, places)

    def hits(self, view: View) -> Hits:
        """Of all processes that were found."""
        return Hits(len(picker.candidates(view)), len(view.frame.derived.candidates or ()), "")

    def restarted(self, view: View) -> View:
        """From the first one."""
        return view.with_state(picker.PickerState())

    def offers(self, view: View) -> Sequence[Offer]:
        """Its keys in the footer."""
        back: tuple[Offer, ...] = ((("clear",), "all"),) if self.is_filtered(view) else ()
        return *back, (("choose",), "attach"), (("down", "up"), "choose"), (("filter",), "filter")

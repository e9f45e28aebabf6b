"""The GPU page: all devices first, then the selected one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Cell, Companion, Page, PagePanel, PlacesOf, Size
from hwtop.ui.panels.gpu import card as gpu_card
from hwtop.ui.panels.gpu import lines as gpu
from hwtop.ui.panels.gpu import missing as gpu_missing
from hwtop.ui.panels.gpu import processes as gpu_processes
from hwtop.ui.panels.gpu import topology as gpu_topology
from hwtop.ui.panels.gpu import trends as gpu_trends
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.reducers import focus, gpus
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.place import WIDE, Place, stack

_BESIDE = 110
"""Cells from which the card stands beside topology and processes."""
_BELOW = 20
"""Rows below the list from which topology and processes stand below the card."""
_CARD, _PROCESSES = 8, 5
"""Rows of card and processes, where they stand below each other."""
_TRENDS_FROM, _TRENDS, _TRENDS_MOST = 26, 8, 12
"""Rows below the list from which trends have room there, and how many they get at least and at most."""
_TALL = 50
"""Rows below the list from which the card leaves more of them to the trends."""


def _trends(view: View, room: int) -> int:
    if room < _TRENDS_FROM or not gpu_trends.is_wanted(view):
        return 0
    return room * 2 // 5 if room >= _TALL else max(_TRENDS, min(_TRENDS_MOST, room // 4))


def _ways(view: View, width: int) -> int:
    """Rows for the ways between devices: one alone has none."""
    return gpu_topology.wanted(view, width) if len(view.frame.derived.gpus) > 1 else 0


def _below(view: View, at: Place) -> dict[str, Place]:
    """Card, topology and processes: beside each other, below each other, or the card alone."""
    if at.width >= _BESIDE and at.height >= gpu_card.LEAST + 3:
        side = at.width * 9 // 20 if at.width >= WIDE else at.width // 2
        x = at.width - side
        ways = min(_ways(view, side), at.height - 3)
        if ways and at.height - ways < _PROCESSES:
            ways = at.height - _PROCESSES if at.height >= 2 * _PROCESSES else 0
        places = {
            "gpu-card": Place(0, at.y, x, at.height),
            "gpu-processes": Place(x, at.y + ways, side, at.height - ways),
        }
        return places | {"gpu-topology": Place(x, at.y, side, ways)} if ways else places
    if at.height < _BELOW:
        return stack([("gpu-card", at.height)], at.y, at.width)
    ways = min(_ways(view, at.width), at.height - _CARD - _PROCESSES)
    processes = min(gpu_processes.wanted(view, at.width), max(_PROCESSES, (at.height - ways) // 2))
    rows = [("gpu-card", at.height - ways - processes), ("gpu-topology", ways), ("gpu-processes", processes)]
    return stack(rows, at.y, at.width)


def _in_table(view: View, at: Cell, size: Size) -> View:
    place = gpu.place_at(view, at[1], size[1])
    return view if place is None else gpus.chosen(view, place)


def _in_list(view: View, at: Cell, size: Size) -> View:
    shown = gpu.rows_shown(view, size[1])
    return gpus.chosen(view, shown.start + at[1] - 2) if 0 <= at[1] - 2 < len(shown) else view


def _in_processes(view: View, at: Cell, size: Size) -> View:
    found = gpu_processes.gpu_at(view, at[1], size[1])
    kept = gpu_view.kept(view)
    return gpus.chosen(view, kept.index(found)) if found in kept else view


def _card_alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One device has the page, with its trends above it where there is room."""
    trends = _trends(view, bottom - top)
    return stack([("gpu-trends", trends), ("gpu-card", bottom - top - trends)], top, width)


def _table_alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The table of the overview has the page, with the trends of the selected device where there is room."""
    rows = gpu.wanted(view, width)
    left = bottom - top - rows
    if left < _TRENDS or not gpu_trends.is_wanted(view):
        return {"gpu": Place(0, top, width, bottom - top)}
    return stack([("gpu", rows), ("gpu-trends", left)], top, width)


class GpuPage(Page):
    """A line for each device, and all about the selected one."""

    name = "gpu"
    title = "GPUs"
    tab = Action("gpu", "7,g", "GPUs", "GPUs: load, memory, health, links")
    panels = {
        "gpu": PagePanel(gpu.draw, click=_in_table, alone=_table_alone),
        "gpu-list": PagePanel(gpu.draw_page, click=_in_list, wheel=gpus.moved),
        "gpu-trends": PagePanel(gpu_trends.draw, wheel=gpus.moved),
        "gpu-card": PagePanel(gpu_card.draw, wheel=gpus.moved, hidden=gpu_card.hidden, alone=_card_alone),
        "gpu-topology": PagePanel(gpu_topology.draw, wheel=gpus.moved),
        "gpu-processes": PagePanel(gpu_processes.draw, click=_in_processes, wheel=gpus.moved),
        "gpu-missing": PagePanel(gpu_missing.draw),
    }
    main = ("gpu-card", "gpu-list")
    companions = (Companion("gpu-processes", "ranks"),)
    scrolling = ("gpu-card",)
    lists = frozenset({"left", "right", "filter"})
    filter_example = "gpu=3 util<30 state=lost"

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """One line a device, with the card of the selected one; what is missing in the last row."""
        room = bottom - top
        if not view.frame.derived.gpus:
            return stack([("gpu-list", room)], top, width)
        reasons = gpu_missing.rows(view, width, room)
        room -= reasons
        devices = min(gpu.wanted(view, width), room)
        if room - devices < gpu_card.LEAST:
            devices = room
        rest = room - devices
        trends = _trends(view, rest) if width >= _BESIDE else 0
        places = stack([("gpu-list", devices), ("gpu-trends", trends)], top, width)
        if rest:
            places |= _below(view, Place(0, top + devices + trends, width, rest - trends))
        return places | stack([("gpu-missing", reasons)], bottom - reasons, width)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """Another device, or further down in the card that has the page."""
        is_read = down and view.alone == "gpu-card"
        return self.scroll(view, down, places) if is_read else gpus.moved(view, down or right)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:
        """The same."""
        return super().scroll(view, rows, places) if view.alone == "gpu-card" else gpus.moved(view, rows)

    def text_panels(self, view: View) -> Collection[str]:
        """The card where it has the page."""
        return ("gpu-card",) if view.alone == "gpu-card" else ()

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The card alone."""
        return focus.alone(view, "gpu-card")

    def cleared(self, view: View) -> View:
        """The device that the rest of the view suggests is selected."""
        return view.with_state(GpuState())

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (("down", "up"), "GPU"), (("choose",), "all of it"), (("previous-rank", "next-rank"), "rank")

    def copied(self, view: View) -> str:
        """The selected device."""
        return gpu_view.sentence(view)

    def hits(self, view: View) -> Hits:
        """Devices."""
        return Hits(len(gpu_view.kept(view)), len(view.frame.derived.gpus), gpu_view.query(view).problem)

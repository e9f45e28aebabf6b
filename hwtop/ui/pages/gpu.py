"""Where the panels of the GPU page stand: all devices first, then what the selected one has to say. Pure."""

from __future__ import annotations

from hwtop.ui.pages.place import WIDE, Place, stack
from hwtop.ui.panels import gpu, gpu_card, gpu_missing, gpu_processes, gpu_topology, gpu_trends
from hwtop.ui.view import View

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


def arrange(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One line a device, with the card of the selected one; what is missing in the last row."""
    room = bottom - top
    if not view.frame.moment.gpus:
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


def alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One device has the page, with its trends above it where there is room."""
    trends = _trends(view, bottom - top)
    return stack([("gpu-trends", trends), ("gpu-card", bottom - top - trends)], top, width)


def table_alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The table of the overview has the page, with the trends of the selected device where there is room."""
    rows = gpu.wanted(view, width)
    left = bottom - top - rows
    if left < _TRENDS or not gpu_trends.is_wanted(view):
        return {"gpu": Place(0, top, width, bottom - top)}
    return stack([("gpu", rows), ("gpu-trends", left)], top, width)


def _trends(view: View, room: int) -> int:
    if room < _TRENDS_FROM or not gpu_trends.is_wanted(view):
        return 0
    return room * 2 // 5 if room >= _TALL else max(_TRENDS, min(_TRENDS_MOST, room // 4))


def _ways(view: View, width: int) -> int:
    """Rows for the ways between devices: one alone has none."""
    return gpu_topology.wanted(view, width) if len(view.frame.moment.gpus) > 1 else 0


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

"""Where the panels stand while there is no job: the list to pick one from, then the box that one would run on. Pure."""

from __future__ import annotations

from hwtop.ui.pages.place import Place, row, stack
from hwtop.ui.panels import cpu, disk, gpu, memory, network, picker
from hwtop.ui.view import View

_PANELS_FROM = (110, 34)
"""Cells and rows from which the host has a panel a subject."""
_PICKER_LEAST = 9
_HOST, _HOST_LEAST = 4, 8
"""Rows of the host in one panel, and of its four panels beside each other."""


def arrange(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The list gets what it wants, the GPUs a line each where they have room, the host what is left."""
    room = bottom - top
    has_panels = width >= _PANELS_FROM[0] and room >= _PANELS_FROM[1]
    host = _HOST_LEAST if has_panels else _HOST
    picked = min(picker.wanted(view, width), room - host)
    wants = gpu.wanted(view, width) if view.frame.moment.gpus else 0
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

"""Which device is under the cursor of the GPU page. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.fields.gpu import ranks_of
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.panels.gpu.view import kept, selected
from hwtop.ui.view import View


def moved(view: View, step: int) -> View:
    """The device `step` further is under the cursor; with it its rank is selected on every page."""
    gpus, here = kept(view), selected(view)
    return view if here is None else chosen(view, gpus.index(here) + step)


def chosen(view: View, place: int) -> View:
    """The device at this place of the list is under the cursor."""
    gpus = kept(view)
    if not gpus:
        return view
    gpu = gpus[max(0, min(len(gpus) - 1, place))]
    ranks = ranks_of(view.frame.derived).get(gpu.index, ())
    return replace(view, selected=ranks[0] if ranks else None, scroll=0).with_state(GpuState(gpu.index))

"""Where the mouse leads: a view, a panel and a cell of it in, a view out. The wheel moves what is under the pointer. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hwtop.ui import curve_view, flame_view, gpu_view, process_view, rank_view, symptom_view
from hwtop.ui.moves import moves
from hwtop.ui.moves import time as time_moves
from hwtop.ui.moves.moves import Size
from hwtop.ui.pages.layout import scrolls
from hwtop.ui.panels import (
    flame,
    gpu,
    gpu_processes,
    picker,
    processes,
    rank_map,
    stack_tree,
    symptom_timeline,
    time_bar,
)
from hwtop.ui.view import View

Cell = tuple[int, int]
_NOTCH = 3
"""Rows of text for one notch of the wheel."""


def wheeled(view: View, panel: str, down: int, size: Size) -> View:
    """One notch of the wheel over this panel: its list goes on by a row, its text by a few; the time bar by a picture."""
    if view.is_picking or panel == "compact":
        return moves.moved(view, 0, down, size)
    if _is_text(view, panel):
        return moves.scrolled(view, _NOTCH * down, size)
    move = _LISTS.get(panel)
    return move(view, down) if move else view


def clicked(view: View, panel: str, at: Cell, size: Size) -> View:
    """What stands at this cell of a panel of this size is selected."""
    choose = _ROWS.get(panel)
    return choose(view, at, size) if choose else moves.clicked(view, panel, at, size)


def pulled(view: View, x: int, width: int, *, is_drag: bool) -> View:
    """The picture of this cell of the time bar; right of its track now, or while it is dragged the newest one."""
    view = replace(view, note="")
    if not view.past.kept or view.time_typed is not None:
        return view
    place = time_bar.place_at(view, x, width)
    if place is None:
        return time_moves.shown(view, len(view.past.kept) - 1) if is_drag else time_moves.live(view)
    return time_moves.shown(view, place)


def _is_text(view: View, panel: str) -> bool:
    """It scrolls now, and has no cursor of its own."""
    if panel == "processes":
        return bool(view.inside)
    if panel == "gpu-card":
        return view.alone == panel
    return scrolls(view, panel) or (panel in ("log-context", "log-others") and view.page == "logs")


def _box(view: View, down: int) -> View:
    return flame_view.moved(view, 0, down)


_LISTS: dict[str, Callable[[View, int], View]] = {
    **dict.fromkeys(("ranks", "rank-map", "rank-differ", "rank-card", "stack-tree", "conclusion"), rank_view.stepped),
    **dict.fromkeys(("gpu-list", "gpu-card", "gpu-trends", "gpu-processes", "gpu-topology"), gpu_view.moved),
    **dict.fromkeys(("flame", "flame-path"), _box),
    **dict.fromkeys(("curve-list", "curve"), curve_view.moved),
    **dict.fromkeys(("symptom-list", "symptom-timeline"), symptom_view.moved),
    "processes": process_view.moved,
    "time-bar": time_moves.stepped,
}
"""Panel -> what one row further down is in it."""


def _job(view: View, at: Cell, size: Size) -> View:
    place = picker.place_at(view, at[1], *size)
    return view if place is None else replace(view, cursor=place)


def _differing(view: View, at: Cell, size: Size) -> View:
    return _with_rank(view, rank_map.differing_at(view, at[1], size[1]))


def _tree(view: View, at: Cell, size: Size) -> View:
    return _with_rank(view, stack_tree.rank_at(view, at[1], size[1]))


def _with_rank(view: View, rank: int | None) -> View:
    return view if rank is None else replace(view, selected=rank)


def _flame(view: View, at: Cell, size: Size) -> View:
    node = flame.node_at(view, *at, *size)
    return view if node is None else flame_view.chosen(view, node)


def _path(view: View, at: Cell, size: Size) -> View:
    node = flame.path_node_at(view, at[1], size[1])
    return view if node is None else flame_view.chosen(view, node)


def _device(view: View, at: Cell, size: Size) -> View:
    place = gpu.place_at(view, at[1], size[1])
    return view if place is None else gpu_view.chosen(view, place)


def _on_device(view: View, at: Cell, size: Size) -> View:
    found = gpu_processes.gpu_at(view, at[1], size[1])
    gpus = gpu_view.kept(view)
    return gpu_view.chosen(view, gpus.index(found)) if found in gpus else view


def _busy(view: View, at: Cell, size: Size) -> View:
    found = processes.busiest_at(view, at[1], size[1])
    return view if found is None else replace(view, process=found.pid, selected=found.rank)


def _logs(view: View, at: Cell, size: Size) -> View:
    """Beside other panels they are a glimpse of their page."""
    return moves.clicked(view, "logs", at, size) if view.page == "logs" else moves.turned(view, "logs")


def _episode(view: View, at: Cell, size: Size) -> View:
    symptom = symptom_timeline.symptom_at(view, at[1], size[1])
    places = [place for place, finding in enumerate(view.frame.findings) if finding.symptom == symptom]
    return symptom_view.chosen(view, places[0]) if places else view


_ROWS: dict[str, Callable[[View, Cell, Size], View]] = {
    "picker": _job,
    "rank-differ": _differing,
    "stack-tree": _tree,
    "flame": _flame,
    "flame-path": _path,
    "gpu": _device,
    "gpu-processes": _on_device,
    "busiest": _busy,
    "logs": _logs,
    "symptom-timeline": _episode,
}
"""Panel -> what a click on a row of it does, beside those that `moves.clicked` knows."""

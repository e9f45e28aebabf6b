"""Where each panel stands for a view and a size, and the whole picture. Pure: sizes in, places and lines out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hwtop.ui import curve_view, panel_view
from hwtop.ui.pages import companions, overview, vacancy
from hwtop.ui.pages import gpu as gpu_page
from hwtop.ui.pages import picker as picker_page
from hwtop.ui.pages import ranks as ranks_page
from hwtop.ui.pages import stacks as stacks_page
from hwtop.ui.pages import symptoms as symptoms_page
from hwtop.ui.pages.place import Place, stack
from hwtop.ui.panels import (
    compact,
    conclusion,
    cpu,
    curve,
    curve_list,
    disk,
    findings,
    flame,
    footer,
    gpu,
    gpu_card,
    gpu_missing,
    gpu_processes,
    gpu_topology,
    gpu_trends,
    hint,
    host,
    host_page,
    hypotheses,
    log_context,
    log_others,
    logs,
    memory,
    network,
    picker,
    processes,
    rank_card,
    rank_map,
    ranks,
    stack_tree,
    stacks,
    symptom_detail,
    symptom_list,
    symptom_timeline,
    time_bar,
    verdict,
)
from hwtop.ui.view import LogInside, Page, View
from hwtop.ui.widgets.line import Line

Draw = Callable[[View, int, int], list[Line]]

PANELS: dict[str, Draw] = {
    "verdict": verdict.draw,
    "findings": findings.draw,
    "gpu": gpu.draw,
    "ranks": ranks.draw,
    "rank-map": rank_map.draw,
    "rank-differ": rank_map.draw_differing,
    "rank-card": rank_card.draw,
    "host": host.draw,
    "busiest": processes.draw_busiest,
    "cpu": cpu.draw,
    "memory": memory.draw,
    "disk": disk.draw,
    "network": network.draw,
    "conclusion": conclusion.draw,
    "stack-tree": stack_tree.draw,
    "stack": stacks.draw,
    "flame": flame.draw,
    "flame-path": flame.draw_path,
    "logs": logs.draw,
    "log-context": log_context.draw,
    "log-others": log_others.draw,
    "curve-list": curve_list.draw,
    "curve": curve.draw,
    "gpu-list": gpu.draw_page,
    "gpu-trends": gpu_trends.draw,
    "gpu-card": gpu_card.draw,
    "gpu-topology": gpu_topology.draw,
    "gpu-processes": gpu_processes.draw,
    "gpu-missing": gpu_missing.draw,
    "processes": processes.draw,
    "host-answer": host_page.draw_answer,
    "host-page": host_page.draw,
    "cpu-page": partial(host_page.draw_subject, "cpu"),
    "memory-page": partial(host_page.draw_subject, "memory"),
    "disk-page": partial(host_page.draw_subject, "disk"),
    "network-page": partial(host_page.draw_subject, "network"),
    "symptom-list": symptom_list.draw,
    "symptom": symptom_detail.draw,
    "symptom-page": symptom_detail.draw_all,
    "suspects": hypotheses.draw,
    "symptom-timeline": symptom_timeline.draw,
    "picker": picker.draw,
    "compact": compact.draw,
    "time-bar": time_bar.draw,
    "hint": hint.draw,
    "footer": footer.draw,
}

_SCROLLED: dict[Page, dict[str, Callable[[View, int, int], int]]] = {
    "stacks": {"stack": stacks.hidden},
    "logs": {"logs": logs.hidden},
    "gpu": {"gpu-card": gpu_card.hidden},
    "host": {"host-page": host_page.hidden},
    "processes": {"processes": processes.hidden},
    "symptoms": {"symptom": symptom_detail.hidden, "symptom-page": symptom_detail.hidden_of_all},
}
"""The panels of a page that scroll, of which one is shown at a time, and how many of its rows are out of sight."""
_LOG_INSIDE: dict[LogInside, tuple[str, Callable[[View, int], int]]] = {
    "context": ("log-context", log_context.wanted),
    "others": ("log-others", log_others.wanted),
}
"""What stands below the log lines, and the rows that it has a use for."""

COMPACT_BELOW = (60, 15)
"""Cells and rows under which panels give way to text."""
_LINES_LEAST = 6
"""Rows for the log lines while one of them is open below."""
_CURVES_LEAST = 70
"""Cells from which the small curves stand beside the large one."""


def arrange(view: View, width: int, height: int) -> dict[str, Place]:
    """The panels to show and where; they never overlap and fill the screen."""
    if width < COMPACT_BELOW[0] or height < COMPACT_BELOW[1]:
        return {"compact": Place(0, 0, width, height)}
    top, bottom = verdict.ROWS, height - footer.rows(view, width)
    places = {"verdict": Place(0, 0, width, top), "footer": Place(0, bottom, width, height - bottom)}
    if said := hint.rows(view, width):
        bottom -= said
        places["hint"] = Place(0, bottom, width, said)
    if time_bar.rows(view):
        bottom -= 1
        places["time-bar"] = Place(0, bottom, width, 1)
    if view.is_picking:
        return places | picker_page.arrange(view, top, bottom, width)
    if view.alone:
        return places | _alone(view, top, bottom, width)
    body = companions.joined(view, _body(view, top, bottom, width), PANELS)
    return places | vacancy.without(body, panel_view.gone(view, body))


def _body(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """Everything between the rows on top and the footer."""
    if view.page in _ARRANGED:
        return _ARRANGED[view.page](view, top, bottom, width)
    if view.page == "logs" and view.log_inside:
        panel, wanted = _LOG_INSIDE[view.log_inside]
        rows = min(wanted(view, width), bottom - top - max(_LINES_LEAST, (bottom - top) // 3))
        return stack([("logs", bottom - top - rows), (panel, rows)], top, width)
    if view.page in ("logs", "processes"):
        return {view.page: Place(0, top, width, bottom - top)}
    return overview.arrange(view, top, bottom, width)


def _alone(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One panel has the page; GPUs with trends."""
    if view.alone == "gpu-card":
        return gpu_page.alone(view, top, bottom, width)
    if view.alone == "gpu":
        return gpu_page.table_alone(view, top, bottom, width)
    return {view.alone: Place(0, top, width, bottom - top)}


def drawn(view: View, name: str, places: Mapping[str, Place]) -> list[Line]:
    """The lines of a panel, with a mark where it is the one that the keys about panels mean."""
    place = places[name]
    lines = PANELS[name](view, place.width, place.height)
    if name != panel_view.meant(view, places):
        return lines
    return panel_view.marked(view, lines)


def picture(view: View, width: int, height: int) -> list[Line]:
    """The whole screen: `height` lines of `width` cells."""
    rows: list[list[tuple[int, Line]]] = [[] for _ in range(height)]
    places = arrange(view, width, height)
    for name, place in places.items():
        for offset, line in enumerate(drawn(view, name, places)):
            rows[place.y + offset].append((place.x, line))
    lines: list[Line] = []
    for parts in rows:
        line = Line()
        for x, part in sorted(parts, key=lambda item: item[0]):
            line = line.fitted(x).extend(part) if line.width < x else line.extend(part)
        lines.append(line.fitted(width))
    return lines


def scrolls(view: View, panel: str) -> bool:
    """Whether this panel is one that scrolls on this page."""
    return panel in _SCROLLED.get(view.page, {})


def scrollable(view: View, width: int, height: int) -> int:
    """How far this page can be scrolled, in rows."""
    places = arrange(view, width, height) if view.page in _SCROLLED else {}
    scrolled = ((places[name], hidden) for name, hidden in _SCROLLED.get(view.page, {}).items() if name in places)
    return next((hidden(view, place.width, place.height) for place, hidden in scrolled), 0)


def _host(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The answer above everything else about the host, which scrolls."""
    said = min(host_page.answer_rows(view, width), (bottom - top) // 2)
    return stack([("host-answer", said), ("host-page", bottom - top - said)], top, width)


def _curves(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """All curves small beside the large one."""
    if width < _CURVES_LEAST or len(curve_view.curves(view)) < 2:
        return {"curve": Place(0, top, width, bottom - top)}
    side = max(29, min(60, width * 3 // 10))
    return {
        "curve-list": Place(0, top, side, bottom - top),
        "curve": Place(side, top, width - side, bottom - top),
    }


_ARRANGED: dict[Page, Callable[[View, int, int, int], dict[str, Place]]] = {
    "stacks": stacks_page.arrange,
    "ranks": ranks_page.arrange,
    "flame": stacks_page.arrange_flame,
    "curves": _curves,
    "gpu": gpu_page.arrange,
    "host": _host,
    "symptoms": symptoms_page.arrange,
}
"""Pages with an arrangement of their own between the rows on top and the footer."""

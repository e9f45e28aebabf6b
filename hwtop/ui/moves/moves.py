"""Where the keys lead: a view and what was pressed in, a view out. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.ui import (
    curve_view,
    flame_view,
    gpu_view,
    log_view,
    order,
    panel_view,
    process_view,
    rank_view,
    symptom_view,
)
from hwtop.ui.moves import time as time_moves
from hwtop.ui.pages.layout import arrange, scrollable
from hwtop.ui.panels import curve_list, findings, gpu, logs, picker, processes, rank_map, ranks, symptom_list
from hwtop.ui.view import SEARCH, LogInside, Page, View

Size = tuple[int, int]
"""Cells and rows of the terminal."""


def moved(view: View, right: int, down: int, size: Size) -> View:
    """What this page moves: the job to pick, the lines, the function of the flame, the curve, the GPU, the
    finding, or the selected rank."""
    if view.is_picking:
        last = max(0, len(picker.candidates(view)) - 1)
        return replace(view, cursor=max(0, min(last, view.cursor + down)))
    if view.page == "processes" and not view.inside:
        return process_view.turned(view, right) if right else process_view.moved(view, down)
    if view.page in ("logs", "processes", "host"):
        return scrolled(view, down, size) if down else view
    if view.page == "flame":
        return flame_view.moved(view, right, down)
    if view.page == "curves":
        return curve_view.moved(view, down or right)
    if view.page == "gpu":
        return scrolled(view, down, size) if down and view.alone == "gpu-card" else gpu_view.moved(view, down or right)
    if view.page == "symptoms":
        is_read = bool(view.alone) or not view.frame.findings
        return scrolled(view, down, size) if down and is_read else symptom_view.moved(view, down or right)
    if view.page == "stacks" and right:
        return rank_view.next_group(view, right)
    at = arrange(view, *size).get("rank-map")
    return rank_view.moved(view, right, down, rank_map.columns(view, at.width, at.height) if at else 1)


def scrolled(view: View, rows: int, size: Size) -> View:
    """This page, `rows` further down; logs scroll away from their end, or move their mark where a line is open."""
    if view.is_picking:
        return moved(view, 0, rows, size)
    if view.page == "processes" and not view.inside:
        return process_view.moved(view, rows)
    if view.page == "curves":
        return curve_view.moved(view, rows)
    if view.page == "gpu" and view.alone != "gpu-card":
        return gpu_view.moved(view, rows)
    if view.page == "logs" and view.log_inside:
        return log_view.stepped(view, rows, _log_rows(view, size))
    most = scrollable(view, *size)
    before = min(view.scroll, most)
    scroll = max(0, min(most, before - rows if view.page == "logs" else before + rows))
    return replace(view, scroll=scroll, is_following=not scroll)


def turned(view: View, page: Page) -> View:
    """The view on another page, from its start; the selection stays. Pages about one rank select one, so that it is looked
    at closely."""
    fresh = replace(
        view,
        page=page,
        scroll=0,
        is_following=True,
        mark=None,
        log_inside="",
        is_typing=False,
        panel="",
        alone="",
        note="",
    )
    if page in ("stacks", "flame") and view.rank is None and view.shown_rank is not None:
        return replace(fresh, selected=view.shown_rank.rank)
    return process_view.closed(fresh)


def on_logs(view: View | None) -> View | None:
    """The view on the logs page; None while there are no logs to look at."""
    if view is None or view.is_picking:
        return None
    return replace(view if view.page == "logs" else turned(view, "logs"), note="")


def chosen(view: View, size: Size) -> View:
    """What this page has selected, from close by: the box of the flame, the log line, the curve, the GPU, the
    finding, the rank's stack; on the overview without a rank what is wrong."""
    if view.page == "flame":
        return flame_view.zoomed(view)
    if view.page == "logs":
        return inside(view, "context", size)
    if view.page == "curves":
        return panel_view.toggled(view, {}, "curve")
    if view.page == "gpu":
        return panel_view.toggled(view, {}, "gpu-card")
    if view.page == "symptoms":
        return panel_view.toggled(view, {}, "symptom")
    if opened := process_view.entered_branch(view):
        return opened
    if view.page == "overview" and view.selected is None and view.frame.findings:
        return turned(view, "symptoms")
    if view.selected is not None and view.page in ("overview", "ranks", "processes"):
        return turned(view, "stacks")
    return view


def cleared(view: View) -> View:
    """Without what was opened last, else without what was typed, else without selection, mark and scroll."""
    if view.page == "logs" and view.log_inside:
        return replace(view, log_inside="")
    if view.page == "logs" and view.search:
        return replace(view, filters={**view.filters, SEARCH: ""})
    if view.filter:
        return typed(replace(view, is_searching=False), "")
    outer = flame_view.unzoomed(view)
    if outer is not None:
        return outer
    if view.alone:
        return panel_view.toggled(view, {})
    if view.page == "processes" and view.inside:
        return process_view.closed(view)
    if view.is_paused:
        return time_moves.live(view)
    return replace(
        view, scroll=0, is_following=True, mark=None, selected=None, followed=None, gpu=None, finding=None, panel=""
    )


def typed(view: View, word: str) -> View:
    """`word` is the filter of this page, which starts anew with it, or the word to look for."""
    if view.is_searching:
        return replace(view, filters={**view.filters, SEARCH: word})
    filters = {**view.filters, view.subject: word}
    return replace(view, filters=filters, scroll=0, is_following=True, mark=None, log_inside="")


def jumped(view: View, step: int, size: Size) -> View:
    """The next log line that is looked for, or the one before."""
    return log_view.jump(view, step, _log_rows(view, size))


def inside(view: View, what: LogInside, size: Size) -> View:
    """The logs page with the marked line opened or closed; it stays in sight."""
    opened = log_view.opened(replace(view, alone=""), what)
    return log_view.stepped(opened, 0, _log_rows(opened, size)) if opened.log_inside else opened


def _log_rows(view: View, size: Size) -> int:
    place = arrange(view, *size).get("logs")
    return logs.rows_of(view, place.width, place.height) if place else 1


def clicked(view: View, panel: str, at: tuple[int, int], size: Size) -> View:
    """The view after a click at this cell of a panel: the rank, process, line or curve that stands there is selected."""
    rank = None
    if panel == view.page and panel in ("ranks", "processes") and at[1] == 1 and not view.inside:
        return order.by(view, (ranks if panel == "ranks" else processes).column_at(view, at[0], size[0]))
    if panel == "ranks":
        rank = ranks.rank_at(view, at[1], size[1])
    elif panel == "rank-map":
        rank = rank_map.rank_at(view, *at, *size)
    elif panel == "logs" and view.page == "logs":
        line = logs.line_at(view, at[1], *size)
        return view if line is None else replace(view, mark=line, is_following=False)
    elif panel == "gpu-list":
        shown = gpu.rows_shown(view, size[1])
        return gpu_view.chosen(view, shown.start + at[1] - 2) if 0 <= at[1] - 2 < len(shown) else view
    elif panel == "curve-list":
        return curve_view.chosen(view, curve_list.row_at(view, at[1], size[1]))
    elif panel == "findings":
        place = findings.place_at(view, at[1], *size)
        return view if place is None else turned(symptom_view.chosen(view, place), "symptoms")
    elif panel == "symptom-list":
        place = symptom_list.place_at(view, at[1], size[1])
        return view if place is None else symptom_view.chosen(view, place)
    elif panel == "processes" and not view.inside:
        rows = processes.shown(view, size[1])
        return process_view.chosen(view, rows[at[1] - 2]) if 0 <= at[1] - 2 < len(rows) else view
    return view if rank is None else replace(view, selected=rank)

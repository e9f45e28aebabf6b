"""The last minutes of the selected GPU: each number on a fixed scale that is written beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hwtop.model.gpu import Gpu
from hwtop.ui import gpu_view, marks, units
from hwtop.ui.gpu_view import PAST_MOST, GpuRow
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, beside
from hwtop.ui.widgets.trend import trend

LEAST = 6
"""Rows for titles, a trend of three rows and the frame."""
_GAP = 3
_CELLS_LEAST = 26
"""Of one trend with its title."""


@dataclass(frozen=True)
class _Quantity:
    title: str
    value: Callable[[Gpu], float | None]
    top: float
    scale: str
    newest: str
    role: Callable[[float], str]


def draw(view: View, width: int, height: int) -> list[Line]:
    """As many quantities beside each other as have room, the telling ones first."""
    row = gpu_view.row_of(view)
    if row is None:
        return box([], width, height, Line("Trends", "title"), Line())
    room = inner(width)
    every = _quantities(row)
    if not every:
        return box(
            [Line("◌ it tells nothing now", "dim")], width, height, Line(f"GPU {row.gpu.index}", "title"), Line()
        )
    count = max(1, min(len(every), (room + _GAP) // (_CELLS_LEAST + _GAP)))
    cells = (room - _GAP * (count - 1)) // count
    past = [_at(moment.gpus, row.gpu.index) for moment in view.frame.history[-min(PAST_MOST, 2 * cells) :]]
    blocks = [(_drawn(each, past, cells, height - 2), cells) for each in every[:count]]
    title = Line(f"GPU {row.gpu.index}{_span(view, cells)}", "title")
    return box(beside(blocks, _GAP), width, height, title, Line())


def _at(gpus: tuple[Gpu, ...], index: int) -> Gpu | None:
    return next((gpu for gpu in gpus if gpu.index == index), None)


def _span(view: View, cells: int) -> str:
    history = view.frame.history[-2 * cells :]
    return f", the last {units.duration(round(history[-1].at_s - history[0].at_s))}" if len(history) > 1 else ""


def _drawn(quantity: _Quantity, past: list[Gpu | None], cells: int, height: int) -> list[Line]:
    values = [None if gpu is None else quantity.value(gpu) for gpu in past]
    head = Line(quantity.title, "label").add(f" {quantity.scale}", "dim")
    head = head.fitted(cells - len(quantity.newest) - 1).add(" ").add(quantity.newest, "strong")
    rows = trend(values, cells, max(1, height - 1), quantity.top, quantity.role)
    return [head, *rows]


def _quantities(row: GpuRow) -> list[_Quantity]:
    """Those that this device tells and whose scale is known."""
    gpu = row.gpu
    activity = gpu.activity
    found: list[_Quantity] = []
    if gpu.util_pct is not None:
        newest = units.pct(gpu.util_pct)
        found.append(
            _Quantity("utilization", lambda gpu: gpu.util_pct, 100, "0–100%", newest, lambda value: _use(row, value))
        )
    if activity is not None and activity.sm_active_pct is not None:
        found.append(_Quantity("SM active", _sm, 100, "0–100%", units.pct(activity.sm_active_pct), lambda _: "info"))
    if gpu.power_w is not None and gpu.power_limit_w:
        scale = f"0–{gpu.power_limit_w:.0f} W"
        found.append(
            _Quantity(
                "power", lambda gpu: gpu.power_w, gpu.power_limit_w, scale, f"{gpu.power_w:.0f} W", lambda _: "mix-3"
            )
        )
    if gpu.mem_used_bytes is not None and gpu.mem_total_bytes:
        scale, newest = f"0–{units.size(gpu.mem_total_bytes)}", units.size(gpu.mem_used_bytes)
        found.append(_Quantity("memory", _memory, gpu.mem_total_bytes, scale, newest, lambda _: "mix-4"))
    top = gpu.temp_slowdown_c or gpu.temp_shutdown_c
    if gpu.temp_c is not None and top:
        found.append(
            _Quantity(
                "temperature", lambda gpu: gpu.temp_c, top, f"0–{top:.0f} °C", f"{gpu.temp_c:.0f} °C", lambda _: "text"
            )
        )
    if gpu.sm_clock_mhz is not None and gpu.sm_clock_max_mhz:
        scale, newest = f"0–{gpu.sm_clock_max_mhz:.0f} MHz", f"{gpu.sm_clock_mhz:.0f}"
        found.append(
            _Quantity("clock", lambda gpu: gpu.sm_clock_mhz, gpu.sm_clock_max_mhz, scale, newest, lambda _: "dim")
        )
    return found


def _sm(gpu: Gpu) -> float | None:
    return gpu.activity.sm_active_pct if gpu.activity else None


def _memory(gpu: Gpu) -> float | None:
    return None if gpu.mem_used_bytes is None else float(gpu.mem_used_bytes)


def _use(row: GpuRow, value: float) -> str:
    role = marks.gpu_use(value, row.is_training)[0]
    return "faint-good" if role == "good" else role

"""The last minutes of the selected GPU: each number on a fixed scale that is written beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from hwtop.fields import units
from hwtop.model.gpu.device import Gpu
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.trouble import throttled_by
from hwtop.ui.panels.gpu.view import PAST_MOST, GpuRow, use_tone
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, beside, painted
from hwtop.ui.widgets.trend import trend

_GAP = 3
_CELLS_LEAST = 26
"""Of one trend with its title."""
_COOL_C = 30.0
"""A device that runs is warmer: from here on the scale of temperatures."""
_SPANS_FROM = 4
"""Rows of a trend with its title, from which the times of throttling have a row."""
_TWO_STOREYS, _FEW = 18, 3
"""Rows of the panel from which more quantities than a few stand in two storeys."""


class _Quantity(Struct, frozen=True):
    title: str
    value: Callable[[Gpu], float | None]
    top: float
    """Of the scale."""
    words: Callable[[float | None], str]
    role: Callable[[float], str]
    bottom: float = 0.0
    """Of the scale: above 0 where the range of all devices in use leaves most of it empty."""
    is_throttled: Callable[[Gpu], bool] | None = None
    """Marks spans below it."""


def is_wanted(view: View) -> bool:
    """There is something to draw: the device reports a number, or did before it was lost."""
    row = gpu_view.row_of(view)
    return row is not None and bool(_quantities(view, row))


def draw(view: View, width: int, height: int) -> list[Line]:
    """As many quantities beside each other as have room, the telling ones first."""
    row = gpu_view.row_of(view)
    if row is None:
        return box([], width, height, Line("Trends", "title"), Line())
    room = inner(width)
    every = _quantities(view, row)
    fitting = (room + _GAP) // (_CELLS_LEAST + _GAP)
    # In a high panel half as many stand beside each other, and reach twice as far back.
    storeys = 2 if height >= _TWO_STOREYS and fitting >= len(every) > _FEW else 1
    count = max(1, min(-(-len(every) // storeys), fitting))
    cells = (room - _GAP * (count - 1)) // count
    history = view.frame.history[-min(PAST_MOST, 2 * cells) :]
    past = [gpu_view.device_at(derived.gpus, row.gpu.index) for derived in history]
    lines: list[Line] = []
    for storey in range(storeys):
        rows = (height - 2 - len(lines)) // (storeys - storey)
        shown = every[storey * count : (storey + 1) * count]
        lines += beside([(_drawn(each, row.gpu, past, cells, rows), cells) for each in shown], _GAP)
    span = f", the last {units.duration(round(history[-1].at_s - history[0].at_s))}" if len(history) > 1 else ""
    return box(
        lines,
        width,
        height,
        Line(f"GPU {row.gpu.index}{span}", "title"),
        Line(gpu_view.throttled_words(view, row.gpu.index), "warn"),
    )


def _drawn(quantity: _Quantity, now: Gpu, past: list[Gpu | None], cells: int, height: int) -> list[Line]:
    values = [None if gpu is None else quantity.value(gpu) for gpu in past]
    newest = quantity.words(quantity.value(now))
    known = [value for value in values if value is not None]
    bottom = quantity.bottom if min(known, default=0.0) >= quantity.bottom else 0.0
    head = Line(quantity.title, "label").add(f" {bottom:.0f}–{quantity.words(quantity.top)}", "dim")
    head = head.fitted(max(0, cells - len(newest) - 1)).add(" ").add(newest, "strong")
    spans = _spans(quantity, past, cells) if height > _SPANS_FROM else []
    raised = [None if value is None else value - bottom for value in values]
    rows = max(1, height - 1 - len(spans))
    return [
        head,
        *trend(raised, cells, rows, quantity.top - bottom, lambda value: quantity.role(value + bottom)),
        *spans,
    ]


def _spans(quantity: _Quantity, past: list[Gpu | None], cells: int) -> list[Line]:
    """When it was throttled, below the samples of that time; nothing where it never was."""
    if quantity.is_throttled is None:
        return []
    seen = [gpu is not None and quantity.is_throttled(gpu) for gpu in past][-2 * cells :]
    if not any(seen):
        return []
    padded = [False] * (2 * cells - len(seen)) + seen
    pairs = (padded[place] or padded[place + 1] for place in range(0, 2 * cells, 2))
    return [painted(("━", "warn") if is_held else (" ", "dim") for is_held in pairs)]


def _quantities(view: View, row: GpuRow) -> list[_Quantity]:
    """Those that the device reports and whose scale is known; of one that is lost, those that it reported last."""
    found = list(_reported(row.gpu, row))
    for derived in () if found else reversed(view.frame.history):
        before = gpu_view.device_at(derived.gpus, row.gpu.index)
        if before is not None and (found := list(_reported(before, row))):
            break
    return found


def _reported(gpu: Gpu, row: GpuRow) -> Iterator[_Quantity]:
    if gpu.util_pct is not None:
        yield _Quantity("utilization", lambda gpu: gpu.util_pct, 100, units.pct, lambda value: _use(row, value))
    if _sm(gpu) is not None:
        yield _Quantity("SM active", _sm, 100, units.pct, lambda _: "info")
    if gpu.power_w is not None and gpu.power_limit_w:
        yield _Quantity("power", lambda gpu: gpu.power_w, gpu.power_limit_w, _in("W"), lambda _: "mix-3")
    top_c = gpu.temp_slowdown_c or gpu.temp_shutdown_c
    if gpu.temp_c is not None and top_c:
        yield _Quantity("temperature", lambda gpu: gpu.temp_c, top_c, _in("°C"), lambda _: "label", _COOL_C)
    if gpu.sm_clock_mhz is not None and (top_mhz := gpu.sm_clock_max_mhz):
        clock = _Quantity("clock", lambda gpu: gpu.sm_clock_mhz, top_mhz, _in("MHz"), lambda _: "accent", top_mhz // 2)
        yield replace(clock, is_throttled=lambda gpu: bool(throttled_by(gpu)))
    if gpu.mem_used_bytes is not None and gpu.mem_total_bytes:
        yield _Quantity("memory", lambda gpu: gpu.mem_used_bytes, gpu.mem_total_bytes, units.size, lambda _: "mix-4")


def _sm(gpu: Gpu) -> float | None:
    return gpu.activity.sm_active_pct if gpu.activity else None


def _in(unit: str) -> Callable[[float | None], str]:
    return lambda value: units.UNKNOWN if value is None else f"{value:.0f} {unit}"


def _use(row: GpuRow, value: float) -> str:
    role = use_tone(row, value)[0]
    return "faint-good" if role == "good" else role

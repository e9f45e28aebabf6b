"""The columns of the GPU table. One is chosen only where some device fills it: vendors differ in what they report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from hwtop.fields import gpu as fields
from hwtop.fields import units
from hwtop.fields.gpu import GPU
from hwtop.fields.level import Levels
from hwtop.job.rank_set import rank_set
from hwtop.ui.panels.gpu import trouble as gpu_trouble
from hwtop.ui.panels.gpu.trouble import Trouble, is_slowed, throttled_by
from hwtop.ui.panels.gpu.view import GpuRow, use_tone
from hwtop.ui.tables import cells
from hwtop.ui.tables.cells import Cell
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.trend import trend

_THROTTLE_LEAST, _THROTTLE_MOST = 12, 26
"""Cells of the throttle reasons: as many as the longest entry needs, so that no word is cut."""
_TROUBLE_LEAST, _TROUBLE_MOST = 12, 30
_FAINT = {"good": "faint-good", "warn": "warn", "bad": "bad"}
"""Many full trends below each other would outshine everything else."""


def columns(
    rows: Sequence[GpuRow], levels: Levels, past: tuple[str, int], *, is_narrow: bool = False
) -> list[Column[GpuRow]]:
    """Those that some device fills; `past`: title and cells of the trend. In a narrow terminal the columns of the highest
    number go first: what is wrong and how busy it is stays. `is_narrow`: health and throttle reasons share a column."""
    wide = max((sum(len(word) + 2 for word in throttled_by(row.gpu)) - 2 for row in rows), default=0)
    throttle = max(_THROTTLE_LEAST, min(_THROTTLE_MOST, wide))
    is_ill = any(gpu_trouble.troubles(row.gpu) for row in rows)
    is_joined = is_ill and is_narrow
    ill = max((_health_cells(_words(row, is_joined=is_joined)) for row in rows), default=0)
    health = max(_TROUBLE_LEAST, min(_TROUBLE_MOST, ill))
    title, size = past
    util_past = cells.key(fields.UTIL, "trend")
    throttle_key, health_key = cells.key(fields.THROTTLE), cells.key(fields.HEALTH)
    shown = _filled(rows) | {
        util_past: any(value is not None for row in rows for value in row.past),
        health_key: is_ill,
    }
    shown[throttle_key] = shown[throttle_key] and not is_joined
    resized: dict[str, dict[str, Any]] = {
        util_past: {"title": title, "width": size},
        throttle_key: {"width": throttle},
        health_key: {"width": health} | ({"title": "health, throttle"} if is_joined else {}),
    }
    drawn = _DRAWN | {health_key: partial(_health, is_joined=is_joined)}
    chosen = [
        replace(column, **resized.get(column.field, {}))
        for column in cells.columns("gpus", GPU.fields, levels, drawn)
        if shown[column.field]
    ]
    return [Column("", 1, _mark), *chosen]


def _filled(rows: Sequence[GpuRow]) -> dict[str, bool]:
    """Column -> whether it always stays or some device fills it."""
    return {
        cells.key(field, place.shape): place.is_kept or any(field.value(row) is not None for row in rows)
        for field in GPU.fields
        for place in field.columns.get("gpus", ())
    }


def _dim_if(condition: bool) -> str:
    return "dim" if condition else "text"


def _index(row: GpuRow, _: int) -> Line:
    return Line("▸" if row.is_of_rank else "", "accent").add(str(row.gpu.index), "strong")


def _rank(row: GpuRow, width: int) -> Line:
    reported = rank_set(row.ranks)
    if len(reported) > width:
        reported = f"{row.ranks[0]}+{len(row.ranks) - 1}"
    return Line(reported or units.UNKNOWN, _dim_if(not row.ranks))


def _mark(row: GpuRow, _: int) -> Line:
    if ill := gpu_trouble.troubles(row.gpu):
        return Line(ill[0].mark, ill[0].role)
    if is_slowed(row.gpu):
        return Line("▲", "warn")
    if row.gpu.status == "stale":
        return Line("◌", "warn")
    role, mark = use_tone(row, row.gpu.util_pct)
    return Line(mark, role)


def _util(row: GpuRow, _: int) -> Line:
    return Line(units.pct(row.gpu.util_pct), use_tone(row, row.gpu.util_pct)[0])


def _util_bar(row: GpuRow, width: int) -> Line:
    util = row.gpu.util_pct
    return bar(None if util is None else util / 100, width, use_tone(row, row.gpu.util_pct)[0])


def _past(row: GpuRow, width: int) -> Line:
    return trend(row.past, width, 1, 100, lambda value: _FAINT.get(use_tone(row, value)[0], "dim"))[0]


def _memory(row: GpuRow, _: int) -> Line:
    if row.gpu.mem_used_bytes is None:
        return Line(units.UNKNOWN, "dim")
    role, mark = cells.tone(fields.MEMORY_USED, row, row.levels)
    total = f"/{units.size(row.gpu.mem_total_bytes)}" if row.gpu.mem_total_bytes is not None else ""
    return Line(mark + units.size(row.gpu.mem_used_bytes) + total, role)


def _memory_bar(row: GpuRow, width: int) -> Line:
    share_pct = fields.MEMORY_USED.number(row)
    return bar(None if share_pct is None else share_pct / 100, width, "info")


def _power(row: GpuRow, _: int) -> Line:
    gpu = row.gpu
    if gpu.power_w is None:
        return Line(units.UNKNOWN, "dim")
    limit = "" if gpu.power_limit_w is None else f"/{gpu.power_limit_w:.0f}"
    return Line(f"{gpu.power_w:.0f}").add(f"{limit}W", "dim")


def _clock(row: GpuRow, _: int) -> Line:
    clock = row.gpu.sm_clock_mhz
    return Line(units.UNKNOWN, "dim") if clock is None else Line(f"{clock:.0f}").add("MHz", "dim")


def _throttle(row: GpuRow, width: int) -> Line:
    if row.gpu.throttle is None:
        return Line(units.UNKNOWN, "dim")
    words = throttled_by(row.gpu)
    return Line(_few(words, width), "warn") if words else Line("none", "dim")


def _few(words: Sequence[str], width: int) -> str:
    """As many as there is room for, then how many more; no word is cut."""
    for count in range(len(words), 1, -1):
        more = f" +{len(words) - count}" if count < len(words) else ""
        if len(text := ", ".join(words[:count]) + more) <= width:
            return text
    return words[0] + (f" +{len(words) - 1}" if len(words) > 1 else "")


def _words(row: GpuRow, *, is_joined: bool) -> list[Trouble]:
    slowed = [Trouble(words, "warn") for words in throttled_by(row.gpu)] if is_joined else []
    return [*gpu_trouble.troubles(row.gpu), *slowed]


def _health_cells(ill: Sequence[Trouble]) -> int:
    """What the weightiest needs, with the number of others."""
    return 2 + len(ill[0].words) + (3 if len(ill) > 1 else 0) if ill else 0


def _health(row: GpuRow, width: int, *, is_joined: bool) -> Line:
    ill = _words(row, is_joined=is_joined)
    if not ill:
        return Line("✔", "dim") if row.gpu.status == "ok" else Line()
    return Line(f"{ill[0].mark} {_few([each.words for each in ill], width - 2)}", ill[0].role)


def _nvlink(row: GpuRow, width: int) -> Line:
    return _rates(row.nvlink_bytes_per_s, width)


def _pcie_rates(row: GpuRow, width: int) -> Line:
    return _rates(row.pcie_bytes_per_s, width)


def _rates(rates: tuple[float | None, float | None], width: int) -> Line:
    """ "↑1.2G ↓830M" a second, each in a column of its own."""
    if rates == (None, None):
        return Line(units.UNKNOWN, "dim")
    line = Line()
    for glyph, rate in zip("↑↓", rates, strict=True):
        line.add(" " if line.width else "").add(glyph, "label")
        line.extend(Line(units.size(rate)).fitted(width // 2 - 1, "right"))
    return line


def _pcie(row: GpuRow, _: int) -> Line:
    gpu = row.gpu
    if gpu.pcie_gen is None or gpu.pcie_width is None:
        return Line(units.UNKNOWN, "dim")
    is_narrow = gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    return Line(f"{gpu.pcie_gen}×{gpu.pcie_width}{'▼' if is_narrow else ''}", "warn" if is_narrow else "dim")


_DRAWN: dict[str, Cell[GpuRow]] = {
    cells.key(fields.INDEX): _index,
    cells.key(fields.RANK): _rank,
    cells.key(fields.UTIL): _util,
    cells.key(fields.UTIL, "bar"): _util_bar,
    cells.key(fields.UTIL, "trend"): _past,
    cells.key(fields.MEMORY): _memory,
    cells.key(fields.MEMORY_USED, "bar"): _memory_bar,
    cells.key(fields.POWER): _power,
    cells.key(fields.CLOCK): _clock,
    cells.key(fields.THROTTLE): _throttle,
    cells.key(fields.NVLINK): _nvlink,
    cells.key(fields.PCIE_TX): _pcie_rates,
    cells.key(fields.PCIE): _pcie,
    cells.key(fields.PROCESSES): lambda row, _: Line(fields.PROCESSES.text(row), "dim"),
}
"""What cells are drawn with that show more than the value."""

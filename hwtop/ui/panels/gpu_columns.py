"""The columns of the GPU table. One is chosen only where some device fills it: vendors differ in what they tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hwtop.job.rank_set import rank_set
from hwtop.model.gpu import GpuActivity
from hwtop.ui import gpu_trouble, marks, units
from hwtop.ui.gpu_trouble import Trouble, held_back, is_slowed
from hwtop.ui.gpu_view import GpuRow, memory_share
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.trend import trend

_HELD_LEAST, _HELD_MOST = 12, 26
"""Cells of what holds a clock down: as many as the longest entry needs, so that no word is cut."""
_TROUBLE_LEAST, _TROUBLE_MOST = 12, 30
_HOT_C, _TOO_HOT_C = 83, 90
"""Where the device tells no thresholds of its own; engineering default."""
_NEAR_SLOWDOWN_C = 5
"""Degrees below its own slowdown threshold from which on a temperature is told as high; engineering default."""
_FAINT = {"good": "faint-good", "warn": "warn", "bad": "bad"}
"""Many full trends below each other would outshine everything else."""

Cell = Callable[[GpuRow, int], Line]
Told = Callable[[GpuRow], bool]


def columns(rows: Sequence[GpuRow], past: tuple[str, int], *, is_narrow: bool = False) -> list[Column[GpuRow]]:
    """Those that some device fills; `past`: title and cells of the trend. In a narrow terminal the columns of the highest
    number go first: what is wrong and how busy it is stays. `is_narrow`: health and what holds clocks back share a column."""
    wide = max((sum(len(word) + 2 for word in held_back(row.gpu)) - 2 for row in rows), default=0)
    held = max(_HELD_LEAST, min(_HELD_MOST, wide))
    is_ill = any(gpu_trouble.troubles(row.gpu) for row in rows)
    is_joined = is_ill and is_narrow
    ill = max((_health_cells(_words(row, is_joined=is_joined)) for row in rows), default=0)
    health = max(_TROUBLE_LEAST, min(_TROUBLE_MOST, ill))
    title, size = past
    has_ranks = any(row.ranks for row in rows)
    told: list[tuple[Column[GpuRow], bool]] = [
        (Column("", 1, _mark), True),
        (Column("GPU", 3, _index, align="right"), True),
        (Column("rank", 4, _rank, 1, align="right"), has_ranks),
        (Column("util", 4, _util, align="right"), True),
        (Column("0–100%", 8, _util_bar, 10, grow=2, most=24), _some(rows, lambda row: row.gpu.util_pct is not None)),
        (Column(title, size, _past, 7), _some(rows, lambda row: any(each is not None for each in row.past))),
        (_activity("SM", 4, "sm_active_pct", 4), _acts(rows, "sm_active_pct")),
        (_activity("tensor", 6, "tensor_active_pct", 5), _acts(rows, "tensor_active_pct")),
        (_activity("DRAM", 4, "dram_bw_pct", 12), _acts(rows, "dram_bw_pct")),
        (Column("memory", 11, _memory, 1, align="right"), True),
        (Column("", 6, _memory_bar, 14, grow=1, most=12), _some(rows, lambda row: memory_share(row.gpu) is not None)),
        (Column("power", 9, _power, 2, align="right"), _some(rows, lambda row: row.gpu.power_w is not None)),
        (Column("temp", 5, _temp, 2, align="right"), _some(rows, lambda row: row.gpu.temp_c is not None)),
        (Column("clock", 7, _clock, 6, align="right"), _some(rows, lambda row: row.gpu.sm_clock_mhz is not None)),
        (
            Column("held back by", held, _throttle, 3),
            not is_joined and _some(rows, lambda row: row.gpu.throttle is not None),
        ),
        (_health("health, held" if is_joined else "health", health, is_joined=is_joined), is_ill),
        (Column("NVLink out/in", 13, _nvlink, 8), _some(rows, lambda row: row.nvlink_bytes_per_s != (None, None))),
        (Column("PCIe out/in", 13, _pcie_rates, 9), _some(rows, lambda row: row.pcie_bytes_per_s != (None, None))),
        (Column("PCIe", 6, _pcie, 11), _some(rows, lambda row: row.gpu.pcie_gen is not None)),
        (Column("procs", 5, _processes, 13, align="right"), _some(rows, lambda row: row.gpu.processes is not None)),
    ]
    return [column for column, is_told in told if is_told]


def _some(rows: Sequence[GpuRow], told: Told) -> bool:
    return any(told(row) for row in rows)


def _acts(rows: Sequence[GpuRow], field: str) -> bool:
    return any(getattr(row.gpu.activity, field, None) is not None for row in rows)


def _activity(title: str, width: int, field: str, priority: int) -> Column[GpuRow]:
    def cell(row: GpuRow, _: int) -> Line:
        value: float | None = getattr(row.gpu.activity or GpuActivity(), field)
        return Line(units.pct(value), _dim_if(value is None))

    return Column(title, width, cell, priority, align="right")


def _dim_if(condition: bool) -> str:
    return "dim" if condition else "text"


def _index(row: GpuRow, _: int) -> Line:
    return Line("▸" if row.is_of_rank else "", "accent").add(str(row.gpu.index), "strong")


def _rank(row: GpuRow, width: int) -> Line:
    told = rank_set(row.ranks)
    if len(told) > width:
        told = f"{row.ranks[0]}+{len(row.ranks) - 1}"
    return Line(told or units.UNKNOWN, _dim_if(not row.ranks))


def _mark(row: GpuRow, _: int) -> Line:
    if ill := gpu_trouble.troubles(row.gpu):
        return Line(ill[0].mark, ill[0].role)
    if is_slowed(row.gpu):
        return Line("▲", "warn")
    if row.gpu.status == "stale":
        return Line("◌", "warn")
    role, mark = marks.gpu_use(row.gpu.util_pct, row.is_training)
    return Line(mark, role)


def _util(row: GpuRow, _: int) -> Line:
    return Line(units.pct(row.gpu.util_pct), marks.gpu_use(row.gpu.util_pct, row.is_training)[0])


def _util_bar(row: GpuRow, width: int) -> Line:
    util = row.gpu.util_pct
    return bar(None if util is None else util / 100, width, marks.gpu_use(util, row.is_training)[0])


def _past(row: GpuRow, width: int) -> Line:
    return trend(row.past, width, 1, 100, lambda value: _FAINT.get(marks.gpu_use(value, row.is_training)[0], "dim"))[0]


def _memory(row: GpuRow, _: int) -> Line:
    if row.gpu.mem_used_bytes is None:
        return Line(units.UNKNOWN, "dim")
    share = memory_share(row.gpu)
    role, mark = marks.high(None if share is None else share * 100, 95, 99)
    role = "text" if role == "good" else role
    total = f"/{units.size(row.gpu.mem_total_bytes)}" if row.gpu.mem_total_bytes is not None else ""
    return Line(mark.strip() + units.size(row.gpu.mem_used_bytes) + total, role)


def _memory_bar(row: GpuRow, width: int) -> Line:
    return bar(memory_share(row.gpu), width, "info")


def _power(row: GpuRow, _: int) -> Line:
    gpu = row.gpu
    if gpu.power_w is None:
        return Line(units.UNKNOWN, "dim")
    limit = "" if gpu.power_limit_w is None else f"/{gpu.power_limit_w:.0f}"
    return Line(f"{gpu.power_w:.0f}").add(f"{limit}W", "dim")


def temperature_role(temp_c: float | None, slowdown_c: float | None) -> tuple[str, str]:
    """(role, mark) of a temperature: against the device's own threshold where it tells one."""
    if slowdown_c is None:
        return marks.high(temp_c, _HOT_C, _TOO_HOT_C)
    return marks.high(temp_c, slowdown_c - _NEAR_SLOWDOWN_C, slowdown_c)


def _temp(row: GpuRow, _: int) -> Line:
    if row.gpu.temp_c is None:
        return Line(units.UNKNOWN, "dim")
    role, mark = temperature_role(row.gpu.temp_c, row.gpu.temp_slowdown_c)
    return Line(f"{mark.strip()}{row.gpu.temp_c:.0f}°C", "text" if role == "good" else role)


def _clock(row: GpuRow, _: int) -> Line:
    clock = row.gpu.sm_clock_mhz
    return Line(units.UNKNOWN, "dim") if clock is None else Line(f"{clock:.0f}").add("MHz", "dim")


def _throttle(row: GpuRow, width: int) -> Line:
    if row.gpu.throttle is None:
        return Line(units.UNKNOWN, "dim")
    words = held_back(row.gpu)
    return Line(_few(words, width), "warn") if words else Line("nothing", "dim")


def _few(words: Sequence[str], width: int) -> str:
    """As many as there is room for, then how many more; no word is cut."""
    for count in range(len(words), 1, -1):
        more = f" +{len(words) - count}" if count < len(words) else ""
        if len(text := ", ".join(words[:count]) + more) <= width:
            return text
    return words[0] + (f" +{len(words) - 1}" if len(words) > 1 else "")


def _words(row: GpuRow, *, is_joined: bool) -> list[Trouble]:
    held = [Trouble(words, "warn") for words in held_back(row.gpu)] if is_joined else []
    return [*gpu_trouble.troubles(row.gpu), *held]


def _health_cells(ill: Sequence[Trouble]) -> int:
    """What the weightiest needs, with the number of others."""
    return 2 + len(ill[0].words) + (3 if len(ill) > 1 else 0) if ill else 0


def _health(title: str, size: int, *, is_joined: bool) -> Column[GpuRow]:
    def cell(row: GpuRow, width: int) -> Line:
        ill = _words(row, is_joined=is_joined)
        if not ill:
            return Line("✔", "dim") if row.gpu.status == "ok" else Line()
        return Line(f"{ill[0].mark} {_few([each.words for each in ill], width - 2)}", ill[0].role)

    return Column(title, size, cell, 1)


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


def _processes(row: GpuRow, _: int) -> Line:
    held = row.gpu.processes
    own = None if held is None else len(held) + sum(len(part.processes or ()) for part in row.gpu.mig)
    return Line(units.UNKNOWN if own is None else str(own), "dim")

"""All GPUs in one line, for where there is no room for one each."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.fields import gpu as fields
from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.ui.panels.gpu import trouble as gpu_trouble
from hwtop.ui.panels.gpu.view import GpuRow, use_tone
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.trend import blocks

_ODD_PCT = 30
"""A device this far from the middle of all is named."""


def summary(rows: Sequence[GpuRow], width: int) -> Line:
    """The telling things first: problems and outliers, a block each, the range of the use, the rest as far as there is
    room."""
    first = max(rows, key=lambda row: row.is_training)
    utils = [row.gpu.util_pct for row in rows if row.gpu.util_pct is not None and row.gpu.status in ("ok", "stale")]
    shape = Line(f"{len(rows)} GPU{'s' * (len(rows) != 1)} ", "label")
    shape.extend(blocks([row.gpu.util_pct for row in rows], 100, lambda value: use_tone(first, value)[0]))
    parts = [*_unwell(rows), *_odd(rows, utils, first), shape, *_totals(rows, utils, first)]
    line = parts[0]
    for part in parts[1:]:
        if line.width + 2 + part.width <= width:
            line.add("  ").extend(part)
    return line


def _totals(rows: Sequence[GpuRow], utils: list[float], first: GpuRow) -> list[Line]:
    parts: list[Line] = []
    if utils:
        role, mark = use_tone(first, sum(utils) / len(utils))
        use = Line(f"{mark}util {sum(utils) / len(utils):.0f}%", role)
        parts.append(use.add(f" ({min(utils):.0f}–{max(utils):.0f})", "dim"))
    fullest = max((share for row in rows if (share := fields.MEMORY_USED.number(row)) is not None), default=None)
    if fullest is not None:
        parts.append(Line("memory ", "label").add(units.pct(fullest)))
    power = [row.gpu.power_w for row in rows if row.gpu.power_w is not None]
    if power:
        parts.append(Line("power ", "label").add(f"{sum(power):.0f}W"))
    temps = [row.gpu.temp_c for row in rows if row.gpu.temp_c is not None]
    return [*parts, Line(f"{max(temps):.0f}°C")] if temps else parts


def _unwell(rows: Sequence[GpuRow]) -> list[Line]:
    found: list[Line] = []
    for word, mark, role in (("lost", "✖", "bad"), ("error", "✖", "bad"), ("stale", "◌", "warn")):
        bad = tuple(row.gpu.index for row in rows if row.gpu.status == word)
        if bad:
            found.append(Line(f"{mark} GPU {rank_set(bad)} {word.upper()}", role))
    ill = [(row.gpu.index, reported[0]) for row in rows if (reported := gpu_trouble.troubles(row.gpu))]
    found += [Line(f"{first.mark}GPU {index} {first.words}", first.role) for index, first in ill[:2]]
    return [*found, Line(f"▲{len(ill) - 2} more with problems", "warn")] if len(ill) > 2 else found


def _odd(rows: Sequence[GpuRow], utils: list[float], first: GpuRow) -> list[Line]:
    """The few whose use is far from that of the others: their mean hides them."""
    if len(utils) < 3:
        return []
    middle = median(utils)
    odd = [
        (row.gpu.index, row.gpu.util_pct)
        for row in rows
        if row.gpu.util_pct is not None and row.gpu.status == "ok" and abs(row.gpu.util_pct - middle) > _ODD_PCT
    ]
    if not odd or 2 * len(odd) >= len(utils):
        return []
    role, mark = use_tone(first, min(util for _, util in odd))
    if len(odd) <= 2:
        return [Line(f"{mark}GPU {index} at {util:.0f}%", role) for index, util in odd]
    numbers = rank_set(tuple(index for index, _ in odd))
    least, most = min(util for _, util in odd), max(util for _, util in odd)
    return [Line(f"{mark}GPU {numbers} at {least:.0f}–{most:.0f}%", role)]

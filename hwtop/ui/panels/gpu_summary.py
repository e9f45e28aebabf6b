"""All GPUs in one line, for where there is no room for one each."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.job.rank_set import rank_set
from hwtop.ui import gpu_trouble, marks
from hwtop.ui.gpu_view import GpuRow, memory_share
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.trend import blocks

_ODD_PCT = 30
"""A device this far from the middle of all is told apart."""


def summary(rows: Sequence[GpuRow], width: int) -> Line:
    """The telling things first: who is not well or differs, a block each, the range of the use, the rest as far as there is
    room."""
    is_training = any(row.is_training for row in rows)
    utils = [row.gpu.util_pct for row in rows if row.gpu.util_pct is not None and row.gpu.status in ("ok", "stale")]
    shape = Line(f"{len(rows)} GPU{'s' * (len(rows) != 1)} ", "label")
    shape.extend(blocks([row.gpu.util_pct for row in rows], 100, lambda value: marks.gpu_use(value, is_training)[0]))
    parts = [*_unwell(rows), *_odd(rows, utils, is_training), shape, *_totals(rows, utils, is_training)]
    line = parts[0]
    for part in parts[1:]:
        if line.width + 2 + part.width <= width:
            line.add("  ").extend(part)
    return line


def _totals(rows: Sequence[GpuRow], utils: list[float], is_training: bool) -> list[Line]:
    parts: list[Line] = []
    if utils:
        role, mark = marks.gpu_use(sum(utils) / len(utils), is_training)
        use = Line(f"{mark.strip()}util {sum(utils) / len(utils):.0f}%", role)
        parts.append(use.add(f" ({min(utils):.0f}–{max(utils):.0f})", "dim"))
    fullest = max((share for row in rows if (share := memory_share(row.gpu)) is not None), default=None)
    if fullest is not None:
        parts.append(Line("memory ", "label").add(f"{fullest * 100:.0f}%"))
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
    ill = [(row.gpu.index, told[0]) for row in rows if (told := gpu_trouble.troubles(row.gpu))]
    found += [Line(f"{first.mark}GPU {index} {first.words}", first.role) for index, first in ill[:2]]
    return [*found, Line(f"▲{len(ill) - 2} more not well", "warn")] if len(ill) > 2 else found


def _odd(rows: Sequence[GpuRow], utils: list[float], is_training: bool) -> list[Line]:
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
    role, mark = marks.gpu_use(min(util for _, util in odd), is_training)
    if len(odd) <= 2:
        return [Line(f"{mark.strip()}GPU {index} at {util:.0f}%", role) for index, util in odd]
    numbers = rank_set(tuple(index for index, _ in odd))
    least, most = min(util for _, util in odd), max(util for _, util in odd)
    return [Line(f"{mark.strip()}GPU {numbers} at {least:.0f}–{most:.0f}%", role)]

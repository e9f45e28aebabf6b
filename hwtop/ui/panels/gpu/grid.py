"""All GPUs in a few rows, a cell each, below the line that names those that differ: for where there is no room for a line each."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.fields import units
from hwtop.ui.panels.gpu import trouble as gpu_trouble
from hwtop.ui.panels.gpu.summary import summary
from hwtop.ui.panels.gpu.trouble import is_slowed
from hwtop.ui.panels.gpu.view import GpuRow, use_tone
from hwtop.ui.widgets.line import Line

_CELL, _GAP = 8, 1
_BLOCK = 4
"""Cells of a row come in such groups: devices of a node are numbered by fours and eights."""
_SHORT = {"lost": ("✖", "LOST", "bad"), "error": ("✖", "ERR", "bad")}


def rows(count: int, width: int) -> int:
    """Of the grid with the line above it, for so many devices in `width` cells."""
    return 1 + -(-count // _columns(width))


def lines(found: Sequence[GpuRow], width: int) -> list[Line]:
    """The summary, then index, mark and use of each."""
    drawn = [summary(found, width)]
    columns = _columns(width)
    for start in range(0, len(found), columns):
        line = Line()
        for row in found[start : start + columns]:
            line.add(" " * _GAP if line.width else "").extend(_cell(row).fitted(_CELL))
        drawn.append(line)
    return drawn


def _columns(width: int) -> int:
    fitting = (width + _GAP) // (_CELL + _GAP)
    return max(1, fitting - fitting % _BLOCK if fitting > _BLOCK else fitting)


def _cell(row: GpuRow) -> Line:
    """ "▼11   3%"."""
    gpu = row.gpu
    if gpu.status in _SHORT:
        mark, word, role = _SHORT[gpu.status]
        return Line(f"{mark}{gpu.index:>2} {word:>4}", role)
    role, mark = use_tone(row, gpu.util_pct)
    mark_role = role
    if ill := gpu_trouble.troubles(gpu):
        mark, mark_role = ill[0].mark, ill[0].role
    elif is_slowed(gpu):
        mark, mark_role = "▲", "warn"
    elif gpu.status == "stale":
        mark, mark_role, role = "◌", "warn", "dim"
    return (
        Line(f"{mark.strip():<1}", mark_role)
        .add(f"{gpu.index:>2} ", "label")
        .add(f"{units.pct(gpu.util_pct):>4}", role)
    )

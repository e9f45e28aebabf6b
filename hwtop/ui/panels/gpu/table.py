"""The GPU table: one line a device, in the overview and on the GPU page."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.frame import Frame
from hwtop.ui.panels.gpu.columns import columns
from hwtop.ui.panels.gpu.view import GpuRow
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

PAST_CELLS, PAST_CELLS_WIDE, PAST_CELLS_WIDEST = 16, 30, 60
"""Of the trend, two samples each."""
_NARROW, _WIDE, _WIDEST = 100, 180, 220
_Columns = Sequence[tuple[Column[GpuRow], int]]


def lines(rows: Sequence[GpuRow], shown: range, view: View, width: int, *, has_header: bool) -> list[Line]:
    """The rows in `shown`; the columns are those of all rows, so that scrolling moves none."""
    size = PAST_CELLS_WIDEST if width >= _WIDEST else PAST_CELLS_WIDE if width >= _WIDE else PAST_CELLS
    chosen = table.chosen(
        columns(rows, view.levels, (_past_title(view.frame, size), size), is_narrow=width < _NARROW), width
    )
    head = [table.header(chosen)] if has_header else []
    return head + [_line(chosen, rows[place], width) for place in shown]


def _line(chosen: _Columns, row: GpuRow, width: int) -> Line:
    if row.gpu.status in ("lost", "error"):
        word = "LOST" if row.gpu.status == "lost" else "ERROR"
        ranks = f"  (rank {rank_set(row.ranks)})" if row.ranks else ""
        return Line(f"✖  {row.gpu.index:>3}  {word}{ranks}  {row.gpu.reason or 'no reason given'}", "bad")
    return _stale(chosen, row, width) if row.gpu.status == "stale" else table.row(chosen, row)


def _stale(chosen: _Columns, row: GpuRow, width: int) -> Line:
    """What was read last, in one quiet colour, and how old it is in place of the last columns."""
    note = Line(f"stale {units.duration(row.gpu.age_s)}", "warn")
    kept = list(chosen)
    while kept and sum(size + table.GAP for _, size in kept) + note.width > width:
        kept.pop()
    return table.row(kept, row).recoloured("dim").add(" " * table.GAP).extend(note)


def _past_title(frame: Frame, size: int) -> str:
    """How far back the trends reach: the interval may have been changed on the way."""
    shown = frame.history[-2 * size :]
    period_s = (shown[-1].at_s - shown[0].at_s) / (len(shown) - 1) if len(shown) > 1 else frame.derived.interval_s
    return f"util, {units.duration(round(2 * size * period_s))}"

"""What programs outside the job use of the machine, as a block of the host page: only where that is much."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.job.size import GIB
from hwtop.model.process import ProgramRates
from hwtop.ui.panels.host.block import Block
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

_SHOWN = 6


def others(view: View, width: int) -> Block | None:
    """The busiest first, in steps of 10 % so that rows keep their places; None without a job, or where others use little."""
    found = view.frame.derived.programs if view.job is not None else ()
    known = [each for each in found if (each.cpu_pct or 0.0) >= 1 or (each.rss_bytes or 0) >= GIB]
    if not known:
        return None
    known.sort(key=lambda each: (-round((each.cpu_pct or 0.0) / 10), -(each.rss_bytes or 0)))
    columns = table.chosen(_COLUMNS, width)
    lines = [table.header(columns), *(table.row(columns, each) for each in known[:_SHOWN])]
    return Block("Programs outside the job", lines, Line("CPU 100% = one core", "dim"))


_COLUMNS: tuple[Column[ProgramRates], ...] = (
    Column("pid", 7, lambda each, _: Line(str(each.pid), "dim"), 2, align="right"),
    Column("program", 8, lambda each, _: Line(each.name, "strong"), grow=1),
    Column("user", 8, lambda each, _: Line(each.user), 1),
    Column("CPU", 5, lambda each, _: Line(units.pct(each.cpu_pct)), align="right"),
    Column("mem", 6, lambda each, _: Line(units.size(each.rss_bytes)), align="right"),
)

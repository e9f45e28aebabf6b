"""The MIG instances of a GPU: each is a device of its own to CUDA."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.model.gpu.device import Gpu, MigInstance
from hwtop.ui.panels.gpu.block import Block, block
from hwtop.ui.tables.cells import plain
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import elide_middle


def instances(gpu: Gpu, width: int) -> Block:
    """A line each; the driver reports no utilization of an instance."""
    chosen = table.chosen(_COLUMNS, width)
    lines = [table.header(chosen), *(table.row(chosen, part) for part in gpu.mig)] if gpu.mig else []
    return block("MIG instances", lines, width)


def _ids(part: MigInstance, _: int) -> Line:
    pair = (part.gpu_instance, part.compute_instance)
    return Line("/".join(units.UNKNOWN if each is None else str(each) for each in pair), "dim")


def _share(part: MigInstance) -> float | None:
    used, total = part.mem_used_bytes, part.mem_total_bytes
    return used / total if used is not None and total else None


def _memory(part: MigInstance, _: int) -> Line:
    return Line(units.size(part.mem_used_bytes)).add(f"/{units.size(part.mem_total_bytes)}", "dim")


def _processes(part: MigInstance, _: int) -> Line:
    if part.processes is None:
        return Line(units.UNKNOWN, "dim")
    return Line(
        ", ".join(str(process.pid) for process in part.processes) or "nobody", "text" if part.processes else "dim"
    )


_COLUMNS: list[Column[MigInstance]] = [
    Column("", 2, lambda part, _: Line(str(part.index), "strong"), align="right"),
    Column("profile", 10, lambda part, width: Line(elide_middle(part.name or units.UNKNOWN, width))),
    Column("GI/CI", 5, _ids, 3),
    Column("SMs", 3, lambda part, _: plain(units.number(part.multiprocessors)), 2, align="right"),
    Column("memory", 11, _memory, align="right"),
    Column("", 6, lambda part, width: bar(_share(part), width, "info"), 5, grow=1, most=12),
    Column("PIDs", 8, _processes, 1, grow=1, most=30),
]

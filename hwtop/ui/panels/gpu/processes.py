"""Who is on the GPUs: each process with its rank, memory and share of the SMs."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.model.member import JobProcess
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.tables.cells import plain
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import elide_end, elide_middle


class _Row(Struct, frozen=True):
    gpu: Gpu
    process: GpuProcess
    member: JobProcess | None
    """What the watched job says of this PID."""
    is_watching: bool
    """There is a job, so a process that is not of it is a stranger."""
    is_selected: bool


def wanted(view: View, _: int) -> int:
    """Rows for all of them, with titles and frame."""
    return 3 + max(1, len(_rows(view)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """Of all devices; those of the selected one are in sight and marked."""
    rows = _rows(view)
    shown = _shown(rows, height)
    lines = _drawn(rows, shown, inner(width), has_cursor=True)
    note = table.note(shown, len(rows), Line())
    return box(lines or [_nobody(view)], width, height, Line("Processes on GPUs", "title"), note)


def gpu_at(view: View, y: int, height: int) -> Gpu | None:
    """The device of the process in this row."""
    rows = _rows(view)
    shown = _shown(rows, height)
    return rows[shown[y - 2]].gpu if 0 <= y - 2 < len(shown) else None


def _shown(rows: list[_Row], height: int) -> range:
    return table.around(len(rows), max(1, height - 3), _first(rows) + max(0, (height - 3) // 2))


def of_gpu(view: View, gpu: Gpu, width: int) -> list[Line]:
    """Those of one device, as lines of its card."""
    rows = [row for row in _rows(view) if row.gpu is gpu]
    return _drawn(rows, range(len(rows)), width, has_cursor=False)


def _nobody(view: View) -> Line:
    gpus = view.frame.derived.gpus
    reasons = dict.fromkeys(gpu.missing["processes"] for gpu in gpus if "processes" in gpu.missing)
    if reasons:
        return Line("◌ not reported: ", "dim").add(next(iter(reasons)), "dim")
    return Line("◌ no process uses a GPU", "dim")


@once
def _rows(view: View) -> list[_Row]:
    here = gpu_view.selected(view)
    members = {process.pid: process for process in view.job.processes} if view.job else {}
    return [
        _Row(gpu, process, members.get(process.pid), bool(members), here is gpu)
        for gpu in view.frame.derived.gpus
        for process in _of(gpu)
    ]


def _of(gpu: Gpu) -> Iterator[GpuProcess]:
    """The largest first; a process in a MIG instance is listed once, though the device may list it too."""
    inside = {process.pid for part in gpu.mig for process in part.processes or ()}
    every = [process for process in gpu.processes or () if process.pid not in inside or process.mig is not None]
    known = {(process.pid, process.mig) for process in every}
    every += [
        process for part in gpu.mig for process in part.processes or () if (process.pid, process.mig) not in known
    ]
    yield from sorted(every, key=lambda process: (process.mig or 0, -(process.mem_bytes or 0), process.pid))


def _first(rows: list[_Row]) -> int:
    return next((place for place, row in enumerate(rows) if row.is_selected), 0)


def _drawn(rows: list[_Row], shown: range, width: int, *, has_cursor: bool) -> list[Line]:
    if not rows:
        return []
    kept = table.chosen(_columns(rows, has_cursor=has_cursor), width)
    return [table.header(kept), *(table.row(kept, rows[place]) for place in shown)]


def _columns(rows: list[_Row], *, has_cursor: bool) -> list[Column[_Row]]:
    reported: list[tuple[Column[_Row], bool]] = [
        (Column("", 1, lambda row, _: Line("▸" if row.is_selected else " ", "accent")), has_cursor),
        (Column("GPU", 3, lambda row, _: Line(str(row.gpu.index), "strong"), align="right"), has_cursor),
        (
            Column("MIG", 3, lambda row, _: plain(units.number(row.process.mig)), 2, align="right"),
            any(row.process.mig is not None for row in rows),
        ),
        (Column("PID", 8, lambda row, _: Line(str(row.process.pid)), align="right"), True),
        (Column("rank", 4, _rank, 1, align="right"), any(row.member for row in rows)),
        (Column("memory", 6, lambda row, _: plain(units.size(row.process.mem_bytes)), align="right"), True),
        (
            Column("SM", 4, lambda row, _: plain(units.pct(row.process.sm_pct)), 1, align="right"),
            any(row.process.sm_pct is not None for row in rows),
        ),
        (Column("kind", 8, _kind, 3), any(row.process.kind != "compute" for row in rows)),
        (Column("what", 14, _name, 2, grow=1), True),
    ]
    return [column for column, is_reported in reported if is_reported]


def _rank(row: _Row, _: int) -> Line:
    if row.member is None:
        return Line("▲" if row.is_watching else units.UNKNOWN, "warn" if row.is_watching else "dim")
    rank = row.member.rank
    return Line(units.UNKNOWN if rank is None else rank_set((rank,)), marks.rank(rank))


def _kind(row: _Row, _: int) -> Line:
    return Line(row.process.kind, "dim" if row.process.kind == "compute" else "text")


def _name(row: _Row, width: int) -> Line:
    """Of the job its command; of others what the driver calls them, or that nothing here has this PID."""
    if row.member is not None:
        return Line(elide_middle(process_view.command(row.member), width))
    if row.process.state == "X":
        return Line("✖ gone, its memory is not free", "bad")
    known = row.process.name
    if row.is_watching:
        return Line(elide_end(f"not this job: {known or 'PID unknown here'}", width), "warn" if known else "dim")
    return Line(elide_middle(known, width)) if known else Line("PID unknown here", "dim")

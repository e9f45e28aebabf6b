"""The job's processes as a tree."""

from __future__ import annotations

from hwtop.model.job import JobProcess
from hwtop.ui import units
from hwtop.ui.filter import matches, told
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column

_STATES = {
    "R": ("running", "good"),
    "S": ("sleeping", "dim"),
    "D": ("▲ disk wait", "warn"),
    "T": ("✖ stopped", "bad"),
    "t": ("✖ traced", "bad"),
    "Z": ("✖ zombie", "bad"),
    "X": ("✖ dead", "bad"),
    "I": ("idle", "dim"),
}


def draw(view: View, width: int, height: int) -> list[Line]:
    """One row a process, in tree order, as far down as the person has scrolled."""
    processes = view.job.processes if view.job else ()
    title = Line("Processes of the job", "title")
    if not processes:
        return box([_none(view)], width, height, title, Line())
    total = len(processes)
    processes = _kept(view)
    title.extend(told(view.filter, len(processes), total, "processes"))
    if not processes:
        return box([Line("◌ no process matches", "dim")], width, height, title, Line())
    columns = table.chosen(_columns(), inner(width))
    rows = table.window(len(processes), height - 3, view.scroll)
    lines = [table.header(columns)]
    for index in rows:
        line = table.row(columns, processes[index])
        is_selected = view.selected is not None and processes[index].rank == view.selected
        lines.append(line.recoloured("cursor") if is_selected else line)
    note = Line(f"{total} processes, CPU 100% = one core", "dim")
    if len(rows) < len(processes):
        note = Line(f"{rows.start + 1}–{rows.stop} of {len(processes)}", "accent")
    return box(lines, width, height, title, note)


def hidden(view: View, _: int, height: int) -> int:
    """Rows that a panel of `height` rows has no room for."""
    return max(0, len(_kept(view)) - (height - 3))


def wanted_busiest(view: View, _: int) -> int:
    """Rows for a line a process, with titles and frame."""
    return 3 + len(view.job.processes if view.job else ())


def draw_busiest(view: View, width: int, height: int) -> list[Line]:
    """The processes that use the CPU most."""
    processes = view.job.processes if view.job else ()
    title = Line("Busiest processes", "title")
    if not processes:
        return box([_none(view)], width, height, title, Line())
    # In steps of 10 %: what is equally busy keeps its place from tick to tick.
    ranked = sorted(processes, key=lambda item: (-round((item.cpu_pct or 0) / 10), item.role != "rank", item.pid))
    columns = table.chosen(_busiest_columns(), inner(width))
    lines = [table.header(columns), *(table.row(columns, item) for item in ranked[: height - 3])]
    return box(lines, width, height, title, Line(f"of {len(processes)}", "dim"))


def _none(view: View) -> Line:
    why = "the job has ended" if view.job and view.job.has_ended else "no process seen yet"
    return Line(f"◌ {why}", "dim")


def _kept(view: View) -> tuple[JobProcess, ...]:
    """Those that the filter lets through."""
    processes = view.job.processes if view.job else ()
    return tuple(item for item in processes if matches(view.filter, _text(item)))


def _text(item: JobProcess) -> str:
    rank = "" if item.rank is None else f" rank {item.rank}"
    return f"{item.pid} {item.role}{rank} {_STATES.get(item.state, (item.state,))[0]} {item.wchan or ''} {item.command}"


def _busiest_columns() -> list[Column[JobProcess]]:
    return [
        Column("pid", 7, lambda item, _: Line(str(item.pid), "dim"), align="right"),
        Column("role", 13, lambda item, _: Line(item.role, "strong" if item.role == "rank" else "text"), grow=1),
        Column(
            "rank", 4, lambda item, _: _plain(units.UNKNOWN if item.rank is None else str(item.rank)), align="right"
        ),
        Column("CPU", 5, lambda item, _: _plain(units.pct(item.cpu_pct)), align="right"),
        Column("mem", 5, lambda item, _: _plain(units.size(item.rss_bytes)), 1, align="right"),
        Column("state", 11, _state, 2),
    ]


def _columns() -> list[Column[JobProcess]]:
    return [
        Column("pid", 7, lambda item, _: Line(str(item.pid), "dim"), align="right"),
        Column("role", 22, _role),
        Column(
            "rank", 4, lambda item, _: Line(units.UNKNOWN if item.rank is None else str(item.rank)), 2, align="right"
        ),
        Column("state", 11, _state),
        Column("CPU", 5, lambda item, _: _plain(units.pct(item.cpu_pct)), 1, align="right"),
        Column("mem", 5, lambda item, _: _plain(units.size(item.rss_bytes)), 1, align="right"),
        Column("threads", 7, lambda item, _: _plain(str(item.thread_count)), 5, align="right"),
        Column("read", 7, lambda item, _: _plain(units.rate(item.read_bytes_per_s)), 4, align="right"),
        Column("write", 7, lambda item, _: _plain(units.rate(item.written_bytes_per_s)), 4, align="right"),
        Column("files", 5, lambda item, _: _plain(units.count(item.fd_count)), 6, align="right"),
        Column("sleeps in", 18, lambda item, _: Line(item.wchan or units.UNKNOWN, "dim"), 3),
        Column("command", 20, lambda item, _: Line(item.command, "dim"), 7, grow=1),
    ]


def _plain(text: str) -> Line:
    return Line(text, "dim" if text == units.UNKNOWN else "text")


def _role(item: JobProcess, _: int) -> Line:
    branch = "  " * max(0, item.depth - 1) + ("└ " if item.depth else "")
    return Line(branch, "border").add(item.role, "strong" if item.role in ("rank", "launcher") else "text")


def _state(item: JobProcess, _: int) -> Line:
    return Line(*_STATES.get(item.state, (item.state, "text")))

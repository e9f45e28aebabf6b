"""Logs: the lines of all ranks as they came, or of the selected one; what matched a pattern is marked with its name."""

from __future__ import annotations

from hwtop.model.job import Job
from hwtop.model.log import LogEvent, LogLine
from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle


def draw(view: View, width: int, height: int) -> list[Line]:
    """The newest lines at the bottom; scrolled back by `view.scroll`."""
    job = view.job
    room = inner(width)
    title = Line("Logs of all ranks" if view.rank is None else f"Log of rank {view.rank.rank}", "title")
    if job is None:
        return box([Line("no job", "dim")], width, height, title, Line())
    owners = _owners(job)
    lines = [line for line in job.lines if view.rank is None or owners.get(line.path) in (view.rank.rank, None)]
    files = _files(job, view, room)
    rows = max(1, height - 2 - len(files))
    end = max(min(rows, len(lines)), len(lines) - view.scroll)
    flags = _flags(job)
    shown = [_line(line, owners, flags, room) for line in lines[max(0, end - rows) : end]]
    note = Line("following", "dim") if end == len(lines) else Line(f"{len(lines) - end} newer below", "accent")
    if not lines:
        shown = [Line("◌ no line yet", "dim")]
    return box([*files, *shown], width, height, title, note)


def _owners(job: Job) -> dict[str, int]:
    """Log path -> the one rank that writes it; a path that several share has none."""
    pids = {rank.pid: rank.rank for rank in job.ranks}
    owners = {rank.log: rank.rank for rank in job.ranks if rank.log}
    for file in job.log_files:
        ranks = {pids[pid] for pid in file.pids if pid in pids}
        if len(ranks) == 1:
            owners[file.path] = ranks.pop()
        elif ranks:
            owners.pop(file.path, None)
    return owners


def _flags(job: Job) -> dict[tuple[str, str], LogEvent]:
    return {(event.path, event.text): event for event in job.events}


def _files(job: Job, view: View, width: int) -> list[Line]:
    """Files that cannot be read, with the reason; of a selected rank also where its log is."""
    lines = [
        Line("▲ ", "warn").add(elide_middle(file.path, width // 2), "text").add(f"  {file.reason}", "warn")
        for file in job.log_files
        if file.reason
    ][:3]
    if view.rank is not None:
        path = view.rank.log or "no log file found for this rank"
        age = f"  last written {units.duration(view.rank.log_age_s)} ago" if view.rank.log_age_s is not None else ""
        lines.insert(0, Line(elide_middle(path, max(8, width - len(age))), "dim").add(age, "dim"))
    return lines


def _line(line: LogLine, owners: dict[str, int], flags: dict[tuple[str, str], LogEvent], width: int) -> Line:
    owner = owners.get(line.path)
    event = flags.get((line.path, line.text))
    shown = Line(f"{owner if owner is not None else '*':>3} ", "label")
    if event is None:
        return shown.add("│ ", "border").add(line.text, "dim" if line.is_past else "text").fitted(width)
    glyph, _, role = marks.SEVERITY[event.severity]
    tail = Line(f"  ‹{event.pattern}›", role)
    shown.add(f"{glyph} ", role).add(line.text, role)
    return shown.fitted(max(8, width - tail.width)).extend(tail)

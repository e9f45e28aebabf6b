"""Logs: the lines of all ranks as they came, or of the selected one; what matched a pattern is marked with its name."""

from __future__ import annotations

from hwtop.model.job import Job
from hwtop.model.log import LogEvent, LogLine
from hwtop.ui import log_view, marks, units
from hwtop.ui.filter import told
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
    lines = log_view.lines(view)
    if view.filter:
        title.extend(told(view.filter, len(lines), len(log_view.of_rank(view)), "lines"))
    files = _files(job, view, room)
    rows = _rows(files, height)
    end = max(min(rows, len(lines)), len(lines) - view.scroll)
    owners, flags = log_view.owners(job), log_view.flags(job)
    shown = [_line(line, owners, flags, room, is_marked=line == view.mark) for line in lines[max(0, end - rows) : end]]
    if not lines:
        shown = [Line("◌ no line matches" if view.filter else "◌ no line yet", "dim")]
    return box([*files, *shown], width, height, title, _note(view, len(lines) - end))


def hidden(view: View, width: int, height: int) -> int:
    """Lines that a panel of this size has no room for."""
    return max(0, len(log_view.lines(view)) - rows_of(view, width, height))


def rows_of(view: View, width: int, height: int) -> int:
    """Lines that a panel of this size shows."""
    return _rows(_files(view.job, view, inner(width)) if view.job else [], height)


def _rows(files: list[Line], height: int) -> int:
    return max(1, height - 2 - len(files))


def _note(view: View, newer: int) -> Line:
    if newer:
        return Line(f"{newer} newer below", "accent")
    if view.is_following and view.rank is not None:
        return Line("Esc", "key").add(" all ranks  ", "label").add("following", "dim")
    return Line("following", "dim") if view.is_following else Line("held, F follows", "accent")


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


def _line(
    line: LogLine, owners: dict[str, int], flags: dict[tuple[str, str], LogEvent], width: int, *, is_marked: bool
) -> Line:
    owner = owners.get(line.path)
    event = flags.get((line.path, line.text))
    shown = Line(f"{owner if owner is not None else '*':>3} ", "label")
    if event is None:
        return shown.add("│ ", "border").add(line.text, "dim" if line.is_past else "text").fitted(width)
    glyph, _, role = marks.SEVERITY[event.severity]
    tail = Line(f"  ‹{event.pattern}›", role)
    shown.add(f"{glyph} ", role).add(line.text, role)
    shown = shown.fitted(max(8, width - tail.width)).extend(tail)
    return shown.recoloured("cursor") if is_marked else shown

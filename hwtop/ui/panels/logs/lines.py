"""Logs: the lines of all ranks as they came, or of the selected one; what matched a pattern is marked with its name."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from hwtop.fields import units
from hwtop.model.job import Job
from hwtop.model.reported.log import LogLine
from hwtop.seconds import clock
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.logs.line import Writer
from hwtop.ui.panels.logs.state import SEARCH, LogsState
from hwtop.ui.tables.filter import reported
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.text import cells, elide_end, elide_middle, visible

_REASONS = 3


def draw(view: View, width: int, height: int) -> list[Line]:
    """The newest lines at the bottom, scrolled back by `view.scroll`."""
    job = view.job
    room = inner(width)
    title = Line("Logs of all ranks" if view.rank is None else f"Log of rank {view.rank.rank}", "title")
    if job is None:
        return box([Line("no job", "dim")], width, height, title, Line())
    lines = log_view.lines(view)
    if word := view.filter_of("logs"):
        title.extend(reported(word, len(lines), len(log_view.of_rank(view)), "lines"))
    if search := view.filter_of(SEARCH):
        title.add(f"  search: {search}", "accent")
    files = _files(job, view, room)
    rows = _rows(files, height)
    end = _end(view, lines, rows)
    writer = Writer(view, job, room)
    shown = [
        writer.line(line, is_marked=line == view.state(LogsState).mark) for line in lines[max(0, end - rows) : end]
    ]
    if not lines:
        shown = [Line(f"◌ {_why_none(view)}", "dim")]
    return box([*files, *shown], width, height, title, _note(view, len(lines) - end))


def draw_newest(view: View, width: int, height: int) -> list[Line]:
    """On other pages, where it is another panel that scrolls."""
    return draw(replace(view, scroll=0), width, height)


def hidden(view: View, width: int, height: int) -> int:
    """Lines that a panel of this size has no room for."""
    return max(0, len(log_view.lines(view)) - rows_of(view, width, height))


def rows_of(view: View, width: int, height: int) -> int:
    """Lines that a panel of this size shows."""
    return _rows(_files(view.job, view, inner(width)) if view.job else [], height)


def line_at(view: View, y: int, width: int, height: int) -> LogLine | None:
    """The line in row `y` of a panel of this size."""
    rows, lines = rows_of(view, width, height), log_view.lines(view)
    end = _end(view, lines, rows)
    place = max(0, end - rows) + y - (height - 1 - rows)
    return lines[place] if max(0, end - rows) <= place < end and y < height - 1 else None


def _rows(files: list[Line], height: int) -> int:
    return max(1, height - 2 - len(files))


def _end(view: View, lines: list[LogLine], rows: int) -> int:
    """One past the last line in sight."""
    return max(min(rows, len(lines)), len(lines) - view.scroll)


def _why_none(view: View) -> str:
    if not view.filter_of("logs"):
        return "no line yet"
    if view.rank is None:
        return "no line matches"
    other = key_names.first("next-rank", view.keymap)
    return f"no line of rank {view.rank.rank} matches; {other} goes to the next rank"


def _note(view: View, newer: int) -> Line:
    if newer:
        return Line(f"{newer} newer below", "accent")
    is_following = view.state(LogsState).is_following
    if is_following and view.is_paused:
        return Line(f"as of {clock(view.frame.derived.time_s)}", "accent")
    if is_following and view.rank is not None:
        return Line(key_names.first("clear", view.keymap), "key").add(" all ranks  ", "label").add("following", "dim")
    if is_following:
        return Line("following", "dim")
    return Line(f"held, {key_names.first('follow', view.keymap)} follows", "accent")


def _files(job: Job, view: View, width: int) -> list[Line]:
    """Of a selected rank where its log is; files that cannot be read, with the reason and the remedy."""
    lines: list[Line] = []
    if view.rank is not None:
        path = view.rank.log.path or "no log file found for this rank"
        age = f"  last written {units.duration(view.rank.log.age_s)} ago" if view.rank.log.age_s is not None else ""
        is_shared = view.rank.log.path is not None and view.rank.log.path not in log_view.owners(job)
        whose = "  of several ranks: also lines without a rank" if is_shared else ""
        lines.append(Line(elide_middle(path, max(8, width - len(age + whose))), "dim").add(age + whose, "dim"))
    return [*lines, *list(_reasons(job, width))[:_REASONS], *_floods(job, width)]


def _floods(job: Job, width: int) -> Iterator[Line]:
    """What came faster than it can be shown, and where to read it."""
    skipped = [file for file in job.logs.files if file.skipped_lines]
    if skipped:
        worst = max(skipped, key=lambda file: file.skipped_lines)
        count = f"{sum(file.skipped_lines for file in skipped):,}"
        text = f"{count} lines are not listed, as too many came at once; all were searched for errors. "
        room = max(8, width - 2 - cells(text))
        where = elide_middle(f"less {visible(worst.path)}", room) if len(skipped) == 1 else f"{len(skipped)} files"
        yield Line("● ", "info").add(text, "label").add(elide_end(where, room), "dim")
    behind = [file for file in job.logs.files if file.behind_bytes]
    if behind:
        size = units.size(sum(file.behind_bytes for file in behind))
        text = f"{size} not read yet: {elide_middle(behind[0].path, max(12, width // 3))} is written faster than read"
        yield Line("▲ ", "warn").add(text, "warn")


def _reasons(job: Job, width: int) -> Iterator[Line]:
    """Each reason once: a path of its own says more only where it is not in the reason. Of a process with another output that is
    followed none: its stdout goes to a file, and its stderr to the terminal."""
    followed = {pid for file in job.logs.files if file.reason is None for pid in file.pids}
    paths: dict[str, list[str]] = {}
    for file in job.logs.files:
        if file.reason and not (file.pids and followed.issuperset(file.pids)):
            paths.setdefault(file.reason, []).append(file.path)
    for reason, those in paths.items():
        whose = "" if those[0] in reason else elide_middle(those[0], max(12, width // 3)) + ": "
        text = f"{len(those)} outputs: {reason}" if len(those) > 1 else whose + reason
        yield from wrapped(("▲ ", "warn"), text, "warn", width)

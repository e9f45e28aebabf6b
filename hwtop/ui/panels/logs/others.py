"""What the others said when one rank said this: the newest lines of each until then."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.log.time import reported_s
from hwtop.model.job import Job
from hwtop.model.reported.log import LogLine
from hwtop.ui.once import once
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.logs.line import Writer
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line

_AGE = 15
"""Cells for how long before."""
_LINES_EACH = 8
"""Most lines of one rank."""
_ALIKE_S = 0.0005


class _LogStream(Struct, frozen=True):
    """One rank, or one file that several share."""

    rank: int | None
    lines: tuple[LogLine, ...]
    """Until then, oldest first."""
    silent_s: float | None
    """From the last of them to then; None where one of the two has no time."""
    is_reported: bool
    """The lines say when they were written; else it is when hwtop read them."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """One row a rank or more; where not all have room, those who had been silent longest."""
    job, mark, room = view.job, view.state(LogsState).mark, inner(width)
    if job is None or mark is None:
        return box([Line("◌ no line is marked", "dim")], width, height, Line("Others", "title"), Line())
    streams = _streams(job, mark)
    here = log_view.owner(mark, log_view.owners(job))
    whose = f"rank {here}" if here is not None else "this file"
    title = Line(f"Last line of each when {whose} wrote the marked line", "title")
    rows = max(1, height - 2)
    each = max(1, min(_LINES_EACH, rows // max(1, len(streams))))
    if len(streams) > rows:
        streams = sorted(streams, key=lambda stream: -(stream.silent_s or 0.0))[: rows - 1]
        title.add(f", {len(streams)} longest silent", "accent")
    writer = Writer(view, job, max(8, room - _AGE - 1))
    lines = [line for stream in streams for line in _reported(stream, mark, writer, each)]
    note = Line(
        "by the times in the lines" if all(stream.is_reported for stream in streams) else "by time of arrival", "dim"
    )
    return box(lines or [Line("◌ no other stream has written anything", "dim")], width, height, title, note)


def wanted(view: View, _: int) -> int:
    """Rows for the newest lines of each, frame included."""
    mark = view.state(LogsState).mark
    if view.job is None or mark is None:
        return 3
    streams = _streams(view.job, mark)
    return 2 + max(1, sum(min(_LINES_EACH, len(stream.lines)) for stream in streams))


def _reported(stream: _LogStream, mark: LogLine, writer: Writer, most: int) -> list[Line]:
    """Its newest lines; how long it had been silent stands at the last."""
    newest = stream.lines[-most:]
    return [
        Line(_age(stream, mark) if line is newest[-1] else "", "label")
        .fitted(_AGE, "right")
        .add(" ")
        .extend(writer.line(line, is_marked=line == mark))
        for line in newest
    ]


def _age(stream: _LogStream, mark: LogLine) -> str:
    if stream.lines[-1] == mark:
        return "this line"
    if stream.silent_s is None:
        return "no time"
    if stream.silent_s < _ALIKE_S:
        return "same time" if stream.is_reported else "same moment"
    reported = units.duration(stream.silent_s) if stream.silent_s >= 0.05 else f"{1000 * stream.silent_s:.0f} ms"
    return f"{reported} before"


@once
def _streams(job: Job, mark: LogLine) -> list[_LogStream]:
    """By rank number, then the files of several; each with what it had said until then."""
    owned = log_view.owners(job)
    spoken: dict[tuple[int, str], list[LogLine]] = {}
    for line in log_view.kept(job):
        rank = log_view.owner(line, owned)
        spoken.setdefault((10**9, line.path) if rank is None else (rank, ""), []).append(line)
    own = next((lines for lines in spoken.values() if mark in lines), [mark])
    then = _times(own)[own.index(mark)]
    streams = [_voice(key[0] if key[1] == "" else None, lines, mark, then) for key, lines in sorted(spoken.items())]
    return [stream for stream in streams if stream.lines]


def _voice(rank: int | None, lines: Sequence[LogLine], mark: LogLine, then: float | None) -> _LogStream:
    """By the times in the lines where both sides have them (`then` is that of the mark), else by when they were read."""
    if mark in lines:
        until = tuple(lines[: lines.index(mark) + 1])
        return _LogStream(rank, until, 0.0, is_reported=then is not None)
    times = _times(lines) if then is not None else []
    if then is not None and times and times[-1] is not None:
        count = max((number for number, time in enumerate(times, 1) if time is not None and time <= then), default=0)
        time = times[count - 1] if count else None
        return _LogStream(rank, tuple(lines[:count]), None if time is None else then - time, is_reported=True)
    until = tuple(line for line in lines if line.at_s <= mark.at_s)
    has_times = until and not until[-1].is_past and not mark.is_past
    return _LogStream(rank, until, mark.at_s - until[-1].at_s if has_times else None, is_reported=False)


def _times(lines: Sequence[LogLine]) -> list[float | None]:
    """Of each line the time that it or the newest one before it has."""
    times: list[float | None] = []
    newest: float | None = None
    for line in lines:
        reported = reported_s(line.text)
        newest = newest if reported is None else reported
        times.append(newest)
    return times

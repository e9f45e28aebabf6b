"""What the others said when one rank said this: the newest lines of each until then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hwtop.job.log.time import told_s
from hwtop.model.job import Job
from hwtop.model.log import LogLine
from hwtop.ui import log_view, units
from hwtop.ui.log_line import Writer
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line

_AGE = 15
"""Cells for how long before."""
_LINES_EACH = 8
"""Most lines of one rank."""
_ALIKE_S = 0.0005


@dataclass(frozen=True)
class _Voice:
    """One rank, or one file that several share."""

    rank: int | None
    lines: tuple[LogLine, ...]
    """Until then, oldest first."""
    silent_s: float | None
    """From the last of them to then; None where one of the two has no time."""
    is_told: bool
    """The lines say when they were written; else it is when hwtop read them."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """One row a rank or more; where not all have room, those who had been silent longest."""
    job, mark, room = view.job, view.mark, inner(width)
    if job is None or mark is None:
        return box([Line("◌ no line is marked", "dim")], width, height, Line("Others", "title"), Line())
    voices = _voices(job, mark)
    here = log_view.owner(mark, log_view.owners(job))
    whose = f"rank {here}" if here is not None else "this file"
    title = Line(f"What each said last when {whose} said the marked line", "title")
    rows = max(1, height - 2)
    each = max(1, min(_LINES_EACH, rows // max(1, len(voices))))
    if len(voices) > rows:
        voices = sorted(voices, key=lambda voice: -(voice.silent_s or 0.0))[: rows - 1]
        title.add(f", {len(voices)} longest silent", "accent")
    writer = Writer(view, job, max(8, room - _AGE - 1))
    lines = [line for voice in voices for line in _told(voice, mark, writer, each)]
    note = Line("by the times in the lines" if all(voice.is_told for voice in voices) else "by time of arrival", "dim")
    return box(lines or [Line("◌ nobody else has said anything", "dim")], width, height, title, note)


def wanted(view: View, _: int) -> int:
    """Rows for the newest lines of each, frame included."""
    if view.job is None or view.mark is None:
        return 3
    voices = _voices(view.job, view.mark)
    return 2 + max(1, sum(min(_LINES_EACH, len(voice.lines)) for voice in voices))


def _told(voice: _Voice, mark: LogLine, writer: Writer, most: int) -> list[Line]:
    """Its newest lines; how long it had been silent stands at the last."""
    newest = voice.lines[-most:]
    return [
        Line(_age(voice, mark) if line is newest[-1] else "", "label")
        .fitted(_AGE, "right")
        .add(" ")
        .extend(writer.line(line, is_marked=line == mark))
        for line in newest
    ]


def _age(voice: _Voice, mark: LogLine) -> str:
    if voice.lines[-1] == mark:
        return "this line"
    if voice.silent_s is None:
        return "no time"
    if voice.silent_s < _ALIKE_S:
        return "same time" if voice.is_told else "same moment"
    told = units.duration(voice.silent_s) if voice.silent_s >= 0.05 else f"{1000 * voice.silent_s:.0f} ms"
    return f"{told} before"


def _voices(job: Job, mark: LogLine) -> list[_Voice]:
    """By rank number, then the files of several; each with what it had said until then."""
    owned = log_view.owners(job)
    spoken: dict[tuple[int, str], list[LogLine]] = {}
    for line in log_view.kept(job):
        rank = log_view.owner(line, owned)
        spoken.setdefault((10**9, line.path) if rank is None else (rank, ""), []).append(line)
    own = next((lines for lines in spoken.values() if mark in lines), [mark])
    then = _times(own)[own.index(mark)]
    voices = [_voice(key[0] if key[1] == "" else None, lines, mark, then) for key, lines in sorted(spoken.items())]
    return [voice for voice in voices if voice.lines]


def _voice(rank: int | None, lines: Sequence[LogLine], mark: LogLine, then: float | None) -> _Voice:
    """By the times that the lines tell where both sides do (`then` is that of the mark), else by when they were read."""
    if mark in lines:
        until = tuple(lines[: lines.index(mark) + 1])
        return _Voice(rank, until, 0.0, is_told=then is not None)
    times = _times(lines) if then is not None else []
    if then is not None and times and times[-1] is not None:
        count = max((number for number, time in enumerate(times, 1) if time is not None and time <= then), default=0)
        time = times[count - 1] if count else None
        return _Voice(rank, tuple(lines[:count]), None if time is None else then - time, is_told=True)
    until = tuple(line for line in lines if line.at_s <= mark.at_s)
    has_times = until and not until[-1].is_past and not mark.is_past
    return _Voice(rank, until, mark.at_s - until[-1].at_s if has_times else None, is_told=False)


def _times(lines: Sequence[LogLine]) -> list[float | None]:
    """Of each line the time that it or the newest one before it tells."""
    times: list[float | None] = []
    newest: float | None = None
    for line in lines:
        told = told_s(line.text)
        newest = newest if told is None else told
        times.append(newest)
    return times

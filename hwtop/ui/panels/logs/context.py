"""One log line from close by: what it means, what to do next, and the lines around it in the same file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hwtop.model.job import Job
from hwtop.model.reported.log import LogEvent, LogLine, Role
from hwtop.symptoms.records import records
from hwtop.symptoms.text import fit_to_backend
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.text import elide_middle, visible, wrap

_ROLES: dict[Role, str] = {
    "root": "It may be the cause of what follows.",
    "cascade": "It follows from something that came before.",
    "confirmation": "It is a summary of what other lines report.",
    "context": "It adds detail to other lines and is not a fault by itself.",
}
_GROUP_NAMES = {
    "first": "first to fail:",
    "exit": "exit code",
    "exitcode": "exit code",
    "exit_pid": "PID",
    "pid": "PID",
}
_STEPS = 4
_TEXT_ROWS = 6
"""Rows for the line itself, which may be thousands of characters long; in a high panel half of it."""
_GROUPS = 8
_AROUND = 24
"""Rows for the line and those around it, where there is room for more."""
_NUMBER = 8
"""Cells for a line's number."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """The meaning takes half of the room at most; the marked line stands in the middle of the rest."""
    job, mark, room = view.job, view.state(LogsState).mark, inner(width)
    if job is None or mark is None:
        return box([Line("◌ no line is marked", "dim")], width, height, Line("Line", "title"), Line())
    event = log_view.flags(job).get((mark.path, mark.text))
    reported = list(_meaning(job, event, room))[: max(3, (height - 2) // 2)] if event else []
    lines = [*reported, *_around(job, mark, event, room, height - 2 - len(reported))]
    return box(
        lines,
        width,
        height,
        _title(job, mark, event, width),
        Line(key_names.first("clear", view.keymap), "key").add(" back", "label"),
    )


def wanted(view: View, width: int) -> int:
    """Rows for what it means and some lines on either side, frame included."""
    job, mark = view.job, view.state(LogsState).mark
    if job is None or mark is None:
        return 3
    event, room = log_view.flags(job).get((mark.path, mark.text)), inner(width)
    reported = len(list(_meaning(job, event, room))) if event else 0
    return 2 + reported + len(_around(job, mark, event, room, _AROUND))


def _title(job: Job, mark: LogLine, event: LogEvent | None, width: int) -> Line:
    title = Line()
    if event is not None:
        glyph, word, role = marks.SEVERITY[event.severity]
        title.add(f"{glyph} {word} {event.pattern}  ", role)
    rank = log_view.writer(mark, event, log_view.owners(job))
    title.add(f"rank {rank}  " if rank is not None else "", marks.rank(rank))
    place = f", line {mark.line_no:,}" if mark.line_no is not None else ""
    return title.add(elide_middle(mark.path, max(12, width - title.width - len(place) - 20)), "title").add(
        place, "title"
    )


def _meaning(job: Job, event: LogEvent, width: int) -> Iterator[Line]:
    explanation = event.explanation[:1].upper() + event.explanation[1:].rstrip(".")
    for piece in wrap(f"{explanation}. {_ROLES[event.role]}", width):
        yield Line(piece, "strong")
    steps = [*event.playbook, *(records()[event.pattern].plain_steps if event.pattern in records() else ())]
    for step in list(dict.fromkeys(fit_to_backend(steps, job)))[:_STEPS]:
        yield from wrapped(("→ ", "accent"), step, "accent", width)
    groups = [f"{_named(name)} {value}" for name, value in list(event.groups.items())[:_GROUPS] if value]
    if groups:
        yield from (Line(piece, "label") for piece in wrap(", ".join(groups), width))


def _named(group: str) -> str:
    """A part of a pattern in words: "PID" of `exit_pid`, "first to fail: yes" of what stands below torchrun's root cause."""
    return _GROUP_NAMES.get(group, group.replace("_", " "))


def _around(job: Job, mark: LogLine, event: LogEvent | None, width: int, height: int) -> list[Line]:
    """The lines of the same file before and after it, as far as they are still kept."""
    own = [line for line in log_view.kept(job) if line.path == mark.path]
    at = own.index(mark) if mark in own else 0
    middle = list(_itself(mark, event, width, max(_TEXT_ROWS, height // 2)))
    spare = max(0, height - len(middle))
    after = own[at + 1 : at + 1 + max(spare - spare // 2, spare - at)]
    before = own[max(0, at - (spare - len(after))) : at]
    rows: list[Line] = []
    if before:
        rows += _joined(before, mark, width)
    elif mark.line_no is not None and mark.line_no > 1 and spare > len(after):
        command = f"tail -n +{max(1, mark.line_no - 20)} {shlex.quote(visible(mark.path))} | head -n 40"
        rows.append(Line("◌ earlier lines are no longer in memory: ", "dim").add(command, "accent"))
    return [*rows, *middle, *_joined(after, None, width)][:height]


def _joined(lines: list[LogLine], next_line: LogLine | None, width: int) -> list[Line]:
    """One row each; a gap in the numbers is a line that was not kept, and is never hidden."""
    followed = [*lines[1:], next_line]
    return [_row(line, width, "╌" if _is_gap(line, followed[at]) else " ") for at, line in enumerate(lines)]


def _is_gap(line: LogLine, after: LogLine | None) -> bool:
    if after is None or line.line_no is None or after.line_no is None:
        return False
    return after.line_no > line.line_no + 1


def _row(line: LogLine, width: int, gap: str) -> Line:
    number = Line(_number(line), "dim").add(f"{gap} ", "border")
    return number.add(line.text[: 4 * width], "dim" if line.is_past else "text").fitted(width)


def _number(line: LogLine) -> str:
    return f"{line.line_no if line.line_no is not None else '':>{_NUMBER}}"


def _itself(mark: LogLine, event: LogEvent | None, width: int, most: int) -> Iterator[Line]:
    role = marks.SEVERITY[event.severity][2] if event else "strong"
    pieces = wrap(mark.text[: 4 * width * most], max(8, width - _NUMBER - 2)) or [""]
    if len(pieces) > most:
        pieces = [*pieces[: most - 1], f"… {len(mark.text):,} characters in total"]
    for row, piece in enumerate(pieces):
        yield (
            Line(_number(mark) if not row else " " * _NUMBER, role)
            .add("▸ " if not row else "  ", "accent")
            .add(piece, role)
        )

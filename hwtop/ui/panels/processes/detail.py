"""One process from inside: its environment, or its open files."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import units
from hwtop.fields.process import FILES_LEVEL
from hwtop.fields.ratio import percent
from hwtop.job.launch.signals import title as name_of
from hwtop.job.launch.variables import is_training_variable
from hwtop.job.open_file import FileKind, is_deleted, kind
from hwtop.job.secrets import MASK
from hwtop.model.process import OpenFile, ProcessDetail
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels import picture_time
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.tables.cells import plain
from hwtop.ui.tables.filter import matches, reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import cells, elide_middle, visible

_NAME_MOST = 40
_VALUE_ROWS = 6
"""Rows for one value; a longer one is cut."""

_KINDS: dict[FileKind, str] = {
    "log": "accent",
    "data": "mix-2",
    "output": "mix-4",
    "socket": "mix-3",
    "pipe": "mix-3",
    "device": "mix-1",
    "memory": "mix-1",
    "terminal": "dim",
    "event": "dim",
    "other": "dim",
}
_LIMIT_WORDS = {
    "Max processes": "processes",
    "Max locked memory": "locked memory",
    "Max address space": "address space",
    "Max stack size": "stack",
    "Max core file size": "core file",
    "Max cpu time": "CPU time",
    "Max file size": "file size",
}


def draw(view: View, width: int, height: int) -> list[Line]:
    """As far down as the person has scrolled."""
    lines, heading = _lines(view, inner(width))
    shown = table.window(len(lines), height - 2, view.scroll)
    key = Line(key_names.first("clear", view.keymap), "key").add(" back", "label")
    return box(lines[shown.start :], width, height, heading, table.note(shown, len(lines), key))


def hidden(view: View, width: int, height: int) -> int:
    """Rows that a panel of this size has no room for."""
    return max(0, len(_lines(view, inner(width))[0]) - (height - 2))


def said(view: View) -> str:
    """What is shown, as text for the clipboard: one variable or file a line."""
    detail = _detail(view)
    if detail is None:
        return ""
    if view.state(ProcessesState).inside == "env":
        return "\n".join(visible(f"{name}={value}") for name, value in _variables(view, detail))
    return "\n".join(visible(f"{file.fd} {file.mode or '?'} {file.target}") for file in _files(view, detail))


def _detail(view: View) -> ProcessDetail | None:
    detail = view.job.detail if view.job else None
    return detail if detail is not None and detail.pid == view.state(ProcessesState).pid else None


def _lines(view: View, width: int) -> tuple[list[Line], Line]:
    detail = _detail(view)
    pid = view.state(ProcessesState).pid
    process = next((item for item in view.processes if item.pid == pid), None)
    name = name_of(process) if process is not None else f"PID {pid}, which has ended"
    what = "Environment at start of" if view.state(ProcessesState).inside == "env" else "Open files of"
    heading = Line(f"{what} {name}", "title")
    if detail is None and picture_time.is_past(view):
        return [Line("◌ not read at that moment: this process was not open on the screen", "dim")], heading
    if detail is None:
        return [Line("◌ reading …", "dim")], heading
    return (_env if view.state(ProcessesState).inside == "env" else _open_files)(view, detail, width, heading), heading


def _missing(detail: ProcessDetail, part: str) -> Iterator[Line]:
    if part in detail.missing:
        yield Line("▲ ", "warn").add(detail.missing[part], "text")


def _variables(view: View, detail: ProcessDetail) -> list[tuple[str, str]]:
    """Those that training depends on first, as far as the filter lets them through."""
    found = [pair for pair in detail.env or () if matches(view.filter_of("env"), f"{pair[0]}={pair[1]}")]
    return sorted(found, key=lambda pair: not is_training_variable(pair[0]))


def _env(view: View, detail: ProcessDetail, width: int, heading: Line) -> list[Line]:
    lines = list(_missing(detail, "env"))
    if detail.env is None:
        return lines or [Line("◌ reading …", "dim")]
    found = _variables(view, detail)
    heading.extend(reported(view.filter_of("env"), len(found), len(detail.env), "variables"))
    if not detail.env:
        return [*lines, Line("◌ it was started with an empty environment, or has written over it", "dim")]
    if not found:
        return [*lines, Line("◌ no variable matches", "dim")]
    column = min(_NAME_MOST, max(cells(visible(name)) for name, _ in found), max(8, width // 2))
    previous: bool | None = None
    for name, value in found:
        is_training = is_training_variable(name)
        if is_training != previous:
            text = "Ranks, threads, devices and libraries" if is_training else "Everything else"
            lines += ([Line()] if previous is not None else []) + [Line(text, "label")]
            previous = is_training
        lines += _variable(name, value, column, width, is_training)
    return lines


def _variable(name: str, value: str, column: int, width: int, is_training: bool) -> Iterator[Line]:
    head = Line(elide_middle(visible(name), column), "accent" if is_training else "text").fitted(column)
    pieces = _pieces(visible(value), max(8, width - column - 2))
    if len(pieces) > _VALUE_ROWS:
        left = len(pieces) - _VALUE_ROWS
        pieces = [*pieces[:_VALUE_ROWS], f"… {left} more rows"]
    for row, piece in enumerate(pieces):
        line = head if row == 0 else Line(" " * column)
        for number, part in enumerate(piece.split(MASK)):
            line.add(("  " if number == 0 else ""), "text").add(MASK if number else "", "warn").add(part, "text")
        yield line


def _pieces(text: str, width: int) -> list[str]:
    """Cut to rows wherever the width ends: a path has no blanks to break at."""
    pieces, row, room = [], "", width
    for character in text:
        size = cells(character)
        if size > room:
            pieces.append(row)
            row, room = "", width
        row += character
        room -= size
    return [*pieces, row]


def _files(view: View, detail: ProcessDetail) -> list[OpenFile]:
    followed = _followed(view)
    text = "{0.fd} {0.mode} {1} {0.target}"
    return [
        file for file in detail.files or () if matches(view.filter_of("files"), text.format(file, kind(file, followed)))
    ]


def _followed(view: View) -> frozenset[str]:
    return frozenset(log.path for log in view.job.logs.files) if view.job else frozenset()


def _open_files(view: View, detail: ProcessDetail, width: int, heading: Line) -> list[Line]:
    lines = [_counted(detail), *_missing(detail, "files")]
    if detail.files is None:
        return lines
    found = _files(view, detail)
    heading.extend(reported(view.filter_of("files"), len(found), len(detail.files), "files"))
    followed = _followed(view)
    columns = table.chosen(_columns(followed), width)
    lines.append(table.header(columns))
    lines += [table.row(columns, file) for file in found]
    return lines if found else [*lines, Line("◌ no file matches", "dim")]


def _counted(detail: ProcessDetail) -> Line:
    """How many are open, and the limits that stop training jobs."""
    line = Line("open ", "label")
    most = detail.limits.get("Max open files", "").split()
    limit = int(most[0]) if most and most[0].isdigit() else None
    if detail.file_count is None:
        line.add(units.UNKNOWN, "dim")
    else:
        used = marks.tone(FILES_LEVEL, percent(detail.file_count, limit), "strong") if limit else ("strong", "")
        line.add(f"{used[1]}{' ' * bool(used[1])}{detail.file_count:,}", used[0])
    line.add(" of " + (f"{limit:,}" if limit is not None else " ".join(most) or units.UNKNOWN), "text")
    for name, word in _LIMIT_WORDS.items():
        value = detail.limits.get(name)
        if value is not None and value != "unlimited":
            line.add(f"   {word} ", "label").add(_limit(value), "text")
    return line


def _limit(value: str) -> str:
    number, _, unit = value.partition(" ")
    if not number.isdigit():
        return value
    return units.size(int(number)) if unit == "bytes" else f"{int(number):,}"


def _columns(followed: frozenset[str]) -> list[Column[OpenFile]]:
    def what(file: OpenFile, _: int) -> Line:
        name = kind(file, followed)
        return Line(name, _KINDS[name])

    def path(file: OpenFile, width: int) -> Line:
        line = Line()
        if file.target in followed:
            line.add("● followed ", "good")
        elif is_deleted(file):
            line.add("▲ ", "warn")
        return line.add(elide_middle(visible(file.target), max(8, width - line.width)), "text")

    return [
        Column("fd", 5, lambda file, _: Line(str(file.fd), "dim"), align="right"),
        Column("mode", 4, lambda file, _: Line(file.mode or units.UNKNOWN, "text")),
        Column("kind", 8, what),
        Column("at", 7, lambda file, _: plain(units.size(file.offset_bytes)), 2, align="right"),
        Column("size", 7, lambda file, _: plain(units.size(file.size_bytes)), 1, align="right"),
        Column("file", 20, path, grow=1),
    ]

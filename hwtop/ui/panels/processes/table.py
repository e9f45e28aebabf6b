"""The job's processes, as a tree or a list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hwtop.fields import process as fields
from hwtop.fields import units
from hwtop.fields.field import Field
from hwtop.fields.process import PROCESS, ProcessRow, state_word
from hwtop.job.launch.signals import fate
from hwtop.model.member import JobProcess
from hwtop.symptoms.text import counted
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.processes import detail
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.panels.processes.state import PROCESSES, ProcessesState
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.tables import cells, tags
from hwtop.ui.tables.cells import Cell
from hwtop.ui.tables.filter import reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import cells as cells_of
from hwtop.ui.widgets.text import elide_middle, visible

_ABOUT_FROM = 14
"""Rows of the panel from which the process under the cursor is shown in detail."""
_COMMAND_ROWS, _COMMAND_MOST = 3, 2000
"""Rows and characters of a command line."""
_ABOUT_ROWS = 2 + _COMMAND_ROWS
"""A rule, a row of facts, the command."""
_KEYS = (("choose", "stack"), ("environment", "environment"), ("logs-or-files", "files"))
_CHANGING_KEYS = (("signal", "signal"), ("deep", "deep look"))
"""Ids of bindings, and what they do here."""
_HANDLED = ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2")


def draw(view: View, width: int, height: int) -> list[Line]:
    """The tree with the cursor in sight, or one process from inside."""
    if view.state(ProcessesState).inside:
        return detail.draw(view, width, height)
    processes = view.processes
    if not processes:
        return box([_none(view)], width, height, Line("Processes", "title"), Line())
    title = _title(view)
    listed = process_view.rows(view)
    if not listed:
        return box([Line("◌ no process matches", "dim")], width, height, title, Line())
    columns = _chosen(view, width)
    cursor = process_view.place(view)
    about = _about(view, listed[cursor], inner(width)) if height >= _ABOUT_FROM else []
    rows = shown(view, height)
    lines = [table.header(columns, PROCESSES.marked(view))]
    for index in rows:
        line = table.row(columns, listed[index]).fitted(inner(width))
        lines.append(Line("▸" + line.text[1:], "cursor") if index == cursor else line)
    room = height - 2 - len(about)
    lines += [Line()] * (room - len(lines))
    note = table.note(rows, len(listed), Line(counted(len(processes), "process", "processes"), "dim"))
    return box(lines + about, width, height, title, note)


def _title(view: View) -> Line:
    """What one would act on comes first: a narrow terminal cuts the end."""
    title = Line("Processes", "title").extend(tags.reported(view))
    if process_view.follows(view):
        title.add("  follows ", "label").add(f"PID {view.state(ProcessesState).pid}", "accent")
    processes = view.processes
    word = view.filter_of(PROCESSES.name)
    kept = len(process_view.kept(view)) if word else 0
    title.extend(reported(word, kept, len(processes), "processes", process_view.query(view).problem if word else ""))
    title.add(f"  {words}" if (words := PROCESSES.words(view)) else "", "dim")
    return title.add("  CPU 100% = one core", "dim")


def _chosen(view: View, width: int) -> list[tuple[Column[TreeRow], int]]:
    return table.chosen(_columns(view), inner(width))


def column_at(view: View, x: int, width: int) -> str:
    """Title of the column at this cell of a panel of this width; "" between them."""
    return table.column_at(_chosen(view, width), x - (width - inner(width)) // 2)


def shown(view: View, height: int) -> range:
    """Which of `process_view.rows` a panel of this height shows."""
    about = _ABOUT_ROWS if height >= _ABOUT_FROM else 0
    return table.around(len(process_view.rows(view)), height - 3 - about, process_view.place(view))


def hidden(view: View, width: int, height: int) -> int:
    """Rows out of sight, of what scrolls without a cursor."""
    return detail.hidden(view, width, height) if view.state(ProcessesState).inside else 0


def _about(view: View, row: TreeRow, width: int) -> list[Line]:
    """What the table has no room for, in `_ABOUT_ROWS` rows."""
    item = process_view.selected(view) or row.process
    name = f" PID {item.pid} " if row.folded_pid is None else f" {row.name.removeprefix('+ ')} "
    rule = _rule(view, Line(name, "strong"), width, row)
    if row.folded_pid is not None:
        return [rule, *_about_branch(view, row, width)]
    facts = Line("threads ", "label").add(_threads(item), "text")
    if item.wchan:
        facts.add("   wchan ", "label").add(item.wchan, "text")
    facts.add("   handles ", "label").add(_handles(item), "text")
    if item.user:
        facts.add("   user ", "label").add(item.user, "text")
    return [rule, facts, *_pieces(item.command, width, "dim")]


def _about_branch(view: View, row: TreeRow, width: int) -> list[Line]:
    """All processes of a folded branch by number, how they do, and how to see each."""
    facts = Line("states ", "label").add(row.words, "text").add("   threads ", "label")
    facts.add(str(sum(item.thread_count for item in row.processes)), "text")
    for action, word in (("right", "opens the branch"), ("branches", "all")):
        facts.add(f"   {key_names.first(action, view.keymap)}", "key").add(f" {word}", "label")
    return [facts, *_pieces("PID " + " ".join(str(item.pid) for item in row.processes), width, "dim")]


def _pieces(text: str, width: int, role: str) -> list[Line]:
    """A long text in `_COMMAND_ROWS` rows."""
    text = visible(text[:_COMMAND_MOST])
    pieces: list[Line] = []
    while text and len(pieces) < _COMMAND_ROWS:
        piece = text if len(pieces) == _COMMAND_ROWS - 1 else _cut(text, width)
        pieces.append(Line(elide_middle(piece, width), role))
        text = text[len(piece) :]
    return pieces + [Line()] * (_COMMAND_ROWS - len(pieces))


def _rule(view: View, name: Line, width: int, row: TreeRow) -> Line:
    """Whose facts follow, and the keys that are about it: the footer of a narrow terminal has no room for them."""
    keys = Line(" ")
    for action, word in _KEYS if view.is_readonly else (*_KEYS, *_CHANGING_KEYS):
        shown = "open" if row.folded_pid is not None and action == "choose" else word
        keys.add(key_names.first(action, view.keymap), "key").add(f" {shown}  ", "label")
    if 4 + name.width + keys.width > width:
        keys = Line()
    line = Line("──", "border").extend(name)
    line.add("─" * max(0, width - line.width - keys.width - 1), "border")
    return line.extend(keys).add("─", "border")


def _cut(text: str, width: int) -> str:
    """The beginning of `text` that fits, up to a blank where there is one near the end."""
    length = min(len(text), width)
    while cells_of(text[:length]) > width:
        length -= 1
    blank = text.rfind(" ", length * 2 // 3, length)
    return text[: blank + 1] if blank >= 0 and length < len(text) else text[:length]


def _threads(item: JobProcess) -> str:
    states = ", ".join(
        f"{count} {state_word(state)}" for state, count in sorted(item.thread_states.items(), key=lambda pair: -pair[1])
    )
    return f"{item.thread_count} ({states})" if states else str(item.thread_count)


def _handles(item: JobProcess) -> str:
    if item.caught_signals is None:
        return units.UNKNOWN
    return " ".join(name for name in _HANDLED if fate(name, item) == "handler") or "none of TERM INT USR1 USR2"


def wanted(view: View) -> int:
    """Rows for the whole tree, what is told of one of them, titles and frame."""
    return 3 + _ABOUT_ROWS + len(view.processes)


def wanted_busiest(view: View, _: int) -> int:
    """Rows for a line a process, with titles and frame."""
    return 3 + len(view.processes)


def draw_busiest(view: View, width: int, height: int) -> list[Line]:
    """The processes that use the CPU most."""
    processes = view.processes
    title = Line("Busiest processes", "title")
    if not processes:
        return box([_none(view)], width, height, title, Line())
    ranked = _busiest(processes)
    columns = table.chosen(_busiest_columns(view), inner(width))
    lines = [table.header(columns), *(table.row(columns, ProcessRow(item)) for item in ranked[: height - 3])]
    return box(lines, width, height, title, Line(f"of {len(processes)}", "dim"))


def busiest_at(view: View, y: int, height: int) -> JobProcess | None:
    """The process in this row of the busiest ones."""
    shown = _busiest(view.processes)[: max(0, height - 3)]
    return shown[y - 2] if 0 <= y - 2 < len(shown) else None


def _busiest(processes: Sequence[JobProcess]) -> list[JobProcess]:
    """In steps of 10 %: what is equally busy keeps its place from tick to tick."""
    return sorted(processes, key=lambda item: (-round((item.cpu_pct or 0) / 10), item.role != "rank", item.pid))


def _none(view: View) -> Line:
    why = "the job has ended" if view.job and view.job.has_ended else "no process seen yet"
    return Line(f"◌ {why}", "dim")


def _busiest_columns(view: View) -> list[Column[ProcessRow]]:
    shown = (fields.PID, fields.ROLE, fields.RANK, fields.CPU, fields.MEMORY, fields.STATE, fields.COMMAND)
    drawn: dict[str, Cell[ProcessRow]] = {
        fields.PID.id: lambda row, _: Line(str(row.process.pid), "dim"),
        fields.ROLE.id: lambda row, _: Line(row.process.role, "strong" if row.process.role == "rank" else "text"),
        fields.STATE.id: lambda row, _: Line(*marks.process_state(row.process.state)),
        fields.COMMAND.id: lambda row, width: _command_line(row.process, width),
    }
    return cells.columns("busiest", shown, view.levels, drawn)


def _columns(view: View) -> list[Column[TreeRow]]:
    """What distinguishes processes stays longest: a narrow terminal drops the highest number first."""

    def pid(row: TreeRow, width: int) -> Line:
        number = "" if row.folded_pid is not None else str(row.process.pid)
        return Line(f" {tags.glyph(view, row.processes)}", "accent").add(number.rjust(width - 2), "dim")

    values: dict[str, Cell[TreeRow]] = {field.id: partial(_value, field) for field in PROCESS.fields}
    drawn: dict[str, Cell[TreeRow]] = {
        fields.PID.id: pid,
        fields.ROLE.id: _role,
        fields.STATE.id: lambda row, _: Line(*marks.process_state(str(row.value(fields.STATE)))),
        fields.WCHAN.id: lambda row, _: Line(fields.WCHAN.written(row.value(fields.WCHAN)), "dim"),
        fields.COMMAND.id: _command,
    }
    return cells.columns("processes", PROCESS.fields, view.levels, values | drawn)


def _value(field: Field[ProcessRow], row: TreeRow, _: int) -> Line:
    return cells.plain(field.written(row.value(field)))


def _role(row: TreeRow, _: int) -> Line:
    line = Line(row.branch, "border")
    if row.folded_pid is not None:
        return line.add(row.name, "label")
    return line.add(row.name, "strong" if row.process.role in ("rank", "launcher") else "text")


def _command(row: TreeRow, width: int) -> Line:
    return Line(row.words, "dim") if row.words else _command_line(row.process, width)


def _command_line(process: JobProcess, width: int) -> Line:
    return Line(elide_middle(visible(process_view.command(process)), width), "dim")

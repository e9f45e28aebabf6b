"""The job's processes as a tree."""

from __future__ import annotations

from hwtop.job.launch.signals import fate
from hwtop.model.member import JobProcess
from hwtop.ui import order, process_view, units
from hwtop.ui.fields import STATES, state_word
from hwtop.ui.filter import told
from hwtop.ui.panels import detail
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import cells, elide_middle, visible

_ABOUT_FROM = 14
"""Rows of the panel from which the process under the cursor is told at length."""
_COMMAND_ROWS, _COMMAND_MOST = 3, 2000
"""Rows and characters of a command line."""
_ABOUT_ROWS = 2 + _COMMAND_ROWS
"""A rule, a row of facts, the command."""
_KEYS = (("Enter", "stack"), ("e", "environment"), ("l", "files"))
_CHANGING_KEYS = (("k", "signal"), ("d", "deep look"))
_HANDLED = ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2")


def draw(view: View, width: int, height: int) -> list[Line]:
    """The tree with the cursor in sight, or one process from inside."""
    if view.inside:
        return detail.draw(view, width, height)
    processes = view.job.processes if view.job else ()
    title = Line("Processes of the job", "title")
    if not processes:
        return box([_none(view)], width, height, title, Line())
    kept = process_view.kept(view)
    title.add(f"  {order.words(view)}" if order.words(view) else "", "dim")
    word = view.filters.get("processes", "")
    title.extend(told(word, len(kept), len(processes), "processes", process_view.query(view).problem))
    if not kept:
        return box([Line("◌ no process matches", "dim")], width, height, title, Line())
    columns = table.chosen(_columns(is_tree=view.process_order == "tree"), inner(width))
    cursor = process_view.place(view)
    about = _about(kept[cursor], inner(width), is_readonly=view.is_readonly) if height >= _ABOUT_FROM else []
    rows = shown(view, height)
    lines = [table.header(columns, order.marked(view))]
    for index in rows:
        line = table.row(columns, kept[index]).fitted(inner(width))
        lines.append(Line("▸" + line.text[1:], "cursor") if index == cursor else line)
    room = height - 2 - len(about)
    lines += [Line()] * (room - len(lines))
    note = Line(f"{len(processes)} processes, CPU 100% = one core", "dim")
    if len(rows) < len(kept):
        note = Line(f"{rows.start + 1}–{rows.stop} of {len(kept)}", "accent")
    return box(lines + about, width, height, title, note)


def shown(view: View, height: int) -> range:
    """Rows of `process_view.kept` that a panel of this height shows."""
    about = _ABOUT_ROWS if height >= _ABOUT_FROM else 0
    return table.around(len(process_view.kept(view)), height - 3 - about, process_view.place(view))


def hidden(view: View, width: int, height: int) -> int:
    """Rows out of sight, of what scrolls without a cursor."""
    return detail.hidden(view, width, height) if view.inside else 0


def _about(item: JobProcess, width: int, *, is_readonly: bool) -> list[Line]:
    """What the table has no room for, in `_ABOUT_ROWS` rows."""
    rule = _rule(item, width, is_readonly=is_readonly)
    facts = Line("threads ", "label").add(_threads(item), "text")
    if item.wchan:
        facts.add("   sleeps in ", "label").add(item.wchan, "text")
    facts.add("   handles ", "label").add(_handles(item), "text")
    text = visible(item.command[:_COMMAND_MOST])
    pieces: list[Line] = []
    while text and len(pieces) < _COMMAND_ROWS:
        piece = text if len(pieces) == _COMMAND_ROWS - 1 else _cut(text, width)
        pieces.append(Line(elide_middle(piece, width), "dim"))
        text = text[len(piece) :]
    return [rule, facts, *pieces, *[Line()] * (_COMMAND_ROWS - len(pieces))]


def _rule(item: JobProcess, width: int, *, is_readonly: bool) -> Line:
    """Whose facts follow, and the keys that are about it: the footer of a narrow terminal has no room for them."""
    name, keys = Line(f" PID {item.pid} ", "strong"), Line(" ")
    for key, word in _KEYS if is_readonly else (*_KEYS, *_CHANGING_KEYS):
        keys.add(key, "key").add(f" {word}  ", "label")
    if 4 + name.width + keys.width > width:
        keys = Line()
    line = Line("──", "border").extend(name)
    line.add("─" * max(0, width - line.width - keys.width - 1), "border")
    return line.extend(keys).add("─", "border")


def _cut(text: str, width: int) -> str:
    """The beginning of `text` that fits, up to a blank where there is one near the end."""
    length = min(len(text), width)
    while cells(text[:length]) > width:
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


def _columns(*, is_tree: bool) -> list[Column[JobProcess]]:
    """A PID has at most 7 digits; the cell before it is the cursor's."""
    return [
        Column("pid", 8, lambda item, _: Line(str(item.pid), "dim"), align="right"),
        Column("role", 22, _role if is_tree else _plain_role),
        Column(
            "rank", 4, lambda item, _: Line(units.UNKNOWN if item.rank is None else str(item.rank)), 2, align="right"
        ),
        Column("state", 11, _state),
        Column("CPU", 5, lambda item, _: _plain(units.pct(item.cpu_pct)), 1, align="right"),
        Column("mem", 5, lambda item, _: _plain(units.size(item.rss_bytes)), 1, align="right"),
        Column("threads", 7, lambda item, _: _plain(str(item.thread_count)), 5, align="right"),
        Column("read", 7, lambda item, _: _plain(units.rate(item.read_bytes_per_s)), 4, align="right"),
        Column("write", 7, lambda item, _: _plain(units.rate(item.written_bytes_per_s)), 5, align="right"),
        Column("files", 5, lambda item, _: _plain(units.count(item.fd_count)), 6, align="right"),
        Column("sleeps in", 18, lambda item, _: Line(item.wchan or units.UNKNOWN, "dim"), 3),
        Column("command", 20, lambda item, _: Line(item.command, "dim"), 7, grow=1),
    ]


def _plain(text: str) -> Line:
    return Line(text, "dim" if text == units.UNKNOWN else "text")


def _role(item: JobProcess, width: int) -> Line:
    branch = "  " * max(0, item.depth - 1) + ("└ " if item.depth else "")
    return Line(branch, "border").extend(_plain_role(item, width))


def _plain_role(item: JobProcess, _: int) -> Line:
    return Line(item.role, "strong" if item.role in ("rank", "launcher") else "text")


def _state(item: JobProcess, _: int) -> Line:
    return Line(*STATES.get(item.state, (item.state, "text")))

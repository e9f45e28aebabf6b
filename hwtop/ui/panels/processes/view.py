"""The rows of the processes page, and the one under the cursor. Pure; `reducers/processes.py` moves it."""

from __future__ import annotations

from hwtop.fields.process import ProcessRow, state_word
from hwtop.fields.process import rows as process_rows
from hwtop.model.member import JobProcess
from hwtop.ui.once import once
from hwtop.ui.panels.processes import tree as process_tree
from hwtop.ui.panels.processes.state import PROCESSES, TREE, ProcessesState
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.tables.query import Query, parse
from hwtop.ui.tables.tags import tag
from hwtop.ui.view import View


@once
def kept(view: View) -> tuple[JobProcess, ...]:
    """The processes that the filter lets through, in the order of the page."""
    found = query(view)
    kept = (row for row in process_rows(view.frame.derived) if found.lets(row))
    return tuple(row.process for row in PROCESSES.arranged(view, kept))


@once
def rows(view: View) -> tuple[TreeRow, ...]:
    """What is listed: each of `kept`, or in a whole tree some of them in one row."""
    is_tree = PROCESSES.order(view) == TREE
    if is_tree and not view.filter_of(PROCESSES.name):
        return process_tree.folded(view.state(ProcessesState).folds, kept(view))
    return process_tree.plain(kept(view), is_tree=is_tree)


@once
def query(view: View) -> Query[ProcessRow]:
    """The filter of the tree."""
    return parse(view.filter_of(PROCESSES.name), PROCESSES.fields, _text)


def _text(row: ProcessRow) -> str:
    """Where words are looked for."""
    item = row.process
    rank = "" if item.rank is None else f" rank {item.rank}"
    return f"{item.pid} {item.role}{rank} {state_word(item.state)} {item.user or ''} {item.wchan or ''} {item.command}"


def place(view: View) -> int:
    """Number of the row under the cursor: that of the chosen process, else of the selected rank, else the first."""
    return _place(view, rows(view))


def _place(view: View, listed: tuple[TreeRow, ...]) -> int:
    chosen = next((number for number, row in enumerate(listed) if holds(row, view.state(ProcessesState).pid)), None)
    if chosen is not None and listed[chosen].rank == view.selected:
        return chosen
    own = (number for number, row in enumerate(listed) if _is_of_rank(row, view.selected))
    return next(own, chosen if chosen is not None and view.selected is None else 0)


def holds(row: TreeRow, pid: int | None) -> bool:
    """Whether this process is one of the row's."""
    return pid is not None and any(item.pid == pid for item in row.processes)


def _is_of_rank(row: TreeRow, rank: int | None) -> bool:
    return any(item.role == "rank" and item.rank == rank for item in row.processes)


def row(view: View) -> TreeRow | None:
    """The row under the cursor."""
    listed = rows(view)
    return listed[_place(view, listed)] if listed else None


def selected(view: View) -> JobProcess | None:
    """The process under the cursor: of a folded branch the chosen one, else the first."""
    here = row(view)
    if here is None:
        return None
    return next((item for item in here.processes if item.pid == view.state(ProcessesState).pid), here.process)


def follows(view: View) -> bool:
    """Whether the process under the cursor is followed."""
    item, followed = selected(view), view.state(ProcessesState).followed
    return item is not None and tag(item) == followed


def command(item: JobProcess) -> str:
    """Its command line; the folder of the program distinguishes processes of one job least."""
    program, blank, arguments = item.command.partition(" ")
    return program.rsplit("/", 1)[-1] + blank + arguments

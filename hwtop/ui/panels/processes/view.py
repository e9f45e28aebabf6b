"""The rows of the processes page, the one under the cursor, and the way from one to the next. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.fields.process import PROCESS, ProcessRow, state_word
from hwtop.fields.process import rows as process_rows
from hwtop.job.launch.signals import title
from hwtop.model.member import JobProcess
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.panels.processes import tree as process_tree
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.tables import order
from hwtop.ui.tables.query import Query, parse
from hwtop.ui.view import TREE, Inside, View

_ENDED = frozenset("ZX")


@once
def kept(view: View) -> tuple[JobProcess, ...]:
    """The processes that the filter lets through, in the order of the page."""
    found = query(view)
    kept = [row for row in process_rows(view.frame.derived) if found.lets(row)]
    if view.page == "processes" and view.process_order != TREE:
        kept = list(order.sorted_rows(view, kept, PROCESS.named()[view.process_order]))
    return tuple(row.process for row in kept)


@once
def rows(view: View) -> tuple[TreeRow, ...]:
    """What is listed: each of `kept`, or in a whole tree some of them in one row."""
    is_tree = view.process_order == TREE
    if is_tree and not view.filters.get("processes"):
        return process_tree.folded(view, kept(view))
    return process_tree.plain(kept(view), is_tree=is_tree)


@once
def query(view: View) -> Query[ProcessRow]:
    """The filter of the tree."""
    return parse(view.filters.get("processes", ""), PROCESS.named(), _text)


def _text(row: ProcessRow) -> str:
    """Where words are looked for."""
    item = row.process
    rank = "" if item.rank is None else f" rank {item.rank}"
    return f"{item.pid} {item.role}{rank} {state_word(item.state)} {item.user or ''} {item.wchan or ''} {item.command}"


def place(view: View) -> int:
    """Number of the row under the cursor: that of the chosen process, else of the selected rank, else the first."""
    return _place(view, rows(view))


def _place(view: View, listed: tuple[TreeRow, ...]) -> int:
    chosen = next((number for number, row in enumerate(listed) if _holds(row, view.process)), None)
    if chosen is not None and listed[chosen].rank == view.selected:
        return chosen
    own = (number for number, row in enumerate(listed) if _is_of_rank(row, view.selected))
    return next(own, chosen if chosen is not None and view.selected is None else 0)


def _holds(row: TreeRow, pid: int | None) -> bool:
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
    return next((item for item in here.processes if item.pid == view.process), here.process)


def entered_branch(view: View) -> View | None:
    """The view with the folded branch under the cursor open; None where there is none."""
    here = row(view) if view.page == "processes" and not view.inside else None
    return turned(view, 1) if here is not None and here.folded_pid is not None else None


def moved(view: View, step: int) -> View:
    """The row `step` further down is under the cursor; with it its rank is selected on every page."""
    return chosen(view, place(view) + step)


def chosen(view: View, number: int) -> View:
    """This one of `rows` is under the cursor; a process that was followed is followed no longer."""
    listed = rows(view)
    if not listed:
        return view
    here = listed[max(0, min(len(listed) - 1, number))]
    if _holds(here, view.process) and here.rank == view.selected:
        return view
    return replace(view, process=here.process.pid, selected=here.rank, followed=None)


def turned(view: View, step: int) -> View:
    """The branch under the cursor open (1) or folded (-1); folded, its row is under the cursor."""
    here = row(view)
    if here is None:
        return view
    if view.process_order != TREE or view.filters.get("processes"):
        key = key_names.first("tree", view.keymap)
        return replace(view, note=f"branches are folded in the whole tree: {key}, without a filter")
    return process_tree.toggled(view, kept(view), here, step < 0)


def all_turned(view: View) -> View:
    """All branches open, or those of all ranks folded."""
    return process_tree.all_toggled(replace(view, process_order=TREE), view.job.processes) if view.job else view


def flattened(view: View) -> View:
    """A list instead of the tree, busiest first; or the tree again."""
    wanted = "cpu" if view.process_order == TREE else TREE
    return replace(view, process_order=wanted, reversed_pages=view.reversed_pages - {"processes"})


def follows(view: View) -> bool:
    """Whether the process under the cursor is followed."""
    item = selected(view) if view.followed else None
    return item is not None and (item.pid, item.start_ticks) == view.followed


def followed(view: View) -> View:
    """The process under the cursor is followed, or no longer: it stays there, and its end is reported."""
    here, item = row(view), selected(view)
    if here is None or item is None:
        return view
    if here.folded_pid is not None:
        key = key_names.first("right", view.keymap)
        return replace(view, note=f"one process can be followed, not a folded branch: {key} opens it")
    if follows(view):
        return replace(view, followed=None)
    return replace(view, followed=(item.pid, item.start_ticks), process=item.pid, selected=item.rank)


def watched(view: View, newer: View) -> View:
    """`newer`, the view on the next frame, with a word about the process that was followed and has ended."""
    if view.followed is None:
        return newer
    now = _find(newer)
    if now is not None and now.state not in _ENDED:
        return newer
    before = _find(view) or now
    name = title(before) if before else f"PID {view.followed[0]}"
    code = now.exit_code if now else None
    how = "" if code is None else f" with exit code {code}" if code >= 0 else f" by signal {-code}"
    return replace(newer, followed=None, note=f"{name}, which was followed, has ended{how}")


def _find(view: View) -> JobProcess | None:
    processes = view.job.processes if view.job else ()
    return next((item for item in processes if (item.pid, item.start_ticks) == view.followed), None)


def opened(view: View, inside: Inside) -> View:
    """The view into the process under the cursor, or back at the tree where it is open already."""
    if view.inside == inside and view.page == "processes":
        return closed(view)
    item = selected(view)
    if item is None:
        return view
    view = replace(view, process=item.pid, selected=item.rank)
    return replace(view, page="processes", inside=inside, scroll=0, is_following=True, mark=None)


def entered(view: View) -> View:
    """The view after another rank was selected: a look inside goes over to that rank's process."""
    item = selected(view) if view.page == "processes" and view.inside else None
    return view if item is None else replace(view, process=item.pid)


def command(item: JobProcess) -> str:
    """Its command line; the folder of the program distinguishes processes of one job least."""
    program, blank, arguments = item.command.partition(" ")
    return program.rsplit("/", 1)[-1] + blank + arguments


def closed(view: View) -> View:
    """The view back at the tree."""
    return replace(view, inside="", scroll=0)

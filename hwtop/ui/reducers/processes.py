"""Which process is under the cursor of the processes page, which branches are folded, what is seen from inside. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.job.launch.signals import title
from hwtop.model.member import JobProcess
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.processes import tree
from hwtop.ui.panels.processes.state import PROCESSES, TREE, Inside, ProcessesState
from hwtop.ui.panels.processes.view import follows, holds, kept, place, row, rows, selected
from hwtop.ui.tables.tags import tag
from hwtop.ui.view import View

_ENDED = frozenset("ZX")


def moved(view: View, step: int) -> View:
    """The row `step` further down is under the cursor; with it its rank is selected on every page."""
    return chosen(view, place(view) + step)


def chosen(view: View, number: int) -> View:
    """This one of `rows` is under the cursor; a process that was followed is followed no longer."""
    listed = rows(view)
    if not listed:
        return view
    here = listed[max(0, min(len(listed) - 1, number))]
    state = view.state(ProcessesState)
    if holds(here, state.pid) and here.rank == view.selected:
        return view
    return replace(view, selected=here.rank).with_state(replace(state, pid=here.process.pid, followed=None))


def expanded(view: View) -> View | None:
    """The view with the folded branch under the cursor open; None where there is none."""
    here = row(view) if not view.state(ProcessesState).inside else None
    return turned(view, 1) if here is not None and here.folded_pid is not None else None


def turned(view: View, step: int) -> View:
    """The branch under the cursor open (1) or folded (-1); folded, its row is under the cursor."""
    here, state = row(view), view.state(ProcessesState)
    if here is None:
        return view
    if state.order != TREE or view.filter_of(PROCESSES.name):
        key = key_names.first("tree", view.keymap)
        return replace(view, note=f"branches are folded in the whole tree: {key}, without a filter")
    changed = tree.toggled(kept(view), here, step < 0)
    return view.with_state(replace(state, folds={**state.folds, **changed}))


def all_turned(view: View) -> View:
    """All branches open, or those of all ranks folded."""
    if view.job is None:
        return view
    state, processes = view.state(ProcessesState), view.job.processes
    folds = tree.all_toggled(processes, tree.folded(state.folds, processes))
    return view.with_state(replace(state, order=TREE, folds=folds))


def flattened(view: View) -> View:
    """A list instead of the tree, busiest first; or the tree again."""
    state = view.state(ProcessesState)
    return view.with_state(replace(state, order="cpu" if state.order == TREE else TREE, is_reversed=False))


def followed(view: View) -> View:
    """The process under the cursor is followed, or no longer: it stays there, and its end is reported."""
    here, item, state = row(view), selected(view), view.state(ProcessesState)
    if here is None or item is None:
        return view
    if here.folded_pid is not None:
        key = key_names.first("right", view.keymap)
        return replace(view, note=f"one process can be followed, not a folded branch: {key} opens it")
    if follows(view):
        return view.with_state(replace(state, followed=None))
    return replace(view, selected=item.rank).with_state(replace(state, followed=tag(item), pid=item.pid))


def watched(view: View, newer: View) -> View:
    """`newer`, the view on the next frame, with a word about the process that was followed and has ended."""
    state = view.state(ProcessesState)
    if state.followed is None:
        return newer
    now = _find(newer)
    if now is not None and now.state not in _ENDED:
        return newer
    before = _find(view) or now
    name = title(before) if before else f"PID {state.followed[0]}"
    code = now.exit_code if now else None
    how = "" if code is None else f" with exit code {code}" if code >= 0 else f" by signal {-code}"
    newer = replace(newer, note=f"{name}, which was followed, has ended{how}")
    return newer.with_state(replace(newer.state(ProcessesState), followed=None))


def _find(view: View) -> JobProcess | None:
    processes = view.processes
    return next((item for item in processes if tag(item) == view.state(ProcessesState).followed), None)


def opened(view: View, inside: Inside) -> View:
    """The view into the process under the cursor, or back at the tree where it is open already."""
    state, item = view.state(ProcessesState), selected(view)
    if state.inside == inside:
        return closed(view)
    if item is None:
        return view
    return replace(view, selected=item.rank, scroll=0).with_state(replace(state, pid=item.pid, inside=inside))


def closed(view: View) -> View:
    """The view back at the tree."""
    return replace(view, scroll=0).with_state(replace(view.state(ProcessesState), inside=""))


def of_selected_rank(view: View) -> View:
    """The view after another rank was selected: a look inside goes over to that rank's process."""
    state = view.state(ProcessesState)
    item = selected(view) if state.inside else None
    return view if item is None else view.with_state(replace(state, pid=item.pid))

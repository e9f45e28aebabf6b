"""The processes page: the tree of the job's processes, and one of them from inside. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from hwtop.model.member import JobProcess
from hwtop.model.plan import UserFocus
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages import tabular
from hwtop.ui.pages.page import Cell, Page, PagePanel, PlacesOf, Reducer, Size, turned
from hwtop.ui.panels.processes import detail
from hwtop.ui.panels.processes import table as processes
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.panels.processes.state import PROCESSES, Inside, ProcessesState
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.reducers import processes as process_moves
from hwtop.ui.reducers import tables
from hwtop.ui.tables.filter import Hits
from hwtop.ui.view import View
from hwtop.ui.widgets.place import WIDE, Place, row

_ROWS, _SHARE_PCT = 34, 60
"""Between top and footer, from which the tree leaves room to others; what it keeps then."""


def _in_table(view: View, at: Cell, size: Size) -> View:
    """A click on a title sorts, one on a row selects."""
    if _inside_of(view):
        return view
    if at[1] == 1:
        return tables.sorted_by(view, PROCESSES, processes.column_at(view, at[0], size[0]))
    rows = processes.shown(view, size[1])
    return process_moves.chosen(view, rows[at[1] - 2]) if 0 <= at[1] - 2 < len(rows) else view


def _in_busiest(view: View, at: Cell, size: Size) -> View:
    found = processes.busiest_at(view, at[1], size[1])
    if found is None:
        return view
    return replace(view, selected=found.rank).with_state(replace(view.state(ProcessesState), pid=found.pid))


def _inside_of(view: View) -> Inside:
    return view.state(ProcessesState).inside


def _inside(what: Inside) -> Reducer:
    return lambda view, _: process_moves.opened(view, what)


def _of_rows(reduce: Reducer) -> Reducer:
    """Nothing while one process is shown from inside."""
    return lambda view, places: view if _inside_of(view) else reduce(view, places)


def _tag(view: View, _: PlacesOf) -> View:
    """The process or branch under the cursor, and on to the next one."""
    row = process_view.row(view)
    if row is None:
        return replace(view, note="nothing to tag")
    return tables.toggled(view, row.processes, process_moves.moved(view, 1))


class ProcessesPage(Page):
    """The rows of the tree, or the environment or open files of one process."""

    name = "processes"
    title = "Processes"
    tab = Action("processes", "9", "processes", "The tree of the job's processes")
    is_of_job = False
    panels = {
        "processes": PagePanel(processes.draw, click=_in_table, wheel=process_moves.moved, hidden=processes.hidden),
        "busiest": PagePanel(processes.draw_busiest, click=_in_busiest),
    }
    main = ("processes",)
    scrolling = ("processes",)
    actions = (
        Action("logs-or-files", "l", "logs", "Logs; on processes the open files", elsewhere="logs", is_global=True),
        Action("tree", "t,f5", "tree", "A flat list, busiest first, or the tree again"),
        Action("branches", "asterisk", "branches", "Expand all branches, or collapse those of ranks"),
        Action(
            "environment",
            "e",
            "environment",
            "Environment of the process, secrets masked",
            elsewhere="processes",
            is_about_rank=True,
        ),
    )
    keys = {
        **{action: _of_rows(reduce) for action, reduce in tabular.keys(PROCESSES).items()},
        "logs-or-files": _inside("files"),
        "tag": _of_rows(_tag),
        "tree": _of_rows(lambda view, _: process_moves.flattened(view)),
        "branches": _of_rows(lambda view, _: process_moves.all_turned(view)),
        "environment": _inside("env"),
        "follow": _of_rows(lambda view, _: process_moves.followed(view)),
    }
    lists = frozenset({"left", "right", "filter", "deep", "signal"})

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The tree; where it leaves much room, below it the stack of the rank under the cursor and the log."""
        room = bottom - top
        kept = room * _SHARE_PCT // 100
        if _inside_of(view) or width < WIDE or room < _ROWS or processes.wanted(view) > kept:
            return {"processes": Place(0, top, width, room)}
        below = row(("stack", "logs"), Place(0, top + kept, width, room - kept))
        return {"processes": Place(0, top, width, kept)} | below

    def entered(self, view: View) -> View:
        """At the tree."""
        return process_moves.closed(view)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """Another row, or a branch expanded or collapsed; inside of a process it scrolls."""
        if _inside_of(view):
            return self.scroll(view, down, places) if down else view
        return process_moves.turned(view, right) if right else process_moves.moved(view, down)

    def scroll(self, view: View, rows: int, places: PlacesOf) -> View:
        """The same."""
        return super().scroll(view, rows, places) if _inside_of(view) else process_moves.moved(view, rows)

    def text_panels(self, view: View) -> Collection[str]:
        """What is inside of a process."""
        return ("processes",) if _inside_of(view) else ()

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The branch expanded, or the stack of the rank."""
        if expanded := process_moves.expanded(view):
            return expanded
        return turned(view, "stacks") if view.selected is not None else view

    def back(self, view: View) -> View | None:
        """The tree."""
        return process_moves.closed(view) if _inside_of(view) and not self.filter(view) else None

    def is_open(self, view: View) -> bool:
        """One process is shown from inside."""
        return bool(_inside_of(view))

    def cleared(self, view: View) -> View:
        """No process is followed."""
        return view.with_state(replace(view.state(ProcessesState), followed=None))

    def offers(self, view: View) -> Sequence[Offer]:
        """Its keys in the footer."""
        ways = ((("environment",), "environment"), (("logs-or-files",), "files"))
        if _inside_of(view):
            return (("filter",), "filter"), *ways, (("previous-rank", "next-rank"), "rank")
        return (
            *ways,
            (("signal",), "signal"),
            (("tag",), "tag"),
            (("filter",), "filter"),
            (("deep",), "deep look"),
            (("order", "reverse"), "sort"),
        )

    def copied(self, view: View) -> str:
        """What is inside of a process."""
        return (detail.said(view) if _inside_of(view) else "") or super().copied(view)

    def subject(self, view: View) -> str:
        """What is shown of one process has a filter of its own."""
        return _inside_of(view) or self.name

    def hits(self, view: View) -> Hits | None:
        """Processes."""
        if _inside_of(view):
            return None
        total = len(view.job.processes) if view.job else 0
        return Hits(len(process_view.kept(view)), total, process_view.query(view).problem)

    def row(self, view: View) -> TreeRow | None:
        """The one under the cursor."""
        return process_view.row(view)

    def process(self, view: View) -> JobProcess | None:
        """The one under the cursor."""
        return process_view.selected(view)

    def rank_selected(self, view: View) -> View:
        """A look inside goes over to the process of that rank."""
        return process_moves.of_selected_rank(view)

    def user_focus(self, view: View) -> UserFocus:
        """The process that is shown from inside."""
        focus, state = super().user_focus(view), view.state(ProcessesState)
        return replace(focus, detail_pid=state.pid if state.inside else None)

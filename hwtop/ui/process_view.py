"""The process under the cursor of the processes page, and the way from one to the next. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.model.member import JobProcess
from hwtop.ui import fields, order
from hwtop.ui.query import Query, parse
from hwtop.ui.view import Inside, View


def kept(view: View) -> tuple[JobProcess, ...]:
    """The processes that the filter of the tree lets through, in its order."""
    processes = view.job.processes if view.job else ()
    if view.filters.get("processes"):
        found = query(view)
        processes = tuple(item for item in processes if found.lets(item))
    if view.page != "processes" or view.process_order == "tree":
        return processes
    field = fields.processes(view.job)[view.process_order]
    return order.arranged(view, processes, lambda item: field.read(item)[0])


def query(view: View) -> Query[JobProcess]:
    """The filter of the tree."""
    return parse(view.filters.get("processes", ""), fields.processes(view.job), fields.process_text)


def place(view: View) -> int:
    """Row of the cursor among `kept`: the chosen process, else that of the selected rank, else the first."""
    rows = kept(view)
    chosen = next((row for row, item in enumerate(rows) if item.pid == view.process), None)
    if chosen is not None and rows[chosen].rank == view.selected:
        return chosen
    own = (row for row, item in enumerate(rows) if item.role == "rank" and item.rank == view.selected)
    return next(own, chosen if chosen is not None and view.selected is None else 0)


def selected(view: View) -> JobProcess | None:
    """The process under the cursor."""
    rows = kept(view)
    return rows[place(view)] if rows else None


def moved(view: View, step: int) -> View:
    """The process `step` rows further down is under the cursor; with it its rank is selected on every page."""
    rows = kept(view)
    return chosen(view, place(view) + step) if rows else view


def chosen(view: View, row: int) -> View:
    """The process in this row of `kept` is under the cursor."""
    rows = kept(view)
    if not rows:
        return view
    item = rows[max(0, min(len(rows) - 1, row))]
    return replace(view, process=item.pid, selected=item.rank)


def opened(view: View, inside: Inside) -> View:
    """The view into the process under the cursor, or back at the tree where it is open already."""
    if view.inside == inside and view.page == "processes":
        return closed(view)
    item = selected(view)
    if item is None:
        return view
    view = replace(view, process=item.pid, selected=item.rank)
    return replace(view, page="processes", inside=inside, scroll=0, is_following=True, mark=None)


def followed(view: View) -> View:
    """The view after another rank was selected: a look inside goes over to that rank's process."""
    item = selected(view) if view.page == "processes" and view.inside else None
    return view if item is None else replace(view, process=item.pid)


def closed(view: View) -> View:
    """The view back at the tree."""
    return replace(view, inside="", scroll=0)

"""The nodes as the fleet page lists them, and the one under the cursor. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from hwtop.fields.node_row import NodeRow, problem, reporting
from hwtop.fields.node_row import rows as node_rows
from hwtop.fields.units import short_duration
from hwtop.model.fleet import NodeStatus
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.fleet.state import NODES, FleetState
from hwtop.ui.tables.query import Query, parse
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

_COUNTED: tuple[NodeStatus, ...] = ("connecting", "late", "lost", "failed", "ended")


class Slot(Struct, frozen=True):
    """A cell of a node: a GPU with its rank; where a node has no GPUs, a rank."""

    number: int
    """Of the GPU on its node, or of the rank."""
    gpu: Gpu | None
    rank: Rank | None


@once
def every(view: View) -> tuple[NodeRow, ...]:
    """All nodes, in the order of the launcher."""
    return tuple(node_rows(view.job_frame))


@once
def kept(view: View) -> tuple[NodeRow, ...]:
    """Those that the filter lets through, in the order of the table."""
    return NODES.arranged(view, filter(query(view).lets, every(view)))


@once
def query(view: View) -> Query[NodeRow]:
    """The filter of the fleet page."""
    return parse(view.filter_of(NODES.name), NODES.fields, _text)


def _text(row: NodeRow) -> str:
    """Where words are looked for."""
    ranks = " ".join(f"rank {rank.rank}" for rank in row.ranks)
    return f"{row.node.name} {row.node.status} {problem(row) or ''} {ranks}"


def place(view: View) -> int:
    """Of the node under the cursor among those kept; 0 where it is not among them."""
    name = view.state(FleetState).node
    return next((index for index, row in enumerate(kept(view)) if row.node.name == name), 0)


def selected(view: View) -> NodeRow | None:
    """The node under the cursor."""
    rows = kept(view)
    return rows[place(view)] if rows else None


def slots(row: NodeRow) -> tuple[Slot, ...]:
    """Its GPUs by number, each with the first of its ranks."""
    if not row.gpus:
        return tuple(Slot(rank.rank, None, rank) for rank in row.ranks)
    by_gpu: dict[int, Rank] = {}
    for rank in reversed(row.ranks):
        by_gpu.update(dict.fromkeys(rank.gpus, rank))
    return tuple(Slot(gpu.index, gpu, by_gpu.get(gpu.index)) for gpu in row.gpus)


@once
def short_names(view: View) -> tuple[str, dict[str, str]]:
    """What all names begin with, and name -> what is left of it; of "gpu-017.cluster" and its like "017"."""
    names = [row.node.name for row in every(view)]
    if len(names) < 2:
        return "", {name: name for name in names}
    head = _same_start(names).rstrip("0123456789")
    tail = _same_start([name[::-1] for name in names])[::-1]
    tail = tail[tail.index(".") :] if "." in tail else ""
    return head, {name: name[len(head) : len(name) - len(tail)] or name for name in names}


def _same_start(names: Sequence[str]) -> str:
    letters = takewhile(lambda each: len(set(each)) == 1, zip(*names, strict=False))
    return "".join(each[0] for each in letters)


def reported(view: View, *, is_short: bool = False) -> Line:
    """ "61 of 64 nodes", and where there is room what is with the others."""
    rows = every(view)
    counts = Counter(row.node.status for row in rows)
    is_whole = counts["reporting"] == len(rows)
    line = Line(reporting(view.job_frame.nodes), "strong" if is_whole else "warn")
    for status in () if is_short else _COUNTED:
        if counts[status]:
            glyph, role = marks.NODE_STATUS[status]
            line.add(f"  {glyph} {counts[status]} {status}", role)
    return line


def status(row: NodeRow, width: int = 0) -> Line:
    """Glyph, word, and for how long."""
    glyph, role = marks.NODE_STATUS[row.node.status]
    line = Line(f"{glyph} {row.node.status}", role)
    if row.node.status in ("late", "lost") and row.node.age_s is not None:
        line.add(f" {short_duration(row.node.age_s)}", role)
    return line if not width else line.fitted(width)


def sentence(view: View) -> str:
    """The node under the cursor, for the clipboard."""
    row = selected(view)
    if row is None:
        return view.job_frame.verdict.text
    found = problem(row)
    return f"{row.node.name}: {row.node.status}{f': {found}' if found else ''}"

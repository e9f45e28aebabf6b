"""The stacks of all ranks as one tree: the way they share, then the branches with who is in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hwtop.job.rank_set import rank_set
from hwtop.job.stacks.frames import is_user_frame, source_place
from hwtop.job.stacks.trie import TrieNode, trie
from hwtop.model.job import Job, StackGroup
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end, elide_middle, elide_path

_RANKS_WIDEST = 18
_NAME, _PLACE = 28, 34
"""Most cells of a function and of its place, where there is room for source text beside them."""
_CODE_LEAST = 12
_GAP = 2
_MARGIN = 9
"""Cells of the mark, the number of ranks and the blanks around them."""
_RUN = 3
"""From so many library frames in a row on, only their number is shown."""


class _Row(Struct, frozen=True):
    """One line of the tree."""

    branch: str
    """Lines drawn in front of the frame."""
    frame: StackFrame | None
    ranks: tuple[int, ...]
    is_first: bool
    """The first row of a way that only these ranks go."""
    hidden: int = 0
    """Library frames that this row stands for, where `frame` is None."""
    phase: Phase | None = None
    """Of the ranks that stand here."""


class _Columns(Struct, frozen=True):
    """Cells of what stands below one another in all rows."""

    ranks: int
    name: int
    """With the branch before it."""
    place: int


def wanted(view: View, _: int) -> int:
    """Rows for the whole tree, frame included."""
    return 2 + max(1, len(_rows(view.job.stacks.groups) if view.job else ()))


def draw(view: View, width: int, height: int) -> list[Line]:
    """As much of the tree as fits, with the selected rank's way in sight."""
    job = view.job
    title = Line("Where the ranks are", "title")
    rows = _rows(job.stacks.groups) if job else []
    if job is None or not rows:
        return box([Line(f"◌ {_why_empty(job)}", "dim")], width, height, title, Line())
    mine = _mine(view, rows)
    visible = _visible(rows, mine, height - 2)
    columns = _columns(rows, inner(width))
    codes = _codes(job)
    lines = [_line(rows[index], codes, columns, inner(width), is_mine=index in mine) for index in visible]
    groups = len(job.stacks.groups)
    note = Line(f"{groups} place{'s' * (groups != 1)}", "dim")
    if len(visible) < len(rows):
        note.add(f", rows {table.part(visible, len(rows))}", "accent")
    return box(lines, width, height, title, note)


def rank_at(view: View, y: int, height: int) -> int | None:
    """A rank of those whose way goes through this row: the one on screen, where that is among them."""
    rows = _rows(view.job.stacks.groups) if view.job else []
    visible = _visible(rows, _mine(view, rows), height - 2)
    if not 0 <= y - 1 < len(visible):
        return None
    ranks, shown = rows[visible[y - 1]].ranks, view.shown_rank
    return shown.rank if shown is not None and shown.rank in ranks else next(iter(ranks), None)


def _mine(view: View, rows: Sequence[_Row]) -> list[int]:
    """The rows on the way of the rank on screen."""
    rank = view.shown_rank
    return [index for index, row in enumerate(rows) if rank is not None and rank.rank in row.ranks]


def _visible(rows: Sequence[_Row], mine: Sequence[int], room: int) -> range:
    first = max(0, min(mine[-1] - room + 2, len(rows) - room)) if mine else 0
    return table.window(len(rows), room, first)


def _why_empty(job: Job | None) -> str:
    if job is None:
        return "no job"
    if job.has_ended:
        return "no stacks: the job has ended"
    return "no stacks: see the reason above" if job.stacks.errors else "no stacks yet"


@once
def _rows(groups: Sequence[StackGroup]) -> list[_Row]:
    phases = {group.ranks: group.phase for group in groups}
    return list(_walk(trie(groups), "", (), phases))


def _walk(
    nodes: Sequence[TrieNode], branch: str, above: tuple[int, ...], phases: dict[tuple[int, ...], Phase | None]
) -> Iterator[_Row]:
    for number, node in enumerate(nodes):
        is_last = number == len(nodes) - 1
        # A way parts where there are several, and where some ranks go no further.
        parts = len(nodes) > 1 or (bool(above) and node.ranks != above)
        head, below = (
            (branch + ("└ " if is_last else "├ "), branch + ("  " if is_last else "│ ")) if parts else ("", "")
        )
        chain = _chain(node)
        for index, row in enumerate(_shown(chain, phases)):
            is_first = index == 0 and node.ranks != above
            lead = (head if index == 0 else below) if parts else branch
            yield _Row(lead, row.frame, row.ranks, is_first, row.hidden, row.phase)
        yield from _walk(chain[-1].children, below if parts else branch, node.ranks, phases)


def _chain(node: TrieNode) -> list[TrieNode]:
    """The node and what follows as long as the same ranks go one way."""
    found = [node]
    while len(found[-1].children) == 1 and found[-1].children[0].ranks == node.ranks:
        found.append(found[-1].children[0])
    return found


def _shown(chain: Sequence[TrieNode], phases: dict[tuple[int, ...], Phase | None]) -> Iterator[_Row]:
    """A row a frame; long runs of library frames in one, the innermost frame of a way apart."""
    run: list[TrieNode] = []
    ends = not chain[-1].children
    for index, node in enumerate(chain):
        is_leaf = ends and index == len(chain) - 1
        if not is_user_frame(node.frame) and not is_leaf:
            run.append(node)
            continue
        yield from _run_of(run)
        run = []
        yield _Row("", node.frame, node.ranks, False, phase=phases.get(node.ranks) if is_leaf else None)
    yield from _run_of(run)


def _run_of(run: Sequence[TrieNode]) -> Iterator[_Row]:
    if len(run) >= _RUN:
        yield _Row("", None, run[0].ranks, False, hidden=len(run))
        return
    for node in run:
        yield _Row("", node.frame, node.ranks, False)


def _codes(job: Job) -> dict[tuple[str, int], str]:
    """(file, line) -> its text, from one rank of each group: normalised frames carry none."""
    firsts = {group.ranks[0] for group in job.stacks.groups}
    return {
        (frame.filename, frame.line): frame.code
        for rank in job.ranks
        if rank.rank in firsts and rank.stack.dump is not None
        for thread in rank.stack.dump.threads
        for frame in thread.frames
        if frame.code
    }


def _columns(rows: Sequence[_Row], width: int) -> _Columns:
    """As wide as what stands in them, so that the rest is left for source text."""
    ranks = min(_RANKS_WIDEST, width // 6, max(len(rank_set(row.ranks)) for row in rows))
    room = width - ranks - _MARGIN
    framed = [(row, row.frame) for row in rows if row.frame is not None]
    tail = max((_GAP + len(row.phase) for row, _ in framed if row.phase), default=0)
    names = max((cells(row.branch) + min(_NAME, cells(frame.name)) for row, frame in framed), default=0)
    name = min(names, max(10, (room - tail) * 2 // 5))
    places = max((cells(source_place(frame)) for _, frame in framed), default=0)
    return _Columns(ranks, name, min(_PLACE, places, max(6, room - name - _GAP - tail)))


def _line(row: _Row, codes: dict[tuple[str, int], str], columns: _Columns, width: int, *, is_mine: bool) -> Line:
    line = Line("▸ " if is_mine and row.is_first else "  ", "accent")
    ranks = elide_end(rank_set(row.ranks), columns.ranks) if row.is_first else ""
    count = str(len(row.ranks)) if row.is_first else ""
    line.add(f"{ranks:<{columns.ranks}} ", "strong").add(f"{count:>4}  ", "accent").add(row.branch, "border")
    if row.frame is None:
        return line.add(f"⋮ {row.hidden} library frames", "dim")
    is_user = is_user_frame(row.frame)
    name_cells = max(6, columns.name - cells(row.branch))
    name = elide_middle(row.frame.name, name_cells)
    line.extend(Line(name, "strong" if is_user else "dim").fitted(name_cells)).add(" " * _GAP)
    where = Line(elide_path(source_place(row.frame), columns.place), "accent" if is_user else "dim")
    line.extend(where.fitted(columns.place))
    if row.phase:
        line.add(" " * _GAP).add(row.phase, marks.PHASE[row.phase])
    code = codes.get((row.frame.filename, row.frame.line))
    code_room = width - line.width - _GAP
    if code and code_room >= _CODE_LEAST:
        line.add(" " * _GAP).add(elide_end(code, code_room), "dim")
    return line

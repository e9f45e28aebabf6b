"""The ranks: what each of them does, one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import asdict

from hwtop.fields import rank as fields
from hwtop.fields import units
from hwtop.fields.field import Field
from hwtop.fields.rank import RANK, RankRow
from hwtop.model.rank import Rank
from hwtop.model.reported.log import Severity
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.state import RANKS
from hwtop.ui.tables import cells, tags
from hwtop.ui.tables.cells import Cell
from hwtop.ui.tables.filter import reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar, stacked
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column


class Row(RankRow, frozen=True):
    """One rank with what the table needs to know of the rest of the frame."""

    blame: Severity | None = None
    """Of the weightiest finding that names this rank."""
    is_selected: bool = False
    tag: str = " "
    """`tags.GLYPH` where its process is tagged."""
    why: str = ""
    """Why it is in a list of ranks that differ."""


def wanted(view: View, width: int) -> int:
    """Rows for one line a rank, with titles and frame; where there are bars, with their legend."""
    return lines_wanted(view) + (bool(rank_view.ordered(view)) and _has_bars(view, width))


def lines_wanted(view: View) -> int:
    """Rows without the legend."""
    return 3 + max(1, len(rank_view.ordered(view)))


def least(view: View) -> int:
    """Rows for the titles and three ranks."""
    return min(6, lines_wanted(view))


def draw(view: View, width: int, height: int, *, is_own: bool = False) -> list[Line]:
    """The table, scrolled to the selected rank, else to the first that a finding points at. `is_own`: on the ranks page,
    with its order and always with the legend."""
    ranks = rank_view.ordered(view)
    title = heading(view, is_own=is_own)
    if not ranks:
        return box([none(view)], width, height, title, Line())
    columns = _chosen(view, width)
    has_legend = is_own or (_has_bars(view, width) and len(ranks) < height - 3)
    visible = shown(view, height - has_legend)
    lines = [table.header(columns, RANKS.marked(view) if is_own else None)]
    for index in visible:
        line = table.row(columns, row_of(view, ranks[index]))
        lines.append(line.recoloured("cursor") if ranks[index].rank == view.selected else line)
    if has_legend:
        lines.append(legend(ranks))
    note = Line() if is_own else Line(_cpu(ranks), "dim")
    if len(visible) < len(ranks):
        first = f"{visible.start + 1}–" if len(visible) > 1 else ""
        note = Line(f"{first}{visible.stop} of {len(ranks)}", "accent")
    return box(lines, width, height, title, note)


@once
def _chosen(view: View, width: int) -> list[tuple[Column[Row], int]]:
    """Those of all ranks, so that a filter moves none."""
    ranks = view.ranks
    absent = {
        *((fields.GPU.id,) if not any(rank.gpus for rank in ranks) else ()),
        *((fields.NODE.id,) if not any(rank.node for rank in ranks) else ()),
    }
    columns = cells.columns("ranks", RANK.fields, view.levels, _drawn(view))
    return table.chosen([MARK, *(column for column in columns if column.field not in absent)], inner(width))


def some(view: View, *shown: Field[RankRow]) -> list[Column[Row]]:
    """The mark, and these of the columns."""
    return [MARK, *cells.columns("ranks", shown, view.levels, _drawn(view))]


def _has_bars(view: View, width: int) -> bool:
    return any(column.field == fields.PHASES.id for column, _ in _chosen(view, width))


def column_at(view: View, x: int, width: int) -> str:
    """Title of the column at this cell of a panel of this width; "" between them."""
    return table.column_at(_chosen(view, width), x - (width - inner(width)) // 2)


def shown(view: View, height: int) -> range:
    """Which ranks, by their place in the order, a panel of `height` rows without legend shows."""
    ranks = rank_view.ordered(view)
    return table.around(len(ranks), max(1, height - 3), rank_view.place_of_focused(view, ranks))


def rank_at(view: View, y: int, height: int) -> int | None:
    """The rank whose row is at this place of a panel of this height without legend."""
    rows = shown(view, height)
    return rank_view.ordered(view)[rows[y - 2]].rank if 0 <= y - 2 < len(rows) else None


def heading(view: View, *, is_own: bool) -> Line:
    """The title; on the ranks page with the order and, where this box has only some of the job's ranks, how many."""
    title = Line("Ranks", "title").extend(tags.reported(view))
    job = view.job
    if job is None or not is_own:
        return title
    if job.world_size and job.world_size > len(job.ranks):
        title.add(f"  {len(job.ranks)} of {job.world_size} are on this box", "warn")
    if word := view.filter_of(RANKS.name):
        kept = len(rank_view.ordered(view))
        title.extend(reported(word, kept, len(job.ranks), "ranks", rank_view.query(view).problem))
    return title.add(f"  {RANKS.words(view)}", "dim").add(f"  {_cpu(job.ranks)}", "dim")


def _cpu(ranks: Sequence[Rank]) -> str:
    """What the column holds."""
    return "CPU with workers, 100% = one core" if any(rank.workers for rank in ranks) else "CPU 100% = one core"


def none(view: View) -> Line:
    """Why there is no rank to show."""
    if view.job and view.job.ranks:
        return Line("◌ no rank matches", "dim")
    words = "waiting for the first look at the job" if view.job is None else "no rank found under this PID yet"
    return Line("◌ ", "dim").add(words, "dim")


def row_of(view: View, rank: Rank, why: str = "") -> Row:
    """The row of one rank."""
    return Row(
        **asdict(rank_view.by_number(view)[rank.rank]),
        blame=_blame(view).get(rank.rank),
        is_selected=rank.rank == view.selected,
        tag=tags.glyph_of_rank(view, rank),
        why=why,
    )


@once
def _blame(view: View) -> dict[int, Severity]:
    """Rank -> severity of the weightiest finding that names it."""
    return {number: finding.severity for finding in reversed(view.frame.findings) for number in finding.ranks}


def legend(ranks: Sequence[Rank]) -> Line:
    """What the parts of a phase bar mean, and how many samples they rest on."""
    line = Line("phases ", "label")
    for role, (glyph, word) in marks.MIX.items():
        line.add(f" {glyph}{glyph} ", role).add(word, "dim")
    samples = sorted(rank.stack.samples for rank in ranks)
    if not samples or not samples[-1]:
        return line.add("   no samples", "dim")
    few, many = samples[0], samples[-1]
    return line.add(f"   {few if few == many else f'{few}–{many}'} sample{'s' * (many != 1)}", "text")


def mix(rank: Rank) -> list[tuple[float, str, str]]:
    """The phase shares of a rank by kind, in the fixed order of the legend: (share, role, glyph). Waits for other ranks inside of backward
    are waits, as in the column of that name."""
    sums = dict.fromkeys(marks.MIX, 0.0)
    for each in rank.stack.shares:
        sums[marks.PHASE[each.phase]] += each.share
    computes, waits = marks.PHASE["backward"], marks.PHASE["collective"]
    inside = min(sums[computes], max(0.0, (rank.stack.all_waits_share or 0.0) - sums[waits]))
    sums[computes], sums[waits] = sums[computes] - inside, sums[waits] + inside
    return [(share, role, marks.MIX[role][0]) for role, share in sums.items() if share]


def state(row: Row, _: int) -> Line:
    """Glyph, word and what makes it bad."""
    rank = row.rank
    glyph, role = marks.RANK_STATE[rank.state]
    line = Line(f"{glyph} {rank.state}", role)
    if rank.state == "dead" and rank.exit_code is not None:
        line.add(f" {ended_with(rank.exit_code)}", role)
    elif rank.state == "stopped" and rank.stall.stopped_for_s is not None:
        line.add(f" {units.short_duration(rank.stall.stopped_for_s)}", role)
    elif rank.state in ("stuck", "stalled") and rank.progress.step_age_s is not None:
        line.add(f" {units.short_duration(rank.progress.step_age_s)}", role)
    return line


def ended_with(exit_code: int | None) -> str:
    """ "exit 1" or "signal 9"."""
    if exit_code is None:
        return "exit code not known"
    return f"exit {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"


def worker_states(rank: Rank) -> Line:
    """How many loader workers are in each OS state: "3S 1D"."""
    if not rank.workers:
        return Line("0", "dim")
    line = Line()
    for letter, count in sorted(Counter(worker.state for worker in rank.workers).items()):
        line.add(" " if line.spans else "").add(f"{count}{letter}", "warn" if letter in "DTtZ" else "text")
    return line


def _mark(row: Row, _: int) -> Line:
    """Of the cursor, and of a finding: neither hides the other."""
    glyph, _word, role = marks.SEVERITY[row.blame] if row.blame is not None else (" ", "", "accent")
    return Line("▸" if row.is_selected else " ", "accent").add(glyph, role)


def _phase(row: Row, _: int) -> Line:
    shares = row.rank.stack.shares
    if shares:
        return Line(shares[0].phase, marks.PHASE[shares[0].phase]).add(f" {shares[0].share * 100:.0f}%", "text")
    return (
        Line(row.rank.stack.phase, marks.PHASE[row.rank.stack.phase])
        if row.rank.stack.phase
        else Line(units.UNKNOWN, "dim")
    )


def _phases(row: Row, width: int) -> Line:
    return stacked(mix(row.rank), width) if row.rank.stack.shares else bar(None, width)


def _drawn(view: View) -> dict[str, Cell[Row]]:
    """What cells are drawn with where that is more than the value."""

    def gpu(row: Row, _: int) -> Line:
        if not row.rank.gpus:
            return Line(units.UNKNOWN, "dim")
        role, _mark = cells.tone(fields.GPU_UTIL, row, view.levels, "good")
        return Line(",".join(map(str, row.rank.gpus)), "text").add(f" {units.pct(row.gpu_util_pct):>4}", role)

    return {
        fields.NUMBER.id: lambda row, width: Line(row.tag, "accent").add(f"{row.rank.rank:>{width - 1}}", "strong"),
        fields.PID.id: lambda row, _: Line(str(row.rank.pid), "dim"),
        fields.GPU.id: gpu,
        fields.STATE.id: state,
        fields.PHASE.id: _phase,
        fields.PHASES.id: _phases,
        fields.WORKERS.id: lambda row, _: worker_states(row.rank),
        fields.LAST_LINE.id: lambda row, _: Line(row.rank.log.last_line or "", "dim"),
    }


MARK: Column[Row] = Column("", 2, _mark)

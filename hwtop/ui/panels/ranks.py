"""The ranks: what each of them does, one line each."""

from __future__ import annotations

from dataclasses import dataclass

from hwtop.model.job import Rank
from hwtop.model.log import Severity
from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import stacked
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column


@dataclass(frozen=True)
class _Row:
    rank: Rank
    gpu_util_pct: float | None
    blame: Severity | None
    """Of the weightiest finding that names this rank."""
    is_selected: bool


def wanted(view: View, _: int) -> int:
    """Rows for one line a rank, with titles and frame."""
    return 3 + max(1, len(view.job.ranks) if view.job else 1)


def least(view: View) -> int:
    """Rows for the titles and three ranks."""
    return min(6, wanted(view, 0))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The table, scrolled to the selected rank, else to the first that a finding points at."""
    room = inner(width)
    job = view.job
    ranks = job.ranks if job else ()
    title = Line("Ranks", "title")
    if not ranks:
        words = "waiting for the first look at the job" if job is None else "no rank found under this PID yet"
        return box([Line("◌ ", "dim").add(words, "dim")], width, height, title, Line())
    columns = table.chosen(_columns(), room)
    rows = [_row(view, rank) for rank in ranks]
    visible = shown(view, height)
    lines = [table.header(columns)]
    for index in visible:
        line = table.row(columns, rows[index])
        lines.append(line.recoloured("cursor") if rows[index].is_selected else line)
    note = Line("CPU 100% = one core", "dim")
    if len(visible) < len(ranks):
        first = f"{visible.start + 1}–" if len(visible) > 1 else ""
        note = Line(f"{first}{visible.stop} of {len(ranks)}", "accent")
    return box(lines, width, height, title, note)


def shown(view: View, height: int) -> range:
    """Which ranks, by their place in the job, a panel of `height` rows shows."""
    ranks = view.job.ranks if view.job else ()
    wanted_rank = view.selected if view.selected is not None else next(iter(view.blamed), None)
    place = next((index for index, rank in enumerate(ranks) if rank.rank == wanted_rank), 0)
    return table.around(len(ranks), max(1, height - 3), place)


def _row(view: View, rank: Rank) -> _Row:
    gpus = [gpu for gpu in view.frame.moment.gpus if gpu.index in rank.gpus]
    utils = [gpu.util_pct for gpu in gpus if gpu.util_pct is not None]
    return _Row(
        rank=rank,
        gpu_util_pct=sum(utils) / len(utils) if utils else None,
        blame=next((finding.severity for finding in view.frame.findings if rank.rank in finding.ranks), None),
        is_selected=rank.rank == view.selected,
    )


def _columns() -> list[Column[_Row]]:
    return [
        Column("", 1, _mark),
        Column("rank", 4, lambda row, _: Line(str(row.rank.rank), "strong"), align="right"),
        Column("pid", 7, lambda row, _: Line(str(row.rank.pid), "dim"), 6, align="right"),
        Column("GPU", 7, _gpu, 4, align="right"),
        Column("state", 17, _state),
        Column("step", 9, _step, 1, align="right"),
        Column("s/step", 6, lambda row, _: _plain(units.step_time(row.rank.step_time_s)), 2, align="right"),
        Column("phase", 15, _phase, 1),
        Column("shares", 6, _shares, 8, grow=1, most=24),
        Column("CPU", 5, lambda row, _: _plain(units.pct(row.rank.tree_cpu_pct)), 3, align="right"),
        Column("mem", 5, lambda row, _: _plain(units.size(row.rank.rss_bytes)), 5, align="right"),
        Column("log", 4, _log_age, 3, align="right"),
        Column("workers", 7, _workers, 9, align="right"),
        Column("last line", 24, lambda row, _: Line(row.rank.last_line or "", "dim"), 10, grow=3),
    ]


def _plain(text: str) -> Line:
    return Line(text, "dim" if text == units.UNKNOWN else "text")


def _mark(row: _Row, _: int) -> Line:
    if row.is_selected:
        return Line("▸", "accent")
    if row.blame is None:
        return Line()
    glyph, _word, role = marks.SEVERITY[row.blame]
    return Line(glyph, role)


def _gpu(row: _Row, _: int) -> Line:
    if not row.rank.gpus:
        return Line(units.UNKNOWN, "dim")
    role, _low = marks.gpu_use(row.gpu_util_pct, is_training=True)
    return Line(",".join(map(str, row.rank.gpus)), "text").add(f" {units.pct(row.gpu_util_pct):>4}", role)


def _state(row: _Row, _: int) -> Line:
    rank = row.rank
    glyph, role = marks.RANK_STATE[rank.state]
    line = Line(f"{glyph} {rank.state}", role)
    if rank.state == "dead" and rank.exit_code is not None:
        line.add(f" exit {rank.exit_code}" if rank.exit_code >= 0 else f" signal {-rank.exit_code}", role)
    elif rank.state == "stopped" and rank.stopped_for_s is not None:
        line.add(f" {units.short_duration(rank.stopped_for_s)}", role)
    elif rank.state == "stuck" and rank.step_age_s is not None:
        line.add(f" {units.short_duration(rank.step_age_s)}", role)
    return line


def _step(row: _Row, _: int) -> Line:
    return _plain(units.count(row.rank.progress.step if row.rank.progress else None))


def _phase(row: _Row, _: int) -> Line:
    shares = row.rank.phase_shares
    if shares:
        return Line(shares[0].phase, marks.PHASE[shares[0].phase]).add(f" {shares[0].share * 100:.0f}%", "text")
    return Line(row.rank.phase, marks.PHASE[row.rank.phase]) if row.rank.phase else Line(units.UNKNOWN, "dim")


def _shares(row: _Row, width: int) -> Line:
    return stacked([(share.share, marks.PHASE[share.phase]) for share in row.rank.phase_shares], width)


def _log_age(row: _Row, _: int) -> Line:
    rank = row.rank
    text = units.short_duration(rank.log_age_s)
    is_late = (
        None not in (rank.log_age_s, rank.log_interval_s)
        and (rank.log_age_s or 0) > 5 * (rank.log_interval_s or 0) + 10
    )
    return Line(f"▲{text}", "warn") if is_late else _plain(text)


def _workers(row: _Row, width: int) -> Line:
    workers = row.rank.workers
    busy = sum((worker.cpu_pct or 0) > 80 for worker in workers)
    return Line(
        f"{busy}/{len(workers)} busy" if busy and width > 8 else str(len(workers)), "text" if workers else "dim"
    )

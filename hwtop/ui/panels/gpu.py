"""GPUs, one line each; or one line for all, or one for why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hwtop.job.rank_set import rank_set
from hwtop.model.frame import Frame
from hwtop.model.gpu import Gpu
from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.trend import blocks, trend

THROTTLE_WORDS = {
    "sw_power_cap": "power cap",
    "hw_slowdown": "HW SLOWDOWN",
    "sync_boost": "sync boost",
    "sw_thermal": "HOT",
    "hw_thermal": "HOT (hardware)",
    "hw_power_brake": "POWER BRAKE",
}
"""What holds clocks down; idle and settings of the user are no throttling. The capital ones are faults."""


_PAST_CELLS = 16
_HELD_LEAST, _HELD_MOST = 12, 26
"""Cells of what holds a clock down: as many as the longest entry needs, so that no word is cut."""
_ODD_PCT = 30
"""A device this far from the middle of all is told apart."""

_FAINT = {"good": "faint-good", "warn": "warn", "bad": "bad"}
"""Eight full trends below each other would outshine everything else."""


@dataclass(frozen=True)
class _Row:
    gpu: Gpu
    ranks: tuple[int, ...]
    past: tuple[float | None, ...]

    @property
    def is_training(self) -> bool:
        return bool(self.ranks)


def wanted(view: View, _: int) -> int:
    """Rows for one line a device, with titles and frame."""
    count = len(view.frame.moment.gpus)
    return count + 3 if count else 3


def draw(view: View, width: int, height: int) -> list[Line]:
    """The devices."""
    gpus = view.frame.moment.gpus
    room = inner(width)
    rows = [_Row(gpu, _ranks_of(view, gpu), past_util(view.frame, gpu.index)) for gpu in gpus]
    if not gpus:
        lines, note = [Line("◌ ", "dim").add(_reason(view), "dim")], Line()
    elif height < len(gpus) + 2:
        lines, note = [_summary(rows, room)], Line(_name(gpus), "dim")
    else:
        lines = _table(rows, room, has_header=height >= len(gpus) + 3, past=_past_title(view.frame))
        note = _health(gpus).add(_name(gpus), "dim")
    return box(lines, width, height, Line("GPUs", "title"), note)


def past_util(frame: Frame, index: int) -> tuple[float | None, ...]:
    """Utilization of device `index` at each moment of the history, percent."""
    return tuple(next((gpu.util_pct for gpu in moment.gpus if gpu.index == index), None) for moment in frame.history)


def _past_title(frame: Frame) -> str:
    """How far back the trends reach: the interval may have been changed on the way."""
    shown = frame.history[-2 * _PAST_CELLS :]
    period_s = (shown[-1].at_s - shown[0].at_s) / (len(shown) - 1) if len(shown) > 1 else frame.moment.interval_s
    return f"last {units.duration(round(2 * _PAST_CELLS * period_s))}"


def _ranks_of(view: View, gpu: Gpu) -> tuple[int, ...]:
    ranks = view.job.ranks if view.job else ()
    return tuple(rank.rank for rank in ranks if gpu.index in rank.gpus)


def _reason(view: View) -> str:
    for status in view.frame.moment.sources:
        if status.name == "gpu" and status.reason:
            return f"no GPU numbers: {status.reason}"
    return next(
        (f"no GPU numbers: {b.reason}" for b in view.frame.blind if b.source == "gpu"), "no GPU on this machine"
    )


def _health(gpus: tuple[Gpu, ...]) -> Line:
    """A driver that hangs or is slow, in words: the numbers below are those it gave last."""
    late = tuple(gpu.index for gpu in gpus if gpu.status == "stale")
    if not late:
        return Line()
    who = "driver" if len(late) == len(gpus) else f"GPU {rank_set(late)}"
    return Line(f"{who} does not answer in time", "warn").add(" ─ ", "border")


def _name(gpus: tuple[Gpu, ...]) -> str:
    names = dict.fromkeys(gpu.name for gpu in gpus)
    return f"{len(gpus)} × {next(iter(names))}" if len(names) == 1 else f"{len(gpus)} of {len(names)} kinds"


def _table(rows: list[_Row], width: int, *, has_header: bool, past: str) -> list[Line]:
    held = max(sum(len(word) + 2 for word in _held_back(row.gpu)) - 2 for row in rows)
    columns = table.chosen(_columns(past, max(_HELD_LEAST, min(_HELD_MOST, held))), width)
    lines = [table.header(columns)] if has_header else []
    for row in rows:
        if row.gpu.status in ("lost", "error"):
            word = "LOST" if row.gpu.status == "lost" else "ERROR"
            ranks = f"  (rank {rank_set(row.ranks)})" if row.ranks else ""
            lines.append(Line(f"✖ {row.gpu.index:>3}  {word}{ranks}  {row.gpu.reason or 'no reason given'}", "bad"))
            continue
        lines.append(_stale(columns, row, width) if row.gpu.status == "stale" else table.row(columns, row))
    return lines


def _stale(columns: Sequence[tuple[Column[_Row], int]], row: _Row, width: int) -> Line:
    """What was read last, in one quiet colour, and how old it is in place of the last columns."""
    note = Line(f"stale {units.duration(row.gpu.age_s)}", "warn")
    kept = list(columns)
    while kept and sum(size + table.GAP for _, size in kept) + note.width > width:
        kept.pop()
    return table.row(kept, row).recoloured("dim").add(" " * table.GAP).extend(note)


def _columns(past: str, held: int) -> list[Column[_Row]]:
    return [
        Column("", 1, _mark),
        Column("GPU", 3, lambda row, _: Line(str(row.gpu.index), "strong"), align="right"),
        Column(
            "rank",
            4,
            lambda row, _: Line(rank_set(row.ranks) or units.UNKNOWN, _dim_if(not row.ranks)),
            3,
            align="right",
        ),
        Column("util", 4, _util, align="right"),
        Column("0–100%", 8, _util_bar, 4, grow=2, most=24),
        Column(past, _PAST_CELLS, _past, 7),
        Column("memory", 11, _memory, 1, align="right"),
        Column("", 6, _memory_bar, 8, grow=1, most=12),
        Column("power", 9, _power, 2, align="right"),
        Column("temp", 5, _temp, 2, align="right"),
        Column("clock", 7, _clock, 5, align="right"),
        Column("held back by", held, _throttle, 3),
        Column("PCIe", 6, _pcie, 9),
    ]


def _dim_if(condition: bool) -> str:
    return "dim" if condition else "text"


def _mark(row: _Row, _: int) -> Line:
    if any(THROTTLE_WORDS.get(reason, "").isupper() for reason in row.gpu.throttle or ()):
        return Line("▲", "warn")
    if row.gpu.status == "stale":
        return Line("◌", "warn")
    role, mark = marks.gpu_use(row.gpu.util_pct, row.is_training)
    return Line(mark, role)


def _util(row: _Row, _: int) -> Line:
    return Line(units.pct(row.gpu.util_pct), marks.gpu_use(row.gpu.util_pct, row.is_training)[0])


def _util_bar(row: _Row, width: int) -> Line:
    util = row.gpu.util_pct
    return bar(None if util is None else util / 100, width, marks.gpu_use(util, row.is_training)[0])


def _past(row: _Row, width: int) -> Line:
    return trend(row.past, width, 1, 100, lambda value: _FAINT.get(marks.gpu_use(value, row.is_training)[0], "dim"))[0]


def _memory_share(gpu: Gpu) -> float | None:
    return gpu.mem_used_bytes / gpu.mem_total_bytes if gpu.mem_used_bytes is not None and gpu.mem_total_bytes else None


def _memory(row: _Row, _: int) -> Line:
    if row.gpu.mem_used_bytes is None:
        return Line(units.UNKNOWN, "dim")
    share = _memory_share(row.gpu)
    role, mark = marks.high(None if share is None else share * 100, 95, 99)
    role = "text" if role == "good" else role
    text = f"{units.size(row.gpu.mem_used_bytes)}/{units.size(row.gpu.mem_total_bytes)}"
    return Line(mark.strip() + text, role)


def _memory_bar(row: _Row, width: int) -> Line:
    return bar(_memory_share(row.gpu), width, "info")


def _power(row: _Row, _: int) -> Line:
    gpu = row.gpu
    if gpu.power_w is None:
        return Line(units.UNKNOWN, "dim")
    limit = "" if gpu.power_limit_w is None else f"/{gpu.power_limit_w:.0f}"
    return Line(f"{gpu.power_w:.0f}").add(f"{limit}W", "dim")


def _temp(row: _Row, _: int) -> Line:
    if row.gpu.temp_c is None:
        return Line(units.UNKNOWN, "dim")
    role, mark = marks.high(row.gpu.temp_c, 83, 90)
    return Line(f"{mark.strip()}{row.gpu.temp_c:.0f}°C", "text" if role == "good" else role)


def _clock(row: _Row, _: int) -> Line:
    clock = row.gpu.sm_clock_mhz
    return Line(units.UNKNOWN, "dim") if clock is None else Line(f"{clock:.0f}").add("MHz", "dim")


def _held_back(gpu: Gpu) -> list[str]:
    return [THROTTLE_WORDS[reason] for reason in gpu.throttle or () if reason in THROTTLE_WORDS]


def _throttle(row: _Row, width: int) -> Line:
    if row.gpu.throttle is None:
        return Line(units.UNKNOWN, "dim")
    words = _held_back(row.gpu)
    if not words:
        return Line("nothing", "dim")
    for count in range(len(words), 1, -1):
        more = f" +{len(words) - count}" if count < len(words) else ""
        if len(text := ", ".join(words[:count]) + more) <= width:
            return Line(text, "warn")
    return Line(words[0] + (f" +{len(words) - 1}" if len(words) > 1 else ""), "warn")


def _pcie(row: _Row, _: int) -> Line:
    gpu = row.gpu
    if gpu.pcie_gen is None or gpu.pcie_width is None:
        return Line(units.UNKNOWN, "dim")
    is_narrow = gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    return Line(f"{gpu.pcie_gen}×{gpu.pcie_width}{'▼' if is_narrow else ''}", "warn" if is_narrow else "dim")


def _summary(rows: list[_Row], width: int) -> Line:
    """All devices in one line, the telling things first: who is not well or differs, a block each, the range of the
    use, the rest as far as there is room."""
    is_training = any(row.is_training for row in rows)
    utils = [row.gpu.util_pct for row in rows if row.gpu.util_pct is not None and row.gpu.status in ("ok", "stale")]
    shape = Line(f"{len(rows)} GPUs ", "label")
    shape.extend(blocks([row.gpu.util_pct for row in rows], 100, lambda value: marks.gpu_use(value, is_training)[0]))
    parts = [*_unwell(rows), *_odd(rows, utils, is_training), shape]
    if utils:
        role, mark = marks.gpu_use(sum(utils) / len(utils), is_training)
        use = Line(f"{mark.strip()}util {sum(utils) / len(utils):.0f}%", role)
        parts.append(use.add(f" ({min(utils):.0f}–{max(utils):.0f})", "dim"))
    fullest = max((share for row in rows if (share := _memory_share(row.gpu)) is not None), default=None)
    if fullest is not None:
        parts.append(Line("memory ", "label").add(f"{fullest * 100:.0f}%"))
    power = [row.gpu.power_w for row in rows if row.gpu.power_w is not None]
    if power:
        parts.append(Line("power ", "label").add(f"{sum(power):.0f}W"))
    temps = [row.gpu.temp_c for row in rows if row.gpu.temp_c is not None]
    if temps:
        parts.append(Line(f"{max(temps):.0f}°C"))
    line = parts[0]
    for part in parts[1:]:
        if line.width + 2 + part.width <= width:
            line.add("  ").extend(part)
    return line


def _unwell(rows: list[_Row]) -> list[Line]:
    found: list[Line] = []
    for word, mark, role in (("lost", "✖", "bad"), ("error", "✖", "bad"), ("stale", "◌", "warn")):
        bad = tuple(row.gpu.index for row in rows if row.gpu.status == word)
        if bad:
            found.append(Line(f"{mark} GPU {rank_set(bad)} {word.upper()}", role))
    return found


def _odd(rows: list[_Row], utils: list[float], is_training: bool) -> list[Line]:
    """The few whose use is far from that of the others: their mean hides them."""
    if len(utils) < 3:
        return []
    middle = median(utils)
    odd = [
        (row.gpu.index, row.gpu.util_pct)
        for row in rows
        if row.gpu.util_pct is not None and row.gpu.status == "ok" and abs(row.gpu.util_pct - middle) > _ODD_PCT
    ]
    if not odd or 2 * len(odd) >= len(utils):
        return []
    role, mark = marks.gpu_use(min(util for _, util in odd), is_training)
    if len(odd) <= 2:
        return [Line(f"{mark.strip()}GPU {index} at {util:.0f}%", role) for index, util in odd]
    numbers = rank_set(tuple(index for index, _ in odd))
    least, most = min(util for _, util in odd), max(util for _, util in odd)
    return [Line(f"{mark.strip()}GPU {numbers} at {least:.0f}–{most:.0f}%", role)]

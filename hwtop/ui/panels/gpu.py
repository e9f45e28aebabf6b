"""GPUs, one line each; or one line for all, or one for why there are none."""

from __future__ import annotations

from dataclasses import dataclass

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
        lines, note = _summary(rows), _health(gpus)
    else:
        lines = _table(rows, room, has_header=height >= len(gpus) + 3, period_s=view.frame.moment.interval_s)
        note = _health(gpus).add(_name(gpus), "dim")
    return box(lines, width, height, Line("GPUs", "title"), note)


def past_util(frame: Frame, index: int) -> tuple[float | None, ...]:
    """Utilization of device `index` at each moment of the history, percent."""
    return tuple(next((gpu.util_pct for gpu in moment.gpus if gpu.index == index), None) for moment in frame.history)


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
    who = "driver" if len(late) == len(gpus) else f"GPU {units.ranks(late)}"
    return Line(f"{who} does not answer in time", "warn").add(" ─ ", "border")


def _name(gpus: tuple[Gpu, ...]) -> str:
    names = dict.fromkeys(gpu.name for gpu in gpus)
    return f"{len(gpus)} × {next(iter(names))}" if len(names) == 1 else f"{len(gpus)} of {len(names)} kinds"


def _table(rows: list[_Row], width: int, *, has_header: bool, period_s: float) -> list[Line]:
    columns = table.chosen(_columns(period_s), width)
    lines = [table.header(columns)] if has_header else []
    for row in rows:
        if row.gpu.status in ("lost", "error"):
            word = "LOST" if row.gpu.status == "lost" else "ERROR"
            ranks = f"  (rank {units.ranks(row.ranks)})" if row.ranks else ""
            lines.append(Line(f"✖ {row.gpu.index:>3}  {word}{ranks}  {row.gpu.reason or 'no reason given'}", "bad"))
            continue
        line = table.row(columns, row)
        if row.gpu.status == "stale":
            note = Line(f"  stale {units.duration(row.gpu.age_s)}", "warn")
            line = line.recoloured("dim").fitted(width - note.width).extend(note)
        lines.append(line)
    return lines


def _columns(period_s: float) -> list[Column[_Row]]:
    return [
        Column("", 1, _mark),
        Column("GPU", 3, lambda row, _: Line(str(row.gpu.index), "strong"), align="right"),
        Column(
            "rank",
            4,
            lambda row, _: Line(units.ranks(row.ranks) or units.UNKNOWN, _dim_if(not row.ranks)),
            3,
            align="right",
        ),
        Column("util", 4, _util, align="right"),
        Column("0–100%", 8, _util_bar, 4, grow=2, most=24),
        Column(f"last {units.duration(32 * period_s)}", 16, _past, 7, grow=1, most=16),
        Column("memory", 11, _memory, 1, align="right"),
        Column("", 6, _memory_bar, 8, grow=1, most=12),
        Column("power", 9, _power, 2, align="right"),
        Column("temp", 5, _temp, 2, align="right"),
        Column("clock", 7, _clock, 5, align="right"),
        Column("held back by", 12, _throttle, 3, grow=1, most=22),
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
    share = _memory_share(row.gpu)
    role, mark = marks.high(None if share is None else share * 100, 95, 99)
    role = "text" if role == "good" else role
    text = f"{units.size(row.gpu.mem_used_bytes)}/{units.size(row.gpu.mem_total_bytes)}"
    return Line(mark.strip() + text, role)


def _memory_bar(row: _Row, width: int) -> Line:
    return bar(_memory_share(row.gpu), width, "info")


def _power(row: _Row, _: int) -> Line:
    gpu = row.gpu
    power = units.UNKNOWN if gpu.power_w is None else f"{gpu.power_w:.0f}"
    limit = units.UNKNOWN if gpu.power_limit_w is None else f"{gpu.power_limit_w:.0f}"
    return Line(power, _dim_if(gpu.power_w is None)).add(f"/{limit}W", "dim")


def _temp(row: _Row, _: int) -> Line:
    if row.gpu.temp_c is None:
        return Line(units.UNKNOWN, "dim")
    role, mark = marks.high(row.gpu.temp_c, 83, 90)
    return Line(f"{mark.strip()}{row.gpu.temp_c:.0f}°C", "text" if role == "good" else role)


def _clock(row: _Row, _: int) -> Line:
    clock = row.gpu.sm_clock_mhz
    return Line(units.UNKNOWN, "dim") if clock is None else Line(f"{clock:.0f}").add("MHz", "dim")


def _throttle(row: _Row, _: int) -> Line:
    words = [THROTTLE_WORDS[reason] for reason in row.gpu.throttle or () if reason in THROTTLE_WORDS]
    if row.gpu.throttle is None:
        return Line(units.UNKNOWN, "dim")
    return Line(", ".join(words), "warn") if words else Line("nothing", "dim")


def _pcie(row: _Row, _: int) -> Line:
    gpu = row.gpu
    if gpu.pcie_gen is None or gpu.pcie_width is None:
        return Line(units.UNKNOWN, "dim")
    is_narrow = gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    return Line(f"{gpu.pcie_gen}×{gpu.pcie_width}{'▼' if is_narrow else ''}", "warn" if is_narrow else "dim")


def _summary(rows: list[_Row]) -> list[Line]:
    """All devices in one line: a block each, the range of the use, the memory, and what is not well."""
    answering = [row for row in rows if row.gpu.status in ("ok", "stale") and row.gpu.util_pct is not None]
    utils = [row.gpu.util_pct or 0.0 for row in answering]
    is_training = any(row.is_training for row in rows)
    line = Line(f"{len(rows)} GPUs  ", "label")
    line.extend(blocks([row.gpu.util_pct for row in rows], 100, lambda value: marks.gpu_use(value, is_training)[0]))
    if utils:
        role, mark = marks.gpu_use(sum(utils) / len(utils), is_training)
        line.add(f"  {mark.strip()}util {sum(utils) / len(utils):.0f}%", role)
        line.add(f" ({min(utils):.0f}–{max(utils):.0f})", "dim")
    fullest = max((share for row in rows if (share := _memory_share(row.gpu)) is not None), default=None)
    if fullest is not None:
        line.add("  memory ", "label").add(f"{fullest * 100:.0f}%")
    power = [row.gpu.power_w for row in rows if row.gpu.power_w is not None]
    if power:
        line.add("  power ", "label").add(f"{sum(power):.0f}W")
    temps = [row.gpu.temp_c for row in rows if row.gpu.temp_c is not None]
    if temps:
        line.add("  ").add(f"{max(temps):.0f}°C")
    for word in ("lost", "error", "stale"):
        bad = tuple(row.gpu.index for row in rows if row.gpu.status == word)
        if bad:
            # In front: it is the one thing not to miss when the line is cut.
            line = Line(f"✖ GPU {units.ranks(bad)} {word.upper()}  ", "bad" if word != "stale" else "warn").extend(line)
    return [line]

"""The processor: use, waits, cores, load, pressure, and the limits of the job's cgroup."""

from __future__ import annotations

from hwtop.ui import host_view, marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.trend import blocks, trend


def wanted(view: View, width: int) -> int:
    """Rows for everything, frame included."""
    return 2 + len(_facts(view, inner(width))) + _TREND_MOST


def least(view: View, width: int) -> int:
    """Rows for everything with half the trend."""
    return wanted(view, width) - _TREND_MOST // 2


_TREND_MOST = 8
_GAP = "  "
MORE = 8
"""Rows that the trend takes beyond that where they are left over."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """Facts by weight; a trend on a scale of 0 to 100 % where there is room for it."""
    room = inner(width)
    facts = _facts(view, room)
    spare = height - 2 - len(facts)
    lines = facts
    if spare >= 2:
        rows = min(_TREND_MOST + MORE, spare)
        lines = [*facts[:1], *_trend(view, room, rows), *facts[1:]]
    cpu = view.frame.moment.cpu
    note = Line(f"{cpu.count} cores" if cpu else "", "dim")
    return box(lines, width, height, Line("CPU", "title"), note)


def _facts(view: View, room: int) -> list[Line]:
    cpu = view.frame.moment.cpu
    if cpu is None:
        return [Line("◌ no numbers yet", "dim")]
    lines = [_gauge("busy", cpu.util_pct, room)]
    waits = Line()
    for word, value, limits in (
        ("iowait", cpu.iowait_pct, host_view.STALLED),
        ("steal", cpu.steal_pct, host_view.STOLEN),
    ):
        role, mark = marks.high(value, *limits)
        waits.add(f"{word} ", "label").add(f"{mark.strip()}{units.pct(value)}", "text" if role == "good" else role).add(
            "  "
        )
    if cpu.freq_mhz and room >= 32:
        waits.add(f"{cpu.freq_mhz / 1000:.1f}GHz", "dim")
    is_long = host_view.queued_pct(cpu, view.frame.moment.cores) >= host_view.QUEUED
    load = Line("load ", "label").add(f"{'▲' * is_long}{cpu.load[0]:.1f}", "warn" if is_long else "text")
    load.add(f" on {view.frame.moment.cores:g}", "dim").add("  run ", "label").add(str(cpu.running))
    if cpu.blocked:
        load.add("  blocked ", "label").add(f"▲{cpu.blocked}", "warn")
    lines += [waits, load, *_limit(view), *_pressure(view, room), *_cores(view, room)]
    return lines


def _gauge(word: str, value: float | None, room: int) -> Line:
    role = "dim" if value is None else _load_role(value)
    mark = "▲" if role == "warn" else ""
    tail = Line(f" {mark}{units.pct(value)}", role).fitted(6, "right")
    return Line(f"{word:<7}", "label").extend(bar(None if value is None else value / 100, room - 13, role)).extend(tail)


def _load_role(util_pct: float) -> str:
    """Busy cores are what a job pays for: full is worth a look, not an alarm."""
    return "warn" if util_pct >= host_view.CPU_FULL else "info"


def _limit(view: View) -> list[Line]:
    cgroup = view.frame.moment.cgroup
    if cgroup is None or cgroup.cpu_quota_cores is None:
        return []
    line = Line("limit ", "label").add(f"{cgroup.cpu_quota_cores:g} cores")
    role, mark = marks.high(cgroup.throttled_periods_pct, *host_view.THROTTLED)
    value = f"{mark.strip()}{units.pct(cgroup.throttled_periods_pct)}"
    return [line.add("  throttled ", "label").add(value, "text" if role == "good" else role)]


def _pressure(view: View, room: int) -> list[Line]:
    cpu = view.frame.moment.cpu
    if cpu is None or not cpu.psi:
        return []
    line = Line("stalled" if room >= 34 else "psi", "label")
    for resource, word in (("cpu", "cpu"), ("io", "io"), ("memory", "mem")):
        pressure = cpu.psi.get(resource)
        some = pressure.some.avg10_pct if pressure and pressure.some else None
        role, mark = marks.high(some, *host_view.stall_limits(resource))
        line.add(f" {word} ", "dim").add(f"{mark.strip()}{units.pct(some)}", "text" if role == "good" else role)
    return [line]


def _cores(view: View, room: int) -> list[Line]:
    cpu = view.frame.moment.cpu
    if cpu is None or not cpu.cores:
        return []
    utils = [core.util_pct for core in cpu.cores]
    full = sum(util >= 90 for util in utils)
    words = Line("cores ", "label").add(f"{full} of {len(utils)} full")
    words.add(f"  hottest {max(utils):.0f}%" if room >= 34 else "", "dim")
    if words.width + len(_GAP) + len(utils) <= room:
        return [words.add(_GAP).extend(blocks(utils, 100, _load_role))]
    if len(utils) > 3 * room:
        return [words]
    return [words, *(blocks(utils[start : start + room], 100, _load_role) for start in range(0, len(utils), room))]


def _trend(view: View, room: int, rows: int) -> list[Line]:
    values = [moment.cpu.util_pct if moment.cpu else None for moment in view.frame.history]
    drawn = trend(values, room - 5, rows, 100, _load_role)
    labels = ["100%", *["    "] * (rows - 2), "  0%"]
    return [Line(f"{label} ", "dim").extend(line) for label, line in zip(labels, drawn, strict=True)]

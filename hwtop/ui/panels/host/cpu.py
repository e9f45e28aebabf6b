"""The panel "cpu" of the overview (the CPU in full, on the host page, is `cpu_block.py`): use, waits, cores, load, pressure, and
the limits of the job's cgroup."""

from __future__ import annotations

from functools import partial

from hwtop.fields import host
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.host import cores as host_cores
from hwtop.ui.panels.host.cpu_block import load
from hwtop.ui.tables import cells
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
    cpu = view.frame.derived.cpu
    note = Line(f"{cpu.count} cores" if cpu else "", "dim")
    return box(lines, width, height, Line("CPU", "title"), note)


@once
def _facts(view: View, room: int) -> list[Line]:
    cpu = view.frame.derived.cpu
    if cpu is None:
        return [Line("◌ no numbers yet", "dim")]
    derived, levels = view.frame.derived, view.levels
    tail = Line(" ").extend(cells.number(host.CPU, derived, levels, "info")).fitted(6, "right")
    share = None if cpu.util_pct is None else cpu.util_pct / 100
    role = cells.tone(host.CPU, derived, levels, "info")[0]
    busy = Line(f"{host.CPU.label:<7}", "label").extend(bar(share, room - 13, role)).extend(tail)
    waits = Line()
    for field in (host.IOWAIT, host.STEAL):
        waits.extend(cells.labelled(field, derived, levels)).add("  ")
    if cpu.freq_mhz and room >= 32:
        waits.add(f"{cpu.freq_mhz / 1000:.1f}GHz", "dim")
    queue = load(view).add("  run ", "label").add(host.RUNNABLE.text(derived))
    if cpu.blocked:
        queue.add("  ").extend(cells.labelled(host.BLOCKED, derived, levels))
    return [busy, waits, queue, *_limit(view), *_pressure(view, room), *_cores(view, room)]


def _limit(view: View) -> list[Line]:
    derived = view.frame.derived
    if derived.cgroup is None or derived.cgroup.cpu_quota_cores is None:
        return []
    line = Line("limit ", "label").add(f"{host.QUOTA.text(derived)} cores").add("  ")
    return [line.extend(cells.labelled(host.THROTTLED, derived, view.levels))]


def _pressure(view: View, room: int) -> list[Line]:
    derived = view.frame.derived
    if derived.cpu is None or not derived.cpu.psi:
        return []
    line = Line("stalled" if room >= 34 else "psi", "label")
    for resource, word in (("cpu", "cpu"), ("io", "io"), ("memory", "mem")):
        line.add(f" {word} ", "dim").extend(cells.number(host.PRESSURE[resource], derived, view.levels))
    return [line]


def _cores(view: View, room: int) -> list[Line]:
    cpu = view.frame.derived.cpu
    if cpu is None or not cpu.cores:
        return []
    utils = [core.util_pct for core in cpu.cores]
    full = sum(host_cores.is_full(core, view.levels) for core in cpu.cores)
    role = partial(marks.role, host.CORE.level(cpu.cores[0], view.levels))
    words = Line("cores ", "label").add(f"{full} of {len(utils)} full")
    words.add(f"  hottest {max(utils):.0f}%" if room >= 34 else "", "dim")
    if words.width + len(_GAP) + len(utils) <= room:
        return [words.add(_GAP).extend(blocks(utils, 100, role))]
    if len(utils) > 3 * room:
        return [words]
    return [words, *(blocks(utils[start : start + room], 100, role) for start in range(0, len(utils), room))]


def _trend(view: View, room: int, rows: int) -> list[Line]:
    values = [derived.cpu.util_pct if derived.cpu else None for derived in view.frame.history]
    role = partial(marks.role, host.CPU.level(view.frame.derived, view.levels))
    drawn = trend(values, room - 5, rows, 100, role)
    labels = ["100%", *["    "] * (rows - 2), "  0%"]
    return [Line(f"{label} ", "dim").extend(line) for label, line in zip(labels, drawn, strict=True)]

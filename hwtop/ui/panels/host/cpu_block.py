"""The CPU in full, as blocks of the host page (the short panel of the overview is `cpu.py`): how busy it is and was, what it
waits for, its cores, and what tasks are stalled by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from hwtop.fields import host, units
from hwtop.model.frame import DerivedState
from hwtop.model.host.cpu import CpuRates, Pressure, PressureLine
from hwtop.ui import marks
from hwtop.ui.panels.host import cores as host_cores
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.panels.host.block import Block, HostTrend, gauge, packed
from hwtop.ui.panels.host.trend import past
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap

_RESOURCES = ("io", "cpu", "memory")
"""That tasks can be stalled by; where all are equal the past of the first is drawn."""


def processor(view: View, width: int) -> Block:
    """Busy share now and over the last minutes, waits, queue."""
    derived = view.frame.derived
    cpu = derived.cpu
    if cpu is None:
        return Block("CPU", [Line(f"◌ {host_view.reason(view, 'cpu')}", "dim")])
    words = cells.number(host.CPU, derived, view.levels, "info").fitted(5, "right")
    lines = [gauge(host.CPU, derived, view.levels, words, width)]
    busy = partial(marks.role, host.CPU.level(derived, view.levels))
    trend = HostTrend(partial(past, view.frame.history, host.CPU.number, width, role=busy), at=1)
    facts = [
        Line("user ", "label").add(f"{host.USER.text(derived):<4}"),
        Line("system ", "label").add(f"{host.SYSTEM.text(derived):<4}"),
        cells.labelled(host.IOWAIT, derived, view.levels),
        cells.labelled(host.STEAL, derived, view.levels),
    ]
    lines += packed(facts, width)
    lines += packed(_queue(view, cpu), width)
    return Block("CPU", lines, Line(f"{cpu.count} cores", "dim"), trend)


def _queue(view: View, cpu: CpuRates) -> Iterator[Line]:
    """What wants to run or cannot, and how fast the cores turn."""
    derived = view.frame.derived
    yield load(view)
    yield cells.labelled(host.RUNNABLE, derived, view.levels)
    yield cells.labelled(host.BLOCKED, derived, view.levels)
    if cpu.freq_mhz:
        yield cells.labelled(host.FREQUENCY, derived, view.levels)
    if cpu.context_switches_per_s is not None:
        yield cells.labelled(host.SWITCHES, derived, view.levels)


def load(view: View) -> Line:
    """The load, marked where it is high for the cores that there are."""
    derived = view.frame.derived
    role, mark = cells.tone(host.LOAD_PER_CORE, derived, view.levels)
    return Line("load ", "label").add(f"{mark}{host.LOAD.text(derived)}", role).add(f" on {derived.cores:g}", "dim")


def cores(view: View, width: int) -> Block | None:
    """One block a core."""
    cpu = view.frame.derived.cpu
    if cpu is None or not cpu.cores:
        return None
    return Block("Cores", host_cores.lines(cpu.cores, view.levels, width), Line("each 0–100%", "dim"))


def pressure(view: View, width: int) -> Block:
    """PSI: the share of the time in which some task, or all of them, waited for a resource."""
    cpu = view.frame.derived.cpu
    if cpu is None:
        return Block("Pressure", [Line(f"◌ {host_view.reason(view, 'cpu')}", "dim")])
    if not cpu.psi:
        reported = view.frame.derived.missing.get("cpu.psi.cpu") or "not reported by this kernel"
        return Block("Pressure", [Line(text, "dim") for text in wrap(f"◌ {reported}", width)])
    bar_cells = max(0, min(24, width - 10 - 4 * 6))
    head = Line("stalled", "label").fitted(8 + bar_cells + 1)
    for word in ("10 s", "1 m", "5 m", "all"):
        head.extend(Line(word, "label").fitted(6, "right"))
    rows = [_stalled(view, resource, cpu.psi.get(resource), bar_cells) for resource in host.PRESSURE]
    worst = max(_RESOURCES, key=lambda resource: _mean_pct(view.frame.history, resource))
    field = host.PRESSURE[worst]
    role = partial(marks.role, field.level(view.frame.derived, view.levels))
    drawn = partial(past, view.frame.history, field.number, width, role=role)
    note = Line("some task waits; all: every task, 10 s", "dim")
    return Block("Pressure", [head, *rows], note, HostTrend(drawn, at=len(rows) + 1, caption=f"stalled by {worst}"))


def _mean_pct(history: Sequence[DerivedState], resource: str) -> float:
    reported = [pct for derived in history if (pct := host.PRESSURE[resource].number(derived)) is not None]
    return fmean(reported) if reported else 0.0


def _stalled(view: View, resource: str, reported: Pressure | None, bar_cells: int) -> Line:
    line = Line(f"{resource:<8}", "label")
    derived, field = view.frame.derived, host.PRESSURE[resource]
    if reported is None:
        return line.add(f"◌ {derived.missing.get(f'cpu.psi.{resource}') or 'not reported'}", "dim")
    level = field.level(derived, view.levels)
    line.extend(cells.bar(field, derived, view.levels, bar_cells)).add(" ")
    for value in _averages(reported.some):
        role, mark = marks.tone(level, value)
        line.extend(Line(f"{mark}{field.written(value)}", role).fitted(6, "right"))
    return line.extend(Line(units.pct(_averages(reported.full)[0])).fitted(6, "right"))


def _averages(reported: PressureLine | None) -> tuple[float | None, float | None, float | None]:
    return (reported.avg10_pct, reported.avg60_pct, reported.avg300_pct) if reported else (None, None, None)

"""The processor on the host page: how busy it is and was, what it waits for, its cores, and what tasks are stalled by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from hwtop.model.cpu import CpuRates, Pressure, PressureLine
from hwtop.model.frame import Moment
from hwtop.ui import host_view, marks, units
from hwtop.ui.panels import host_cores
from hwtop.ui.panels.host_block import Block, Past, gauge, marked, packed
from hwtop.ui.panels.host_trend import past
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap

_RESOURCES = ("io", "cpu", "memory")
"""That tasks can be stalled by; where all are equal the past of the first is drawn."""


def processor(view: View, width: int) -> Block:
    """Busy share now and over the last minutes, waits, queue."""
    moment = view.frame.moment
    cpu = moment.cpu
    if cpu is None:
        return Block("CPU", [Line(f"◌ {host_view.reason(view, 'cpu')}", "dim")])
    tone = "dim" if cpu.util_pct is None else host_cores.role(cpu.util_pct)
    words = Line(f"{'▲' if tone == 'warn' else ''}{units.pct(cpu.util_pct)}", tone).fitted(5, "right")
    lines = [gauge("busy", cpu.util_pct, words, width, (host_view.CPU_FULL,), tone)]
    trend = Past(partial(past, view.frame.history, _busy, width, role=host_cores.role), at=1)
    facts = [
        Line("user ", "label").add(f"{units.pct(cpu.user_pct):<4}"),
        Line("system ", "label").add(f"{units.pct(cpu.system_pct):<4}"),
        marked("iowait", cpu.iowait_pct, host_view.STALLED),
        marked("steal", cpu.steal_pct, host_view.STOLEN),
    ]
    lines += packed(facts, width)
    lines += packed(_queue(cpu, moment.cores), width)
    return Block("CPU", lines, Line(f"{cpu.count} cores", "dim"), trend)


def _busy(moment: Moment) -> float | None:
    return moment.cpu.util_pct if moment.cpu else None


def _queue(cpu: CpuRates, cores: float) -> Iterator[Line]:
    """What wants to run or cannot, and how fast the cores turn."""
    is_long = host_view.queued_pct(cpu, cores) >= host_view.QUEUED
    load = Line("load ", "label").add(f"{'▲' * is_long}{cpu.load[0]:.1f}", "warn" if is_long else "text")
    yield load.add(f" on {cores:g}", "dim")
    yield Line("runnable ", "label").add(str(cpu.running))
    yield Line("blocked ", "label").add(f"▲{cpu.blocked}" if cpu.blocked else "0", "warn" if cpu.blocked else "text")
    if cpu.freq_mhz:
        yield Line("clock ", "label").add(f"{cpu.freq_mhz / 1000:.2f} GHz")
    if cpu.context_switches_per_s is not None:
        yield Line("switches ", "label").add(f"{units.count(cpu.context_switches_per_s)}/s")


def cores(view: View, width: int) -> Block | None:
    """One block a core."""
    cpu = view.frame.moment.cpu
    if cpu is None or not cpu.cores:
        return None
    return Block("Cores", host_cores.lines(cpu.cores, width), Line("each 0–100%", "dim"))


def pressure(view: View, width: int) -> Block:
    """PSI: the share of the time in which some task, or all of them, waited for a resource."""
    cpu = view.frame.moment.cpu
    if cpu is None:
        return Block("Pressure", [Line(f"◌ {host_view.reason(view, 'cpu')}", "dim")])
    if not cpu.psi:
        told = view.frame.moment.missing.get("cpu.psi.cpu") or "this kernel tells none"
        return Block("Pressure", [Line(text, "dim") for text in wrap(f"◌ {told}", width)])
    bar_cells = max(0, min(24, width - 10 - 4 * 6))
    head = Line("stalled", "label").fitted(8 + bar_cells + 1)
    for word in ("10 s", "1 m", "5 m", "all"):
        head.extend(Line(word, "label").fitted(6, "right"))
    rows = [
        _stalled(resource, cpu.psi.get(resource), view.frame.moment.missing.get(f"cpu.psi.{resource}"), bar_cells)
        for resource in ("cpu", "io", "memory")
    ]
    worst = max(_RESOURCES, key=lambda resource: _mean_pct(view.frame.history, resource))
    drawn = partial(past, view.frame.history, partial(_stalled_pct, worst), width, role=partial(_stall_role, worst))
    note = Line("some task waits; all: every task, 10 s", "dim")
    return Block("Pressure", [head, *rows], note, Past(drawn, at=len(rows) + 1, caption=f"stalled by {worst}"))


def _mean_pct(history: Sequence[Moment], resource: str) -> float:
    told = [pct for moment in history if (pct := _stalled_pct(resource, moment)) is not None]
    return fmean(told) if told else 0.0


def _stalled_pct(resource: str, moment: Moment) -> float | None:
    told = moment.cpu.psi.get(resource) if moment.cpu else None
    return told.some.avg10_pct if told and told.some else None


def _stall_role(resource: str, stalled_pct: float) -> str:
    role = marks.high(stalled_pct, *host_view.stall_limits(resource))[0]
    return "info" if role == "good" else role


def _stalled(resource: str, told: Pressure | None, missing: str | None, bar_cells: int) -> Line:
    line = Line(f"{resource:<8}", "label")
    if told is None:
        return line.add(f"◌ {missing or 'not told'}", "dim")
    limits = host_view.stall_limits(resource)
    newest, *older = _averages(told.some)
    role = marks.high(newest, *limits)[0]
    share = None if newest is None else newest / 100
    ticks = [limit / 100 for limit in limits if limit < 100]
    line.extend(bar(share, bar_cells, "info" if role == "good" else role, ticks)).add(" ")
    for value in (newest, *older):
        line.extend(marked("", value, limits).fitted(6, "right"))
    return line.extend(Line(units.pct(_averages(told.full)[0])).fitted(6, "right"))


def _averages(told: PressureLine | None) -> tuple[float | None, float | None, float | None]:
    return (told.avg10_pct, told.avg60_pct, told.avg300_pct) if told else (None, None, None)

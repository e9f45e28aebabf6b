"""Memory in full, as blocks of the host page (the short panel of the overview is `memory.py`), and the limits of the job's cgroup."""

from __future__ import annotations

from functools import partial

from hwtop.fields import host, units
from hwtop.fields.field import Field
from hwtop.model.frame import DerivedState
from hwtop.ui import marks
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.panels.host.block import Block, HostTrend, fact, gauge, packed
from hwtop.ui.panels.host.trend import past
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap


def memory(view: View, width: int) -> Block:
    """What can fill up on bars, then what the kernel holds, then paging."""
    found = view.frame.derived.memory
    if found is None:
        return Block("Memory", [Line(f"◌ {host_view.reason(view, 'memory')}", "dim")])
    derived = view.frame.derived
    role = partial(marks.role, host.MEMORY.level(derived, view.levels))
    trend = HostTrend(partial(past, view.frame.history, host.MEMORY.number, width, role=role), at=1)
    lines = [_fill(host.MEMORY, view, found.used_bytes, found.total_bytes, width)]
    shm_used, shm_total = host.shared_memory(derived)
    if shm_total:
        lines.append(_fill(host.SHM, view, shm_used, shm_total, width))
    if found.swap_total_bytes:
        lines.append(_fill(host.SWAP, view, found.swap_used_bytes, found.swap_total_bytes, width))
    else:
        lines.append(fact("swap", ("none", "dim")))
    facts = [
        cells.labelled(field, derived, view.levels)
        for field in (host.CACHED, host.DIRTY, host.SHARED, host.SWAP_IN, host.SWAP_OUT, host.MAJOR_FAULTS)
    ]
    return Block("Memory", [*lines, *packed(facts, width)], Line(units.size(found.total_bytes), "dim"), trend)


def limits(view: View, width: int) -> Block:
    """What the job may use, and how often it wanted more."""
    derived = view.frame.derived
    cgroup = derived.cgroup
    if cgroup is None:
        reported = host_view.reason(view, "cgroup") if derived.job else "no job is attached"
        return Block("Limits of the job", [Line(text, "dim") for text in wrap(f"◌ {reported}", width)])
    lines = []
    if cgroup.cpu_quota_cores is None:
        lines.append(fact("CPU", (_unlimited(view, "cpu_quota_cores"), "dim")))
    else:
        lines.append(fact("CPU", (f"{host.QUOTA.text(derived)} of {derived.cores:g} cores", "text")))
        words = cells.number(host.THROTTLED, derived, view.levels)
        words = Line(f"{words.text} of the periods", words.spans[0][1])
        lines.append(gauge(host.THROTTLED, derived, view.levels, words, width))
    if cgroup.mem_limit_bytes is None:
        lines.append(fact("memory", (_unlimited(view, "mem_limit_bytes"), "dim")))
    else:
        # The page cache inside the limit is given back under pressure: it does not count as full.
        lines.append(_fill(host.HELD, view, host.held_bytes(derived), cgroup.mem_limit_bytes, width))
    if cgroup.mem_used_bytes is not None:
        used = fact("in use", (units.size(cgroup.mem_used_bytes), "text"))
        lines.append(used.add(f", {units.size(cgroup.mem_cache_bytes)} of it cache", "dim"))
    if cgroup.oom_kills_new:
        lines.insert(0, Line(f"✖ {cgroup.oom_kills_new} killed for memory just now", "bad"))
    return Block("Limits of the job", lines, Line("cgroup", "dim"))


def _unlimited(view: View, field: str) -> str:
    missing = view.frame.derived.missing.get(f"cgroup.{field}")
    return f"◌ {missing}" if missing else "no limit"


def _fill(field: Field[DerivedState], view: View, used: int | None, total: int | None, width: int) -> Line:
    derived = view.frame.derived
    words = cells.number(field, derived, view.levels).fitted(5, "right")
    words.extend(Line(f"{units.size(used)}/{units.size(total)}", "dim").fitted(13, "right"))
    return gauge(field, derived, view.levels, words, width)

"""The panel "memory" of the overview (memory in full, on the host page, is `memory_block.py`): host, cgroup, shared memory, swap."""

from __future__ import annotations

from hwtop.fields import host, units
from hwtop.fields.field import Field
from hwtop.model.frame import DerivedState
from hwtop.ui.once import once
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line


def wanted(view: View, width: int) -> int:
    """Rows for everything, frame included."""
    return 2 + len(_facts(view, inner(width)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """Gauges of what can fill up, then what the kernel holds."""
    memory = view.frame.derived.memory
    note = Line(units.size(memory.total_bytes) if memory else "", "dim")
    return box(_facts(view, inner(width)), width, height, Line("Memory", "title"), note)


def _gauge(
    field: Field[DerivedState], view: View, used: int | None, total: int | None, room: int, label: str = ""
) -> Line:
    """A word, a bar, percent, and used of total bytes."""
    derived = view.frame.derived
    share_pct = field.number(derived)
    tail = Line(" ").extend(cells.number(field, derived, view.levels, "good")).fitted(6, "right")
    if room >= 34:
        tail.extend(Line(f"{units.size(used)}/{units.size(total)}", "text").fitted(13, "right"))
    role = cells.tone(field, derived, view.levels, "good")[0]
    drawn = bar(None if share_pct is None else share_pct / 100, room - 7 - tail.width, role)
    return Line(f"{label or field.label:<7}", "label").extend(drawn).extend(tail)


@once
def _facts(view: View, room: int) -> list[Line]:
    derived = view.frame.derived
    memory = derived.memory
    if memory is None:
        return [Line("◌ no numbers yet", "dim")]
    lines = [_gauge(host.MEMORY, view, memory.used_bytes, memory.total_bytes, room)]
    cgroup = derived.cgroup
    if cgroup and cgroup.mem_limit_bytes and cgroup.mem_used_bytes is not None:
        # The page cache inside the limit is given back under pressure: it does not count as full.
        lines.append(_gauge(host.HELD, view, host.held_bytes(derived), cgroup.mem_limit_bytes, room, "limit"))
    shm_used, shm_total = host.shared_memory(derived)
    if shm_total:
        lines.append(_gauge(host.SHM, view, shm_used, shm_total, room, "shm"))
    if memory.swap_total_bytes:
        lines.append(_gauge(host.SWAP, view, memory.swap_used_bytes, memory.swap_total_bytes, room))
    else:
        lines.append(Line("swap   ", "label").add("none", "dim"))
    held_line = Line("cache  ", "label").add(units.size(memory.cached_bytes))
    lines.append(held_line.add("  dirty ", "label").add(units.size(memory.dirty_bytes)))
    if cgroup and cgroup.oom_kills_new:
        lines.insert(0, Line(f"✖ {cgroup.oom_kills_new} killed for memory just now", "bad"))
    if memory.swap_in_pages_per_s:
        role, mark = cells.tone(host.SWAP_IN, derived, view.levels)
        lines.insert(1, Line(f"{mark} swapping in {host.SWAP_IN.text(derived)} pages/s".lstrip(), role))
    return lines

"""Memory of the host and of the job's cgroup, shared memory, swap."""

from __future__ import annotations

from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line


def wanted(view: View, width: int) -> int:
    """Rows for everything, frame included."""
    return 2 + len(_facts(view, inner(width)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """Gauges of what can fill up, then what the kernel holds."""
    memory = view.frame.moment.memory
    note = Line(units.size(memory.total_bytes) if memory else "", "dim")
    return box(_facts(view, inner(width)), width, height, Line("Memory", "title"), note)


def shared_memory(view: View) -> tuple[int | None, int | None]:
    """Used and total bytes of /dev/shm."""
    mount = next((mount for mount in view.frame.moment.mounts if mount.mount_point == "/dev/shm"), None)
    return (mount.used_bytes, mount.total_bytes) if mount else (None, None)


def gauge(word: str, used: int | None, total: int | None, room: int) -> Line:
    """A word, a bar, percent, and used of total bytes."""
    share = used / total if used is not None and total else None
    role, mark = marks.high(None if share is None else share * 100, 90, 97)
    tail = Line(f" {mark.strip()}{units.pct(None if share is None else share * 100)}", role).fitted(6, "right")
    if room >= 34:
        tail.extend(Line(f"{units.size(used)}/{units.size(total)}", "text").fitted(13, "right"))
    return Line(f"{word:<7}", "label").extend(bar(share, room - 7 - tail.width, role)).extend(tail)


def _facts(view: View, room: int) -> list[Line]:
    moment = view.frame.moment
    memory = moment.memory
    if memory is None:
        return [Line("◌ no numbers yet", "dim")]
    lines = [gauge("used", memory.used_bytes, memory.total_bytes, room)]
    cgroup = moment.cgroup
    if cgroup and cgroup.mem_limit_bytes and cgroup.mem_used_bytes is not None:
        # The page cache inside the limit is given back under pressure: it does not count as full.
        held = cgroup.mem_used_bytes - (cgroup.mem_cache_bytes or 0)
        lines.append(gauge("limit", max(0, held), cgroup.mem_limit_bytes, room))
    shm_used, shm_total = shared_memory(view)
    if shm_total:
        lines.append(gauge("shm", shm_used, shm_total, room))
    if memory.swap_total_bytes:
        lines.append(gauge("swap", memory.swap_used_bytes, memory.swap_total_bytes, room))
    else:
        lines.append(Line("swap   ", "label").add("none", "dim"))
    held_line = Line("cache  ", "label").add(units.size(memory.cached_bytes))
    lines.append(held_line.add("  dirty ", "label").add(units.size(memory.dirty_bytes)))
    if cgroup and cgroup.oom_kills_new:
        lines.insert(0, Line(f"✖ {cgroup.oom_kills_new} killed for memory just now", "bad"))
    if memory.swap_in_pages_per_s:
        lines.insert(1, Line(f"▲ swapping in {memory.swap_in_pages_per_s:,.0f} pages/s", "warn"))
    return lines

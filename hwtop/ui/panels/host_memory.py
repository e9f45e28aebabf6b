"""Memory and swap of the host, and the limits of the watched job's cgroup."""

from __future__ import annotations

from functools import partial

from hwtop.model.frame import Moment
from hwtop.ui import host_view, marks, units
from hwtop.ui.panels.host_block import Block, Past, fact, gauge, packed
from hwtop.ui.panels.host_trend import past
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap


def memory(view: View, width: int) -> Block:
    """What can fill up on bars, then what the kernel holds, then paging."""
    found = view.frame.moment.memory
    if found is None:
        return Block("Memory", [Line(f"◌ {host_view.reason(view, 'memory')}", "dim")])
    trend = Past(partial(past, view.frame.history, _used, width, role=_role), at=1)
    lines = [_fill("used", found.used_bytes, found.total_bytes, width)]
    shm = next((mount for mount in view.frame.moment.mounts if mount.mount_point == "/dev/shm"), None)
    if shm is not None and shm.total_bytes:
        lines.append(_fill("/dev/shm", shm.used_bytes, shm.total_bytes, width))
    if found.swap_total_bytes:
        lines.append(_fill("swap", found.swap_used_bytes, found.swap_total_bytes, width))
    else:
        lines.append(fact("swap", ("none", "dim")))
    facts = [
        Line("cache ", "label").add(units.size(found.cached_bytes)),
        Line("dirty ", "label").add(units.size(found.dirty_bytes)),
        Line("shared ", "label").add(units.size(found.shmem_bytes)),
        _paged("swap in", found.swap_in_pages_per_s, is_bad=True),
        _paged("out", found.swap_out_pages_per_s, is_bad=True),
        _paged("major faults", found.major_faults_per_s),
    ]
    return Block("Memory", [*lines, *packed(facts, width)], Line(units.size(found.total_bytes), "dim"), trend)


def _used(moment: Moment) -> float | None:
    return host_view.share(moment.memory.used_bytes, moment.memory.total_bytes) if moment.memory else None


def _role(used_pct: float) -> str:
    role = marks.high(used_pct, *host_view.FULL)[0]
    return "info" if role == "good" else role


def _paged(label: str, per_s: float | None, *, is_bad: bool = False) -> Line:
    is_warned = is_bad and bool(per_s)
    told = Line(f"{label} ", "label").add(
        f"{'▲' if is_warned else ''}{units.count(per_s)}", "warn" if is_warned else "text"
    )
    return told.add("/s", "dim")


def limits(view: View, width: int) -> Block:
    """What the job may use, and how often it wanted more."""
    moment = view.frame.moment
    cgroup = moment.cgroup
    if cgroup is None:
        told = host_view.reason(view, "cgroup") if moment.job else "no job is attached"
        return Block("Limits of the job", [Line(text, "dim") for text in wrap(f"◌ {told}", width)])
    lines = []
    if cgroup.cpu_quota_cores is None:
        lines.append(fact("CPU", (_unlimited(view, "cpu_quota_cores"), "dim")))
    else:
        lines.append(fact("CPU", (f"{cgroup.cpu_quota_cores:g} of {moment.cores:g} cores", "text")))
        share = cgroup.throttled_periods_pct
        role, mark = marks.high(share, *host_view.THROTTLED)
        words = Line(f"{mark.strip()}{units.pct(share)} of the periods", role if role in ("warn", "bad") else "text")
        lines.append(gauge("throttled", share, words, width, host_view.THROTTLED, "info" if role == "good" else role))
    if cgroup.mem_limit_bytes is None:
        lines.append(fact("memory", (_unlimited(view, "mem_limit_bytes"), "dim")))
    else:
        # The page cache inside the limit is given back under pressure: it does not count as full.
        lines.append(_fill("memory", host_view.held_bytes(moment), cgroup.mem_limit_bytes, width))
    if cgroup.mem_used_bytes is not None:
        used = fact("in use", (units.size(cgroup.mem_used_bytes), "text"))
        lines.append(used.add(f", {units.size(cgroup.mem_cache_bytes)} of it cache", "dim"))
    if cgroup.oom_kills_new:
        lines.insert(0, Line(f"✖ {cgroup.oom_kills_new} killed for memory just now", "bad"))
    return Block("Limits of the job", lines, Line("cgroup", "dim"))


def _unlimited(view: View, field: str) -> str:
    missing = view.frame.moment.missing.get(f"cgroup.{field}")
    return f"◌ {missing}" if missing else "no limit"


def _fill(label: str, used: int | None, total: int | None, width: int) -> Line:
    share = host_view.share(used, total)
    role, mark = marks.high(share, *host_view.FULL)
    words = Line(f"{mark.strip()}{units.pct(share)}", role if role in ("warn", "bad") else "text").fitted(5, "right")
    words.extend(Line(f"{units.size(used)}/{units.size(total)}", "dim").fitted(13, "right"))
    return gauge(label, share, words, width, host_view.FULL, "info" if role == "good" else role)

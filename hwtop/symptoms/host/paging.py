"""swapping, page-cache-thrash: memory that is too small makes the disk work."""

from __future__ import annotations

from hwtop.job.size import part, size
from hwtop.symptoms.history import History
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

SWAP = limits_of("swapping")


CACHE = limits_of("page-cache-thrash")


def check_swapping(history: History, limits: Limits = SWAP) -> Observation | None:
    """Pages go in and out of swap all the time."""
    read = history.mean(limits.window_s, lambda derived: derived.memory.swap_in_pages_per_s if derived.memory else None)
    written = history.mean(
        limits.window_s, lambda derived: derived.memory.swap_out_pages_per_s if derived.memory else None
    )
    memory = history.now.memory
    if read is None or written is None or memory is None:
        return None
    if read + written < limits.pages_per_s or read < limits.pages_in_per_s:
        return None
    stalled = some_pct("memory")(history.now)
    return observed(
        "swapping",
        confidence=0.9,
        facts={"read": read, "written": written},
        evidence=(
            f"over {limits.window_s:g} s; {part(memory.swap_used_bytes, memory.swap_total_bytes)} of swap in use",
            f"{part(memory.available_bytes, memory.total_bytes)} of memory available",
            *((f"tasks were stalled for memory in {stalled:.0f} % of the last 10 s",) if stalled is not None else ()),
        ),
    )


def check_page_cache(history: History, limits: Limits = CACHE) -> Observation | None:
    """File pages are thrown out and read again at once."""
    refaults = history.mean(
        limits.window_s, lambda derived: derived.memory.file_refaults_per_s if derived.memory else None
    )
    faults = history.mean(
        limits.window_s, lambda derived: derived.memory.major_faults_per_s if derived.memory else None
    )
    memory = history.now.memory
    if refaults is None or faults is None or memory is None or memory.cached_bytes is None:
        return None
    if refaults < limits.refaults_per_s or faults < limits.major_faults_per_s:
        return None
    cgroup = history.now.cgroup
    limit = cgroup.mem_limit_bytes if cgroup is not None else None
    return observed(
        "page-cache-thrash",
        confidence=0.75,
        facts={"mb_per_s": refaults * 4096 / 1e6},
        evidence=(
            f"{refaults:.0f} refaults and {faults:.0f} major faults a second over {limits.window_s:g} s",
            f"{size(memory.cached_bytes)} of cache, {size(memory.available_bytes)} available",
            *((f"the job's memory limit of {size(limit)} holds its cache as well",) if limit is not None else ()),
        ),
    )

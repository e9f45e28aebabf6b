"""swapping, page-cache-thrash: memory that is too small makes the disk work."""

from __future__ import annotations

from hwtop.symptoms.history import History
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, Positive, Rule, Window


class SwapLimits(Limits, frozen=True, kw_only=True):
    """Of swapping."""

    pages_per_s: Positive = 100
    """Read back in and written out together. Engineering default: 400 kB/s, each read in being a stop of whoever needs the
    page."""
    pages_in_per_s: Positive = 10
    """Pages that are only written out were not needed: that costs nobody a wait."""
    window_s: Window = 10.0


SWAP = SwapLimits()


class CacheLimits(Limits, frozen=True, kw_only=True):
    """Of page-cache-thrash. Engineering defaults."""

    refaults_per_s: Positive = 10_000
    """File pages that are read again soon after they were thrown out: 40 MB/s."""
    major_faults_per_s: Positive = 100
    """... while processes stop for pages of files that they have mapped."""
    window_s: Window = 60.0


CACHE = CacheLimits()


def check_swapping(history: History, limits: SwapLimits = SWAP) -> Observation | None:
    """Pages go in and out of swap all the time."""
    read = history.mean(limits.window_s, lambda moment: moment.memory.swap_in_pages_per_s if moment.memory else None)
    written = history.mean(
        limits.window_s, lambda moment: moment.memory.swap_out_pages_per_s if moment.memory else None
    )
    memory = history.now.memory
    if read is None or written is None or memory is None:
        return None
    if read + written < limits.pages_per_s or read < limits.pages_in_per_s:
        return None
    stalled = some_pct("memory")(history.now)
    return Observation(
        severity="warning",
        confidence=0.9,
        title=f"The machine swaps: {read:.0f} pages a second in, {written:.0f} out",
        evidence=(
            f"over {limits.window_s:g} s; {memory.swap_used_bytes / 1e9:.1f} of {memory.swap_total_bytes / 1e9:.1f} GB of swap in use",
            f"{memory.available_bytes / 1e9:.1f} of {memory.total_bytes / 1e9:.1f} GB of memory available",
            *((f"tasks were stalled for memory in {stalled:.0f} % of the last 10 s",) if stalled is not None else ()),
        ),
        next_steps=(
            "ps -eo pid,rss,swap,comm --sort=-swap | head   # who is swapped out, who fills the memory",
            "Fewer loader workers, a smaller prefetch_factor, less pinned memory",
            "vmstat 1   # si and so must go to 0",
        ),
    )


def check_page_cache(history: History, limits: CacheLimits = CACHE) -> Observation | None:
    """File pages are thrown out and read again at once."""
    refaults = history.mean(
        limits.window_s, lambda moment: moment.memory.file_refaults_per_s if moment.memory else None
    )
    faults = history.mean(limits.window_s, lambda moment: moment.memory.major_faults_per_s if moment.memory else None)
    memory = history.now.memory
    if refaults is None or faults is None or memory is None:
        return None
    if refaults < limits.refaults_per_s or faults < limits.major_faults_per_s:
        return None
    cgroup = history.now.cgroup
    limit = cgroup.mem_limit_bytes if cgroup is not None else None
    return Observation(
        severity="warning",
        confidence=0.75,
        title=f"The page cache is too small for the data: {refaults * 4096 / 1e6:.0f} MB/s are read again that were just thrown out",
        evidence=(
            f"{refaults:.0f} refaults and {faults:.0f} major faults a second over {limits.window_s:g} s",
            f"{memory.cached_bytes / 1e9:.1f} GB of cache, {memory.available_bytes / 1e9:.1f} GB available",
            *(
                (f"the job's memory limit of {limit / 1e9:.1f} GB holds its cache as well",)
                if limit is not None
                else ()
            ),
        ),
        next_steps=(
            "free -h; cat /sys/fs/cgroup/memory.max   # a container's page cache counts against its limit",
            "Sequential shards and a smaller shuffle window, or a denser format of the data",
            "sbatch --mem, docker --memory: room for the working set of one epoch",
        ),
    )


RULES = (
    Rule(
        symptom="swapping",
        category="performance",
        threshold=lambda limits: (
            f"over {limits.pages_per_s:g} pages a second in and out of swap over {limits.window_s:g} s, at least {limits.pages_in_per_s:g} of them in"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_swapping,
        limits=SWAP,
    ),
    Rule(
        symptom="page-cache-thrash",
        category="performance",
        threshold=lambda limits: (
            f"over {limits.refaults_per_s:g} refaults of file pages and {limits.major_faults_per_s:g} major faults a second over {limits.window_s:g} s"
        ),
        raise_s=0.0,
        clear_s=30.0,
        check=check_page_cache,
        limits=CACHE,
    ),
)

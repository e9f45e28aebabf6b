"""Memory now, and paging over one interval."""

from __future__ import annotations

from hwtop.derive.host.rates import elapsed_s, per_second
from hwtop.model.host.memory import MemoryRates, MemoryReading


def memory_rates(previous: MemoryReading | None, current: MemoryReading) -> MemoryRates:
    """Levels of `current`; paging rates are None without an earlier reading (see `rates`)."""
    seconds = None if previous is None else elapsed_s(previous.at_s, current.at_s)
    return MemoryRates(
        total_bytes=current.total_bytes,
        # a container's /proc (lxcfs) may for a moment tell more available than there is in all
        used_bytes=max(0, current.total_bytes - current.available_bytes),
        available_bytes=current.available_bytes,
        cached_bytes=current.cached_bytes,
        shmem_bytes=current.shmem_bytes,
        dirty_bytes=current.dirty_bytes,
        swap_total_bytes=current.swap_total_bytes,
        swap_used_bytes=max(0, current.swap_total_bytes - current.swap_free_bytes),
        swap_in_pages_per_s=per_second(
            previous.pages_swapped_in if previous else None, current.pages_swapped_in, seconds
        ),
        swap_out_pages_per_s=per_second(
            previous.pages_swapped_out if previous else None, current.pages_swapped_out, seconds
        ),
        major_faults_per_s=per_second(previous.major_faults if previous else None, current.major_faults, seconds),
        file_refaults_per_s=per_second(previous.file_refaults if previous else None, current.file_refaults, seconds),
    )

"""Memory and swap of the host."""

from __future__ import annotations

from msgspec import Struct


class MemoryReading(Struct, frozen=True, gc=False, kw_only=True):
    """Levels as free(1) counts them, and the paging counters of /proc/vmstat. What an operating system lacks is None."""

    at_s: float
    total_bytes: int
    available_bytes: int
    free_bytes: int
    buffers_bytes: int | None = None
    cached_bytes: int | None = None
    """Page cache and reclaimable kernel memory; recordings of version 0.1 hold the page cache alone."""
    shmem_bytes: int | None = None
    dirty_bytes: int | None = None
    swap_total_bytes: int
    swap_free_bytes: int
    pages_swapped_in: int | None = None
    pages_swapped_out: int | None = None
    major_faults: int | None = None
    oom_kills: int | None = None
    file_refaults: int | None = None
    """Pages of files that were read again soon after their eviction (workingset_refault_file)."""
    missing: dict[str, str] = {}


class MemoryRates(Struct, frozen=True, gc=False, kw_only=True):
    """Memory now, paging over one interval."""

    total_bytes: int
    used_bytes: int
    """total - available: what programs cannot get without swapping or killing."""
    available_bytes: int
    cached_bytes: int | None
    shmem_bytes: int | None
    dirty_bytes: int | None
    swap_total_bytes: int
    swap_used_bytes: int
    swap_in_pages_per_s: float | None
    swap_out_pages_per_s: float | None
    major_faults_per_s: float | None
    file_refaults_per_s: float | None = None

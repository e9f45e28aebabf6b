"""The limits under which the watched job runs."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.host.cpu import Pressure


class CpuLimitReading(Struct, frozen=True, gc=False, kw_only=True):
    """A CPU limit that only some of the job's processes run under."""

    path: str
    pids: tuple[int, ...]
    cpu_quota_cores: float
    nr_periods: int | None = None
    nr_throttled: int | None = None


class CpuLimitRates(Struct, frozen=True, gc=False, kw_only=True):
    """The same over one interval."""

    path: str
    pids: tuple[int, ...]
    cpu_quota_cores: float
    throttled_periods_pct: float | None


class CgroupReading(Struct, frozen=True, gc=False, kw_only=True):
    """CPU and memory controller of the target's cgroup, v2 or v1; the tightest limit on the way up counts."""

    at_s: float
    version: int
    """1 or 2."""
    path: str
    cpu_quota_cores: float | None = None
    """cpu.max (v2) or cfs_quota/cfs_period (v1) in cores; None = no limit."""
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_us: int | None = None
    mem_limit_bytes: int | None = None
    mem_high_bytes: int | None = None
    mem_used_bytes: int | None = None
    mem_cache_bytes: int | None = None
    """Page cache inside `mem_used_bytes`; the kernel gives it back under pressure."""
    oom_kills: int | None = None
    pids_limit: int | None = None
    """Processes and threads; None = no limit."""
    pids_used: int | None = None
    psi: dict[str, Pressure] = {}
    others: tuple[CpuLimitReading, ...] = ()
    """CPU limits of processes of the job that are in another cgroup than the target."""
    missing: dict[str, str] = {}


class CgroupRates(Struct, frozen=True, gc=False, kw_only=True):
    """Limits and throttling of the target's cgroup over one interval."""

    cpu_quota_cores: float | None
    throttled_periods_pct: float | None
    """Share of the scheduler periods in which the cgroup was out of quota."""
    mem_limit_bytes: int | None
    mem_used_bytes: int | None
    mem_cache_bytes: int | None
    oom_kills_new: int | None
    pids_limit: int | None = None
    pids_used: int | None = None
    others: tuple[CpuLimitRates, ...] = ()

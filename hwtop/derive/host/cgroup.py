"""Limits and throttling of the target's cgroup over one interval."""

from __future__ import annotations

from hwtop.derive.host.rates import elapsed_s, increase
from hwtop.model.host.cgroup import CgroupRates, CgroupReading, CpuLimitRates, CpuLimitReading


def cgroup_rates(previous: CgroupReading | None, current: CgroupReading) -> CgroupRates:
    """Rates between two readings of the same cgroup; None without one that is earlier (see `rates`).

    `throttled_periods_pct` is None where no scheduler period has passed: there is no quota, or nothing ran.
    """
    if previous is not None and (
        previous.path != current.path
        or previous.version != current.version
        or elapsed_s(previous.at_s, current.at_s) is None
    ):
        previous = None
    return CgroupRates(
        cpu_quota_cores=current.cpu_quota_cores,
        throttled_periods_pct=None if previous is None else _throttled_pct(previous, current),
        mem_limit_bytes=current.mem_limit_bytes,
        mem_used_bytes=current.mem_used_bytes,
        mem_cache_bytes=current.mem_cache_bytes,
        oom_kills_new=None if previous is None else increase(previous.oom_kills, current.oom_kills),
        pids_limit=current.pids_limit,
        pids_used=current.pids_used,
        others=tuple(_limit(previous, limit) for limit in current.others),
    )


def _limit(previous: CgroupReading | None, current: CpuLimitReading) -> CpuLimitRates:
    before = next((limit for limit in previous.others if limit.path == current.path), None) if previous else None
    return CpuLimitRates(
        path=current.path,
        pids=current.pids,
        cpu_quota_cores=current.cpu_quota_cores,
        throttled_periods_pct=None if before is None else _throttled_pct(before, current),
    )


def _throttled_pct(previous: CgroupReading | CpuLimitReading, current: CgroupReading | CpuLimitReading) -> float | None:
    periods = increase(previous.nr_periods, current.nr_periods)
    throttled = increase(previous.nr_throttled, current.nr_throttled)
    if not periods or throttled is None:
        return None
    # cpu.stat is read without the kernel's lock, between its two additions: a period's throttling may come one reading late
    return min(100.0, 100 * throttled / periods) if throttled <= periods + 1 else None

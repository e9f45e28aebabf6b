"""The files of one controller: limits and use, for cgroup v2 (Documentation/admin-guide/cgroup-v2.rst) and v1.

Each function takes the folders from the target's cgroup up to the top of the mount and returns fields of CgroupReading.
What is used, and how often it was throttled, is read where the tightest limit is: there the job runs into it, together with
all that shares the limit. Of equal limits the outermost counts, as it is full first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hwtop.collectors.procfs import named_numbers, read_text, reason_of

Values = dict[str, int | float | None]

NO_LIMIT_V1_BYTES = 1 << 62
"""memory.limit_in_bytes without a limit is the largest multiple of the page size in 63 bits: 0x7FFFFFFFFFFFF000 with
pages of 4 KiB, less with larger ones."""


def cpu_v2(levels: tuple[str, ...], missing: dict[str, str]) -> Values:
    """cpu.max and cpu.stat."""
    quota, level = _tightest(levels, _quota_v2, "cpu_quota_cores", missing)
    found = _pick(f"{level}/cpu.stat", ("nr_periods", "nr_throttled", "throttled_usec"), missing, _CPU_FIELDS)
    return {
        "cpu_quota_cores": quota,
        "nr_periods": found.get("nr_periods"),
        "nr_throttled": found.get("nr_throttled"),
        "throttled_us": found.get("throttled_usec"),
    }


def cpu_v1(levels: tuple[str, ...], missing: dict[str, str]) -> Values:
    """cpu.cfs_quota_us, cpu.cfs_period_us and cpu.stat (Documentation/scheduler/sched-bwc.rst; throttled_time is ns)."""
    quota, level = _tightest(levels, _quota_v1, "cpu_quota_cores", missing)
    found = _pick(f"{level}/cpu.stat", ("nr_periods", "nr_throttled", "throttled_time"), missing, _CPU_FIELDS)
    throttled_ns = found.get("throttled_time")
    return {
        "cpu_quota_cores": quota,
        "nr_periods": found.get("nr_periods"),
        "nr_throttled": found.get("nr_throttled"),
        "throttled_us": None if throttled_ns is None else throttled_ns // 1000,
    }


def memory_v2(levels: tuple[str, ...], missing: dict[str, str]) -> Values:
    """memory.max, memory.high, memory.current, `file` of memory.stat, `oom_kill` of memory.events."""
    limit, level = _tightest(levels, partial(_limit_v2, "memory.max"), "mem_limit_bytes", missing)
    high, _ = _tightest(levels, partial(_limit_v2, "memory.high"), "mem_high_bytes", missing)
    stat = _pick(f"{level}/memory.stat", ("file",), missing, ("mem_cache_bytes",))
    events = _pick(f"{level}/memory.events", ("oom_kill",), missing, ("oom_kills",))
    return {
        "mem_limit_bytes": limit,
        "mem_high_bytes": high,
        "mem_used_bytes": _number(f"{level}/memory.current", "mem_used_bytes", missing),
        "mem_cache_bytes": stat.get("file"),
        "oom_kills": events.get("oom_kill"),
    }


def memory_v1(levels: tuple[str, ...], missing: dict[str, str]) -> Values:
    """memory.limit_in_bytes, memory.usage_in_bytes, memory.stat, memory.oom_control.

    v1 has no memory.high. hierarchical_memory_limit also reflects limits above the mount's top, which a container cannot
    see otherwise.
    """
    limit, level = _tightest(levels, _limit_v1, "mem_limit_bytes", missing)
    stat = _pick(f"{level}/memory.stat", ("total_cache",), missing, ("mem_cache_bytes",))
    above = stat.get("hierarchical_memory_limit", NO_LIMIT_V1_BYTES)
    if above < NO_LIMIT_V1_BYTES:
        limit = above if limit is None else min(limit, above)
    # oom_kill is in memory.oom_control since Linux 4.13
    events = _pick(f"{level}/memory.oom_control", ("oom_kill",), missing, ("oom_kills",))
    return {
        "mem_limit_bytes": limit,
        "mem_used_bytes": _number(f"{level}/memory.usage_in_bytes", "mem_used_bytes", missing),
        "mem_cache_bytes": stat.get("total_cache"),
        "oom_kills": events.get("oom_kill"),
    }


def pids(levels: tuple[str, ...], missing: dict[str, str]) -> Values:
    """pids.max and pids.current, the same in v2 and v1; without a limit nothing is said of what is used."""
    limit, level = _tightest(levels, partial(_limit_v2, "pids.max"), "pids_limit", missing)
    used = None if limit is None else _number(f"{level}/pids.current", "pids_used", missing)
    return {"pids_limit": limit, "pids_used": used}


_CPU_FIELDS = ("nr_periods", "nr_throttled", "throttled_us")


def _tightest(
    levels: tuple[str, ...],
    read: Callable[[str], float | None],
    field: str,
    missing: dict[str, str],
) -> tuple[float | None, str]:
    """The least limit and the folder that has it; without any, None and the target's own folder."""
    least, where = None, levels[0]
    for level in reversed(levels):
        limit = _limit_at(level, read, field, missing)
        if limit is not None and (least is None or limit < least):
            least, where = limit, level
    return least, where


def _limit_at(level: str, read: Callable[[str], float | None], field: str, missing: dict[str, str]) -> float | None:
    try:
        return read(level)
    except FileNotFoundError:  # the top has no limits, and a cgroup without the controller sets none
        return None
    except (OSError, ValueError) as error:
        missing[field] = reason_of(error)
        return None


def _quota_v2(level: str) -> float | None:
    """cpu.max: "QUOTA PERIOD" in microseconds, or "max PERIOD"."""
    path = f"{level}/cpu.max"
    words = read_text(path).split()
    if words[:1] == ["max"]:
        return None
    if len(words) != 2 or not words[0].isdecimal() or not words[1].isdecimal() or int(words[1]) == 0:
        raise ValueError(f"{path}: not a quota: {' '.join(words)[:80]!r}")
    return int(words[0]) / int(words[1])


def _quota_v1(level: str) -> float | None:
    """cpu.cfs_quota_us is -1 where there is no quota."""
    quota, period = _whole(f"{level}/cpu.cfs_quota_us", least=-1), _whole(f"{level}/cpu.cfs_period_us")
    return quota / period if quota > 0 and period > 0 else None


def _limit_v2(name: str, level: str) -> int | None:
    path = f"{level}/{name}"
    return None if read_text(path).strip() == "max" else _whole(path)


def _limit_v1(level: str) -> int | None:
    limit = _whole(f"{level}/memory.limit_in_bytes")
    return limit if limit < NO_LIMIT_V1_BYTES else None


def _whole(path: str, least: int = 0) -> int:
    text = read_text(path).strip()
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ValueError(f"{path}: not a valid number: {text[:80]!r}")
    return number


def _number(path: str, field: str, missing: dict[str, str]) -> int | None:
    try:
        return _whole(path)
    except (OSError, ValueError) as error:
        missing[field] = reason_of(error)
        return None


def _pick(path: str, keys: tuple[str, ...], missing: dict[str, str], fields: tuple[str, ...]) -> dict[str, int]:
    """All "name number" lines of a file; those of `keys` that are not there get a reason under their field's name."""
    try:
        found = named_numbers(read_text(path))
    except OSError as error:
        missing.update(dict.fromkeys(fields, reason_of(error)))
        return {}
    for key, field in zip(keys, fields, strict=True):
        if key not in found:
            missing[field] = f"{path} has no {key}"
    return found

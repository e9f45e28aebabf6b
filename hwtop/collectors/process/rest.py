"""Rest: since when the threads of a process have not run, as the kernel remembers it from the time before hwtop looked."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct

from hwtop.collectors.process.files import read_bytes, read_stat
from hwtop.model.process import ThreadInfo

_TICKS_SHARE = 0.02
"""Of a core, over its whole life: a thread that uses less polls or watches, and does not compute. As `liveness.RUNS_PCT`. Engineering
default."""
_READ_THREADS = 64
"""Of a process with more only the main thread is read: one file takes the kernel some 30 µs."""


class Rest(Struct, frozen=True):
    """Times on the monotonic clock."""

    main_since_s: float
    """The main thread has not run since."""
    all_since_s: float | None
    """No thread that computes has run since; None where there are too many to read."""


def read_rest(proc: str, pid: int, threads: Sequence[ThreadInfo], ticks_per_s: int) -> Rest | None:
    """From `se.exec_start` of /proc/PID/task/TID/sched (kernel/sched/debug.c), on the kernel's scheduler clock, which the reading thread's
    own value tells. None where the kernel has no such file (CONFIG_SCHED_DEBUG), or the process ends."""
    try:
        ahead_s = time.monotonic() - _ran_s(f"{proc}/thread-self")
        main_s = _ran_s(f"{proc}/{pid}") + ahead_s
        if len(threads) > _READ_THREADS:
            return Rest(main_s, None)
        computing = [
            thread.tid for thread in threads if thread.tid != pid and _computes(proc, pid, thread, ticks_per_s)
        ]
        return Rest(main_s, max([main_s, *(_ran_s(f"{proc}/{pid}/task/{tid}") + ahead_s for tid in computing)]))
    except (OSError, ValueError):
        return None


def _ran_s(directory: str) -> float:
    """When the task was last seen to run. Raises ValueError if the file does not say it."""
    _, _, rest = read_bytes(f"{directory}/sched").partition(b"se.exec_start")
    return float(rest.partition(b"\n")[0].strip(b" :")) / 1000


def _computes(proc: str, pid: int, thread: ThreadInfo, ticks_per_s: int) -> bool:
    started_s = read_stat(f"{proc}/{pid}/task/{thread.tid}").start_ticks / ticks_per_s
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
    return thread.cpu_ticks / ticks_per_s >= _TICKS_SHARE * age_s

"""What reading /proc costs psutil, compared with hwtop's own reading where it is kept. Ratios of one run: over 1, psutil costs more.

    python bench/psutil_cost.py [PROCESSES]

The processes are PROCESSES (400) sleeping children of this program. All costs are those of a repeated reading, as a monitor does
it, and grow with the number of processes: 10,000 cost 25 times what 400 do.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from hwtop.collectors.host.cpu import CpuSource, parsed_stat
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.mounts import parse_mountinfo
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.process.roster import Roster
from hwtop.collectors.process.source import ProcessSource
from hwtop.collectors.procfs import read_text

ROUNDS = 7
SCANNED = ["pid", "ppid", "name", "status", "create_time", "cpu_times"]
"""What a second scan needs of each process: which there are, whose children, how busy."""
SAMPLED = [*SCANNED, "memory_info", "uids", "num_ctx_switches", "num_threads", "threads", "cpu_num", "io_counters"]
"""What a tick needs of each process of the job, as far as psutil has it."""


def cost_ms(call: Callable[[], object], repeats: int = 1) -> float:
    """CPU time of one call, threads that it starts included: the best of some rounds, after a first one."""
    call()
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(repeats):
            call()
        rounds.append((time.process_time() - began) / repeats)
    return min(rounds) * 1000


def compare(what: str, own: Callable[[], object], other: Callable[[], object], repeats: int = 1) -> None:
    mine, theirs = cost_ms(own, repeats), cost_ms(other, repeats)
    print(f"{what:58} hwtop {mine:8.3f} ms   psutil {theirs:8.3f} ms   {theirs / mine:6.1f} x")


def sleepers(count: int) -> list[int]:
    children = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        children.append(pid)
    return children


def partitions() -> object:
    return psutil.disk_partitions(all=True)


def host() -> None:
    print("Files that psutil and hwtop read")
    compare(
        "stat: one reading / cpu_times, cpu_times(percpu), cpu_stats",
        lambda: parsed_stat(read_text("/proc/stat")),
        lambda: (psutil.cpu_times(), psutil.cpu_times(percpu=True), psutil.cpu_stats()),
        50,
    )
    compare(
        "mounts: mountinfo / disk_partitions",
        lambda: parse_mountinfo(read_text("/proc/self/mountinfo")),
        partitions,
        50,
    )
    for source in (CpuSource(), MemorySource(), DiskSource(), NetworkSource()):
        print(f"{'a tick of ' + source.name:58} {cost_ms(source.read, 50):14.3f} ms")


def processes(count: int) -> None:
    children = sleepers(count)
    try:
        print(f"{count} processes")
        roster = Roster()
        compare(
            "scan: state, parent, CPU time of each",
            lambda: roster.read(children),
            lambda: [psutil.Process(pid).as_dict(SCANNED) for pid in children],
        )
        compare(
            "the same, with psutil's own cache",
            lambda: roster.read(roster.pids()),
            lambda: [process.info for process in psutil.process_iter(SCANNED)],
        )
        known = roster.read([os.getpid()])
        assert known
        compare(
            "children of one process",
            lambda: roster.children(os.getpid()),
            lambda: psutil.Process().children(),
        )
        job = ProcessSource(os.getpid(), own_pid=0)
        job.read()
        held = [psutil.Process(pid) for pid in children]
        compare(
            "a tick: threads, memory, waits, I/O of each",
            job.read,
            lambda: [process.as_dict(SAMPLED) for process in held],
        )
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def main() -> None:
    processes(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
    host()


if __name__ == "__main__":
    main()

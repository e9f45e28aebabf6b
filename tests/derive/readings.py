"""Readings made by hand: what the sources of a job deliver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hwtop.model.host.cpu import CpuReading, CpuTimes
from hwtop.model.process import GoneProcess, OpenFile, ProcessInfo, ProcessReading, ThreadInfo
from hwtop.model.reported.log import LogFile, LogLine, LogReading
from hwtop.model.snapshot import OwnCost, Snapshot
from hwtop.model.stack import StackDump, StackFrame, StackReading, ThreadStack

BOOT_S = 1_000_000.0
LAUNCHER_PID = 100


def process(pid: int, ppid: int = 1, command: str = "/opt/bin/python train.py", **fields: Any) -> ProcessInfo:
    """A sleeping process that started `pid` ticks after boot."""
    words = tuple(command.split())
    known: dict[str, Any] = {
        "comm": words[0].rsplit("/", 1)[-1],
        "state": "S",
        "start_ticks": pid,
        "user_ticks": 0,
        "system_ticks": 0,
        "thread_count": 1,
        "cmdline": words,
        "env": {},
        "read_bytes": 0,
        "written_bytes": 0,
        "anon_bytes": 1_000,
        "threads": (ThreadInfo(tid=pid, comm="python", state="S", cpu_ticks=0),),
    }
    return ProcessInfo(pid=pid, ppid=ppid, **(known | fields))


def launcher(**fields: Any) -> ProcessInfo:
    return process(LAUNCHER_PID, command="/opt/bin/python /opt/bin/torchrun train.py", **fields)


def rank(
    number: int = 0, *, world: int = 2, log: str | None = None, pid: int | None = None, **fields: Any
) -> ProcessInfo:
    """Rank `number` under the launcher, PID 110 + number; fd 1 and 2 are `log`."""
    env = {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(world), "LOCAL_WORLD_SIZE": str(world)}
    path = f"/logs/rank_{number}.log" if log is None else log
    files = tuple(OpenFile(fd=fd, target=path, is_writable=True) for fd in (1, 2))
    known: dict[str, Any] = {"env": env, "files": files}
    return process(110 + number if pid is None else pid, LAUNCHER_PID, **(known | fields))


def worker(pid: int, parent: int, **fields: Any) -> ProcessInfo:
    """A data loader worker."""
    return process(pid, parent, **({"comm": "pt_data_worker"} | fields))


def processes(
    at_s: float, *found: ProcessInfo, gone: Sequence[GoneProcess] = (), root_pid: int | None = LAUNCHER_PID
) -> ProcessReading:
    """100 ticks a second."""
    return ProcessReading(
        at_s=at_s,
        ticks_per_s=100,
        boot_time_s=BOOT_S,
        target_pid=LAUNCHER_PID,
        root_pid=root_pid,
        processes=found,
        gone=tuple(gone),
    )


def gone(pid: int, at_s: float, exit_code: int | None = None) -> GoneProcess:
    return GoneProcess(pid=pid, comm="python", at_s=at_s, exit_code=exit_code)


def frame(name: str, file: str = "train.py", line: int = 10) -> StackFrame:
    folder = "/opt/lib/python3.11/site-packages/" if file.startswith("torch/") else "/home/ada/"
    return StackFrame(name=name, filename=folder + file, short_filename=file, line=line)


STEP = (frame("step", line=30), frame("main", line=80))
WAIT = (frame("all_reduce", "torch/distributed/distributed_c10d.py", 3058), *STEP)
LOAD = (frame("_try_get_data", "torch/utils/data/dataloader.py", 1310), *STEP)


def dump(pid: int, at_s: float, frames: tuple[StackFrame, ...] = STEP, *, is_active: bool = True) -> StackDump:
    thread = ThreadStack(name="MainThread", os_thread_id=pid, is_active=is_active, owns_gil=False, frames=frames)
    return StackDump(pid=pid, at_s=at_s, threads=(thread,))


def stacks(at_s: float, *dumps: StackDump) -> StackReading:
    return StackReading(at_s=at_s, dumps=dumps)


def log_lines(path: str, at_s: float, *texts: str, first: int = 1, is_past: bool = False) -> list[LogLine]:
    """Lines of one file, numbered from `first` on."""
    return [
        LogLine(path=path, line_no=first + index, text=text, at_s=at_s, is_past=is_past)
        for index, text in enumerate(texts)
    ]


def logs(at_s: float, *lines: LogLine, age_s: float | None = 0.0) -> LogReading:
    """The files are those of the lines."""
    paths = dict.fromkeys(line.path for line in lines)
    files = tuple(LogFile(path=path, pids=(), size_bytes=1, age_s=age_s) for path in paths)
    return LogReading(at_s=at_s, files=files, lines=lines)


def cpu(at_s: float, busy_ticks: int, *, cores: int = 4) -> CpuReading:
    """One second of each core is 100 ticks; they have been idle but for `busy_ticks` each."""
    times = CpuTimes(
        user=busy_ticks, nice=0, system=0, idle=int(at_s * 100) - busy_ticks, iowait=0, irq=0, softirq=0, steal=0
    )
    total = CpuTimes(
        user=cores * busy_ticks, nice=0, system=0, idle=cores * times.idle, iowait=0, irq=0, softirq=0, steal=0
    )
    return CpuReading(
        at_s=at_s,
        total=total,
        cores=(times,) * cores,
        freq_mhz=(None,) * cores,
        load=(1.0, 1.0, 1.0),
        running=1,
        blocked=0,
        context_switches=0,
        psi={},
    )


def snapshot(at_s: float, **fields: Any) -> Snapshot:
    known: dict[str, Any] = {
        "time_s": BOOT_S + at_s,
        "host": "box",
        "interval_s": 1.0,
        "late_ms": 0.0,
        "cost_ms": 5.0,
        "own": OwnCost(cpu_s=at_s / 100, rss_bytes=50_000_000, at_s=at_s),
        "sources": (),
    }
    return Snapshot(at_s=at_s, **(known | fields))

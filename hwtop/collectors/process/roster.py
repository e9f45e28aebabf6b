"""Just enough of many processes to determine which job each belongs to: stat, command line, environment."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.batch import Batch
from hwtop.collectors.process.entry import ProcessEntry
from hwtop.collectors.process.ray_log import driver_job
from hwtop.job.launch.launcher import is_python, is_session, is_slurmstepd, is_wrapper, launcher_kind, program_name
from hwtop.job.launch.place import slurm_ids
from hwtop.job.launch.ray import ray_job_of
from hwtop.job.launch.root import find_root, orphaned_tops, rank_number
from hwtop.model.process import ProcessInfo

SCAN_LIMIT = 4096
"""Processes that one scan of /proc reads."""

_DEADLINE_S = 0.5
_DEPTH_LIMIT = 64


class Roster:
    """Remembers command lines: a process is read in full once, later only its `stat`.

    With psutil a scan costs 6 times as much (1.6 s of CPU for 10,000 processes, here 0.25 s), and the children of one process
    more than 100 times as much, as it searches all processes (bench/psutil_cost.py).
    """

    def __init__(self, proc: str = "/proc", now: Callable[[], float] = time.monotonic) -> None:
        self.proc = proc
        self.ticks_per_s = os.sysconf("SC_CLK_TCK")
        self._entries: dict[int, ProcessEntry] = {}
        self._batch: Batch[ProcessEntry] = Batch("roster", ProcessEntry.identify, now)
        self._scanned: dict[int, list[int]] = {}
        self._now = now

    def pids(self) -> list[int]:
        """All processes, oldest numbers first."""
        return sorted(int(name) for name in os.listdir(self.proc) if name.isdigit())

    def read(self, pids: Iterable[int]) -> dict[int, ProcessInfo]:
        """Those of `pids` that exist. Never blocks for more than 0.5 s: `cmdline` and `env` may be missing."""
        found = [entry for pid in pids if (entry := self._entry(pid)) is not None]
        late = self._batch.run([entry for entry in found if entry.needs_identity()], _DEADLINE_S)
        return {entry.pid: entry.info(unidentified=late.get(entry)) for entry in found}

    def keep(self, pids: Iterable[int]) -> None:
        """Forget all others."""
        kept = set(pids)
        self._entries = {pid: entry for pid, entry in self._entries.items() if pid in kept}

    def is_kernel_thread(self, pid: int) -> bool:
        """Of a process that was read."""
        return self._entries[pid].stat.is_kernel_thread

    def children_by_scan(self) -> dict[int, list[int]]:
        """Children of every process, by reading each process's `stat`: for kernels that do not list children."""
        children: dict[int, list[int]] = {}
        for pid in self.pids()[-SCAN_LIMIT:]:
            entry = self._entry(pid)
            if entry is not None:
                children.setdefault(entry.stat.ppid, []).append(pid)
        return children

    def children(self, pid: int) -> list[int]:
        """PIDs of the children of a process that was read."""
        if pid not in self._entries:
            return []
        try:
            return list(self._entries[pid].children(self._now()))
        except (OSError, ValueError):
            self._scanned = self._scanned or self.children_by_scan()
            return self._scanned.get(pid, [])

    def tops_of(self, target_pid: int, watchers: Sequence[int]) -> tuple[int, ...]:
        """Tops of the job of `target_pid`: one, or those of ranks without a common launcher here; () when it has ended.

        Reads only what stands above the target, and all processes once where a rank has no launcher above it.
        """
        self._scanned = {}
        processes = self.read([target_pid])
        process = processes.get(target_pid)
        if process is None:
            return ()
        for _ in range(_DEPTH_LIMIT):
            found = self.read([process.ppid]) if process.ppid not in processes else {}
            if not found:
                break
            processes |= found
            process = found[process.ppid]
            if is_session(process):
                break
            processes |= self._read_below(process, processes)
        root_pid = find_root(processes, target_pid, watchers)
        ray_job = ray_job_of(processes[root_pid])
        if ray_job is not None:
            return self.ray_workers(*ray_job)
        if is_slurmstepd(processes[root_pid]) or program_name(processes[root_pid]) == "srun":
            return (root_pid, *self._step_of(processes[root_pid]))
        if rank_number(processes[root_pid], processes) is None or launcher_kind(processes[root_pid]) is not None:
            return (root_pid, *self._workers_of_driver(processes[root_pid]))
        tops = orphaned_tops(self.read(self.pids()[-SCAN_LIMIT:]) | processes, root_pid)
        self.keep(tops)
        return tops

    def ray_workers(self, raylet_pid: int, job: str) -> tuple[int, ...]:
        """PIDs of one Ray job's workers below a raylet, the oldest first."""
        self.read([raylet_pid])
        workers = self.read(self.children(raylet_pid)).values()
        mine = [process for process in workers if ray_job_of(process) == (raylet_pid, job)]
        return tuple(process.pid for process in sorted(mine, key=lambda p: (p.start_ticks, p.pid)))

    def _workers_of_driver(self, process: ProcessInfo) -> tuple[int, ...]:
        """Of a Python program that uses a Ray cluster which it did not start; its open log reports the job's number."""
        has_own = any(program_name(child) == "raylet" for child in self.read(self.children(process.pid)).values())
        if has_own or not is_python(process):
            return ()
        with contextlib.suppress(OSError, TimeoutError):
            job = Abandonable("ray-driver", lambda: driver_job(f"{self.proc}/{process.pid}"), self._now).poll(
                _DEADLINE_S
            )
            if job is not None:
                everything = self.read(self.pids()[-SCAN_LIMIT:]).values()
                raylets = [each.pid for each in everything if program_name(each) == "raylet"]
                return tuple(pid for raylet in raylets for pid in self.ray_workers(raylet, job))
        return ()

    def _step_of(self, process: ProcessInfo) -> tuple[int, ...]:
        """The one step on this node of the job whose batch script or srun this is: srun's tasks are no children of it."""
        job, step = slurm_ids(process)
        if job is None or (step or "").isdigit():
            return ()
        everything = self.read(self.pids()[-SCAN_LIMIT:]).values()
        steps = [(each.pid, slurm_ids(each)) for each in everything if is_slurmstepd(each)]
        numbered = [pid for pid, (of_job, of_step) in steps if of_job == job and (of_step or "").isdigit()]
        return tuple(numbered) if len(numbered) == 1 else ()

    def ray_job(self, pid: int) -> tuple[int, str] | None:
        """As `ray_job_of`, of a process that may have ended."""
        process = self.read([pid]).get(pid)
        return None if process is None else ray_job_of(process)

    def _read_below(self, process: ProcessInfo, known: dict[int, ProcessInfo]) -> dict[int, ProcessInfo]:
        """Its children, and what wrappers among them run."""
        children = self.read(pid for pid in self.children(process.pid) if pid not in known)
        for child in list(children.values()):
            if is_wrapper(child):
                children |= self.read(pid for pid in self.children(child.pid) if pid not in known)
        return children

    def _entry(self, pid: int) -> ProcessEntry | None:
        entry = self._entries.pop(pid, None)
        try:
            if entry is not None:
                entry.refresh()
        except ProcessLookupError:
            entry = None
        try:
            entry = entry or ProcessEntry(pid, self.proc, self.ticks_per_s)
        except (OSError, ValueError):
            return None
        self._entries[pid] = entry
        return entry


def watchers_of(pid: int, proc: str = "/proc") -> tuple[int, ...]:
    """`pid` (hwtop itself) and its ancestors."""
    found: list[int] = []
    while pid > 0 and pid not in found and len(found) < _DEPTH_LIMIT:
        found.append(pid)
        try:
            pid = ProcessEntry(pid, proc, 100).stat.ppid
        except (OSError, ValueError):
            break
    return tuple(found)

"""Just enough of many processes to tell which job each belongs to: stat, command line, environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence

from hwtop.collectors.batch import Batch
from hwtop.collectors.process_entry import ProcessEntry
from hwtop.job.launcher import is_session, is_wrapper, launcher_kind
from hwtop.job.root import find_root, orphaned_tops, rank_number
from hwtop.model.process import ProcessInfo

SCAN_LIMIT = 4096
"""Processes that one scan of /proc looks at."""

_DEADLINE_S = 0.5
_DEPTH_LIMIT = 64


class Roster:
    """Remembers command lines: a process is read in full once, later only its `stat`."""

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
        try:
            return list(self._entries[pid].children(self._now()))
        except OSError:
            self._scanned = self._scanned or self.children_by_scan()
            return self._scanned.get(pid, [])

    def tops_of(self, target_pid: int, watchers: Sequence[int]) -> tuple[int, ...]:
        """Top of the job of `target_pid`, followed by the tops of ranks that lost their common launcher; () when it has ended.

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
        if rank_number(processes[root_pid], processes) is None or launcher_kind(processes[root_pid]) is not None:
            return (root_pid,)
        tops = orphaned_tops(self.read(self.pids()[-SCAN_LIMIT:]) | processes, root_pid)
        self.keep(tops)
        return tops

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

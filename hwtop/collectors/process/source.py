"""Processes of the watched job: its own tree and nothing else."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Collection

import psutil

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.batch import Batch
from hwtop.collectors.process.entry import ProcessEntry
from hwtop.collectors.process.exit_status import ExitStatuses
from hwtop.collectors.process.files import read_bytes, read_status
from hwtop.collectors.process.other_end import OtherEnds
from hwtop.collectors.process.roster import Roster, watchers_of
from hwtop.errors import UsageError
from hwtop.job.launch.place import container_of_mounts
from hwtop.job.launch.watchers import without_watchers
from hwtop.model.plan import SamplingPlan
from hwtop.model.process import GoneProcess, ProcessInfo, ProcessReading

_DEADLINE_S = 0.25
"""How long one reading waits for files that may block, all processes together."""

_PROC = "/proc"
_PROCESS_LIMIT = 1024
_GONE_LIMIT = 256
_SCAN_EVERY_S = 3.0
"""Where the kernel lists no children, /proc is scanned for them this often."""


class ProcessSource:
    """Walks the tree of the job that `target_pid` belongs to, and keeps what it has once seen until it ends."""

    name = "process"
    every_s = 0.0

    def __init__(
        self,
        target_pid: int,
        proc: str = _PROC,
        now: Callable[[], float] = time.monotonic,
        own_pid: int | None = None,
        deadline_s: float = _DEADLINE_S,
        boot_time: Callable[[], float] = psutil.boot_time,
    ) -> None:
        """`own_pid` is hwtop's process (this one when None): it and its children are left out of every job."""
        self._target_pid = target_pid
        self._proc = proc
        self._now = now
        self._own_pid = os.getpid() if own_pid is None else own_pid
        self._deadline_s = deadline_s
        self._roster = Roster(proc, now)
        self._entries: dict[int, ProcessEntry] = {}
        self._exits = ExitStatuses()
        self._identify: Batch[ProcessEntry] = Batch("process-identity", ProcessEntry.identify, now)
        self._measure: Batch[ProcessEntry] = Batch("process-activity", lambda entry: entry.measure(now()), now)
        self._bury: Batch[ProcessEntry] = Batch("process-error-file", ProcessEntry.read_error, now)
        self._other_ends = OtherEnds(proc, now)
        self._connect: Batch[OtherEnds] = Batch("process-other-ends", self._look_at_other_end, now)
        self._ended: list[ProcessEntry] = []
        self._gone: deque[tuple[ProcessEntry, float, int | None]] = deque(maxlen=_GONE_LIMIT)
        self._root_pid: int | None = None
        self._is_attached = False
        self._watchers: tuple[int, ...] = ()
        self._boot_time_s = _found(boot_time)
        self._lists_children = True
        self._scanned: dict[int, list[int]] = {}
        self._scanned_at_s: float | None = None
        self._is_truncated = False
        self._container: str | None = None
        self._ray_job: tuple[int, str] | None = None
        self._joined_at_s = now()

    def probe(self) -> str | None:
        """Why there is nothing to read."""
        if not os.path.isdir(self._proc):
            return f"no {self._proc} on this system"
        return None

    def read(self) -> ProcessReading:
        """The tree of now; `root_pid` is None once all of it is gone."""
        now_s = self._now()
        if not self._is_attached:
            self._attach()
        self._join_ray(now_s)
        self._walk(now_s)
        processes = without_watchers(self._infos(), self._watchers, self._target_pid)
        self._bury.run(self._ended, self._deadline_s)
        self._ended = []
        missing = {}
        if self._is_truncated:
            missing["processes"] = f"first {_PROCESS_LIMIT} of the tree"
        elif not processes:
            missing["processes"] = f"process {self._target_pid} and all of its job have ended"
        return ProcessReading(
            at_s=now_s,
            ticks_per_s=self._roster.ticks_per_s,
            boot_time_s=self._boot_time_s,
            target_pid=self._target_pid,
            root_pid=self._top({process.pid for process in processes}),
            processes=processes,
            container=self._container,
            gone=tuple(_gone_process(*gone) for gone in self._gone),
            missing=missing,
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """The target stays the same."""

    def close(self) -> None:
        """Release the descriptors of the job's processes."""
        self._exits.close()

    def _attach(self) -> None:
        self._watchers = watchers_of(self._own_pid, self._proc)
        tops = self._roster.tops_of(self._target_pid, self._watchers)
        self._is_attached = True
        self._root_pid = tops[0] if tops else None
        for pid in tops:
            self._add(pid)
        self._ray_job = self._roster.ray_job(tops[-1]) if tops else None
        with contextlib.suppress(TimeoutError, OSError):
            self._container = Abandonable("process-mounts", self._read_container, self._now).poll(self._deadline_s)

    def _join_ray(self, now_s: float) -> None:
        """Ray starts new workers for a job below its raylet, which serves other jobs and is none of this one's tree."""
        if self._ray_job is None or now_s - self._joined_at_s < _SCAN_EVERY_S:
            return
        self._joined_at_s = now_s
        for pid in self._roster.ray_workers(*self._ray_job):
            if pid not in self._entries:
                self._add(pid)

    def _read_container(self) -> str | None:
        path = f"{self._proc}/{self._target_pid}/mountinfo"
        return container_of_mounts(read_bytes(path).decode("utf-8", "replace"))

    def _walk(self, now_s: float) -> None:
        """Look at every known process and at their children, until nothing new appears."""
        self._is_truncated = False
        pending = deque(self._entries)
        seen = set(pending)
        while pending:
            entry = self._entries.get(pending.popleft())
            if entry is None or not self._look(entry, now_s):
                continue
            for child in self._children(entry, now_s):
                if child in seen or child == self._own_pid:
                    continue
                seen.add(child)
                if len(self._entries) >= _PROCESS_LIMIT:
                    self._is_truncated = True
                elif self._add(child):
                    pending.append(child)

    def _add(self, pid: int) -> bool:
        try:
            self._entries[pid] = ProcessEntry(pid, self._proc, self._roster.ticks_per_s)
        except (OSError, ValueError):
            return False
        if self._proc == _PROC:  # elsewhere they are not processes of this kernel
            self._exits.hold(pid)
        return True

    def _look(self, entry: ProcessEntry, now_s: float) -> bool:
        code = entry.exit_code()
        try:
            entry.look()
        except ProcessLookupError:
            del self._entries[entry.pid]
            reaped = self._exits.take(entry.pid)
            code = reaped if code is None else code
            self._gone.append((entry, now_s, code))
            self._ended.append(entry)
            return False
        return True

    def _children(self, entry: ProcessEntry, now_s: float) -> tuple[int, ...]:
        if self._lists_children:
            try:
                return entry.children(now_s)
            except (OSError, ValueError):
                # Either it has just ended, or this kernel was built without CONFIG_PROC_CHILDREN.
                self._lists_children = not os.path.isdir(f"{self._proc}/{entry.pid}/task/{entry.pid}")
        if self._lists_children:
            return ()
        if self._scanned_at_s is None or now_s - self._scanned_at_s >= _SCAN_EVERY_S:
            self._scanned, self._scanned_at_s = self._roster.children_by_scan(), now_s
        return tuple(self._scanned.get(entry.pid, ()))

    def _infos(self) -> tuple[ProcessInfo, ...]:
        entries = sorted(self._entries.values(), key=lambda entry: entry.pid)
        end_s = self._now() + self._deadline_s
        unidentified = self._identify.run([entry for entry in entries if entry.needs_identity()], self._deadline_s)
        for entry in entries:
            entry.forget_counters()
        unmeasured = self._measure.run(entries, max(end_s - self._now(), self._deadline_s / 2))
        self._connect.run([self._other_ends], self._deadline_s / 2)
        return tuple(
            entry.info(unidentified.get(entry), unmeasured.get(entry), self._other_ends.of(entry.pid))
            for entry in entries
        )

    def _look_at_other_end(self, ends: OtherEnds) -> None:
        ends.look({entry.pid: entry.call for entry in tuple(self._entries.values())})

    def _top(self, pids: Collection[int]) -> int | None:
        if self._root_pid in pids:
            return self._root_pid
        entries = [entry for entry in self._entries.values() if entry.pid in pids]
        oldest = min(entries, key=lambda entry: (entry.stat.start_ticks, entry.pid), default=None)
        return None if oldest is None else oldest.pid


def check_target(pid: int, proc: str = "/proc") -> int:
    """The process to watch: `pid`, or the process that thread `pid` belongs to.

    Raises:
        UsageError: there is no such process, or it is one of the kernel's own.
    """
    try:
        stat = ProcessEntry(pid, proc, 100).stat if pid > 0 else None
        status = read_bytes(f"{proc}/{pid}/status").decode("utf-8", "replace")
    except (OSError, ValueError):
        stat = None
    if stat is None or stat.is_kernel_thread:
        inside = _inside_namespaces(pid, proc) if pid > 0 else ""
        if stat is None:
            if not inside and pid > 0 and _exists(pid):
                as_root = f'sudo "$(command -v hwtop)" {pid}'
                raise UsageError(f"process {pid} is not visible in {proc} (hidepid, or not mounted): {as_root}")
            raise UsageError(
                f"no process {pid}: {inside}run `hwtop` without a PID to see the jobs on this machine, `hwtop scan LOG` to find why one has ended"
            )
        raise UsageError(f"process {pid} ({stat.comm}) is a kernel thread: {inside}give the PID of a training job")
    group = next((line.split()[1] for line in status.splitlines() if line.startswith("Tgid:")), "")
    return int(group) if group.isdigit() else pid


def _exists(pid: int) -> bool:
    """What the kernel says, also of those that /proc hides from this user."""
    try:
        os.kill(pid, 0)  # sends nothing
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _inside_namespaces(pid: int, proc: str) -> str:
    """Processes that have this PID inside a container, for a user who has read it there."""
    found = []
    for name in os.listdir(proc):
        try:
            status = read_status(f"{proc}/{name}") if name.isdigit() else None
        except OSError:
            continue
        if status is not None and pid in status.ns_pids[1:]:
            found.append(name)
    return f"as a PID of a container it is {' or '.join(found[:4])} on the host, give that; or " if found else ""


def _gone_process(entry: ProcessEntry, at_s: float, exit_code: int | None) -> GoneProcess:
    if exit_code is None and entry.error is not None:
        exit_code = 1  # `@record` raises the exception again, and that ends Python
    return GoneProcess(pid=entry.pid, comm=entry.stat.comm, at_s=at_s, exit_code=exit_code, error=entry.error)


def _found(boot_time: Callable[[], float]) -> float | None:
    try:
        return boot_time()
    except (OSError, RuntimeError):  # a sandbox may hide it
        return None

"""One process of the machine and what is remembered of it between two readings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from msgspec.structs import replace

from hwtop.collectors.host.user_names import user_name
from hwtop.collectors.process.descriptors import read_call, read_files
from hwtop.collectors.process.error_file import last_words
from hwtop.collectors.process.files import (
    THREAD_LIMIT,
    Io,
    Stat,
    Status,
    exit_code,
    read_cgroup,
    read_children,
    read_cmdline,
    read_environ,
    read_io,
    read_run_delay,
    read_soft_limits,
    read_stat,
    read_status,
    read_thread,
    read_threads,
    read_tids,
    read_wchan,
)
from hwtop.collectors.process.other_end import OtherEnd
from hwtop.collectors.process.ray_log import reported_ranks
from hwtop.collectors.process.rest import Rest, read_rest
from hwtop.job.launch.environment import kept
from hwtop.job.secrets import masked_arguments
from hwtop.model.process import OpenFile, ProcessInfo, SystemCall, ThreadInfo

_FILES_EVERY_S = 5.0
_CHILDREN_EVERY_S = 2.0
_FEW_THREADS = 16
"""Processes with more threads have the children of all but the main thread listed only every 2 s."""

_THREADS_A_LOOK = 64
"""Of processes with more threads than that all are read at each second, third ... reading only: reading one takes 25 µs, and a
trainer with 300 would cost more than everything else together."""
_MOST_LOOKS = 5
"""No thread is older than so many readings."""

_IDENTITY = ("cmdline", "env", "exe", "cwd", "cgroup", "fd_limit")
_ACTIVITY = ("io", "files")


class ProcessEntry:
    """Reads one process. `look` is safe at any time; `identify` and `measure` may block for ever and never raise.

    psutil takes 1.5 times as long (bench/psutil_cost.py) and has no kernel wait, states of threads, signal masks or swap; the
    affinity is in a file that is read anyway.
    """

    def __init__(self, pid: int, proc: str, ticks_per_s: int) -> None:
        """Raises OSError when there is no such process."""
        self.pid = pid
        self.ticks_per_s = ticks_per_s
        self._proc = proc
        self._directory = f"{proc}/{pid}"
        self.stat: Stat = read_stat(self._directory)
        self._status: Status | None = None
        self._wchan: str | None = None
        self._rest: tuple[Rest | None, int | None] | None = None
        """At the first look, with the context switches so far: of interest as long as they do not grow."""
        self._run_delay_ns: int | None = None
        self.call: SystemCall | None = None
        self._threads: tuple[ThreadInfo, ...] = ()
        self._tids: tuple[int, ...] = ()
        """Its threads when they were listed last."""
        self._identity_of: tuple[int, str] | None = None
        self._cmdline: tuple[str, ...] | None = None
        self._env: dict[str, str] | None = None
        self._exe: str | None = None
        self._cwd: str | None = None
        self._cgroup: str | None = None
        self._fd_limit: int | None = None
        self._process_limit: int | None = None
        self._io: Io | None = None
        self._files: tuple[OpenFile, ...] = ()
        self._fd_count: int | None = None
        self._files_at_s: float | None = None
        self._children_of_others: tuple[int, ...] = ()
        self._children_at_s: float | None = None
        self._reported_ranks: dict[str, str] = {}
        self._looks = 0
        self.error: str | None = None
        """Its last words, once `read_error` has found them."""
        self._reasons: dict[str, str] = {}

    def refresh(self) -> None:
        """Read `stat` again.

        Raises:
            ProcessLookupError: it has ended, its PID may belong to another process now.
        """
        try:
            stat = read_stat(self._directory)
        except OSError as error:
            raise ProcessLookupError(f"process {self.pid} has ended") from error
        except ValueError as error:  # garbled, so nothing says that it has ended
            self._reasons["stat"] = self._reason(error)
            return
        self._reasons.pop("stat", None)
        if stat.start_ticks != self.stat.start_ticks:
            raise ProcessLookupError(f"process {self.pid} has ended")
        self.stat = stat

    def look(self) -> None:
        """Read `stat`, `status`, `schedstat`, `wchan` and the threads.

        Raises:
            ProcessLookupError: it has ended.
        """
        self.refresh()
        try:
            self._status = read_status(self._directory)
            self._threads = self._read_threads()
            if self._rest is None:
                rest = read_rest(self._proc, self.pid, self._threads, self.ticks_per_s)
                self._rest = rest, self._status.switches
            self._run_delay_ns = read_run_delay(self._directory)
            self._wchan = read_wchan(self._directory)
            for name in ("status", "wchan"):
                self._reasons.pop(name, None)
        except PermissionError:
            self._wchan, self._reasons["wchan"] = None, self._refusal()
        except ValueError as error:
            self._reasons["status"] = self._reason(error)
        except OSError as error:
            raise ProcessLookupError(f"process {self.pid} has ended") from error

    def children(self, now_s: float) -> tuple[int, ...]:
        """PIDs of its children; those that other threads than the main one started may be up to 2 s late.

        Raises:
            FileNotFoundError: this kernel does not list children.
        """
        children = read_children(self._directory, self.pid)
        at_s = self._children_at_s
        if self.stat.thread_count <= _FEW_THREADS or at_s is None or now_s - at_s >= _CHILDREN_EVERY_S:
            self._children_of_others = tuple(self._children_of_other_threads())
            self._children_at_s = now_s
        return children + self._children_of_others

    def needs_identity(self) -> bool:
        """Whether it is new, has executed another program, or its command line is not known yet."""
        if self.stat.has_ended:
            return self._identity_of is None
        return self._identity_of != self._program() or not self._cmdline

    def identify(self) -> None:
        """Read what changes only with an exec. Fields appear one by one: those that can block come last."""
        program = self._program()
        self._exe = self._link("exe")
        self._cwd = self._link("cwd")
        try:
            self._cgroup = read_cgroup(self._directory)
            self._fd_limit, self._process_limit = read_soft_limits(self._directory)
        except (OSError, ValueError) as error:
            self._reasons["cgroup"] = self._reason(error)
        try:
            cmdline = masked_arguments(read_cmdline(self._directory))
            if cmdline or self._cmdline is None:  # a zombie has lost its own
                self._cmdline = cmdline
            self._reasons.pop("cmdline", None)
        except OSError as error:
            self._reasons["cmdline"] = self._reason(error)
        try:
            environ = read_environ(self._directory)
            if environ or self._env is None:
                self._env = kept(environ)
            self._reasons.pop("env", None)
        except OSError as error:
            self._reasons["env"] = self._reason(error)
        self._identity_of = program

    def measure(self, now_s: float) -> None:
        """Read `io` and `syscall`, and every 5 s the open files."""
        if self.stat.has_ended:
            return
        if self.stat.state in "SD":
            with contextlib.suppress(
                OSError, ValueError
            ):  # not permitted: the kernel function that it waits in is left
                self.call = read_call(self._directory)
        try:
            self._io = read_io(self._directory)
            self._reasons.pop("io", None)
        except (OSError, ValueError, KeyError) as error:
            self._reasons["io"] = self._reason(error)
        if self._files_at_s is None or now_s - self._files_at_s >= _FILES_EVERY_S:
            self._files_at_s = now_s
            try:
                self._fd_count, self._files = read_files(self._directory)
                self._reasons.pop("files", None)
            except OSError as error:
                self._fd_count, self._reasons["files"] = None, self._reason(error)
            if "WORLD_SIZE" not in self._reported_ranks and "RAY_JOB_ID" in (self._env or {}):
                self._reported_ranks |= reported_ranks(self._files, self._uid)

    def read_error(self) -> None:
        """After its end: read what it left in the error file that torchrun gave it. May block; never raises."""
        path = (self._env or {}).get("TORCHELASTIC_ERROR_FILE")
        self.error = last_words(path, self._uid) if path else None

    @property
    def _uid(self) -> int | None:
        return None if self._status is None else self._status.uid

    def forget_counters(self) -> None:
        """Before `measure`: what it does not get to must not look fresh."""
        self._io = self.call = None

    def exit_code(self) -> int | None:
        """Of a zombie, where this user may read it; negative = signal."""
        if not self.stat.has_ended:
            return None
        status = self.stat.exit_status
        # Where it is not permitted the field reads as 0.
        return exit_code(status) if status or self._is_readable() else None

    def info(
        self, unidentified: str | None = None, unmeasured: str | None = None, other_end: OtherEnd | None = None
    ) -> ProcessInfo:
        """As struct. `unidentified` and `unmeasured` say why `identify` and `measure` did not finish; `other_end`: of what it waits at."""
        stat, status, io = self.stat, self._status, self._io
        rest, switches = self._rest or (None, None)
        if rest is None or status is None or status.switches != switches:
            rest = None
        return ProcessInfo(
            pid=self.pid,
            ppid=stat.ppid,
            comm=stat.comm,
            state=stat.state,
            start_ticks=stat.start_ticks,
            uid=status.uid if status else None,
            user=user_name(status.uid) if status and status.uid is not None else None,
            user_ticks=stat.user_ticks,
            system_ticks=stat.system_ticks,
            thread_count=stat.thread_count,
            rss_bytes=status.rss_bytes if status else stat.rss_bytes,
            anon_bytes=status.anon_bytes if status else None,
            swap_bytes=status.swap_bytes if status else None,
            wchan=self._wchan,
            call=_with_end(self.call, other_end),
            run_delay_ns=self._run_delay_ns,
            asleep_since_s=rest.main_since_s if rest else None,
            idle_since_s=rest.all_since_s if rest else None,
            voluntary_switches=status.voluntary_switches if status else None,
            involuntary_switches=status.involuntary_switches if status else None,
            tracer_pid=status.tracer_pid if status else None,
            caught_signals=status.caught_signals if status else None,
            ignored_signals=status.ignored_signals if status else None,
            usable_cores=status.usable_cores if status else None,
            allowed_cpus=status.allowed_cpus if status else None,
            cpu=stat.cpu,
            ns_pids=status.ns_pids if status else (),
            cmdline=self._cmdline,
            exe=self._exe,
            cwd=self._cwd,
            env=self._env if self._env is None or not self._reported_ranks else self._env | self._reported_ranks,
            cgroup=self._cgroup,
            read_bytes=io.read_bytes if io else None,
            written_bytes=io.written_bytes if io else None,
            read_chars=io.read_chars if io else None,
            written_chars=io.written_chars if io else None,
            fd_count=self._fd_count,
            fd_limit=self._fd_limit,
            process_limit=self._process_limit,
            files=self._files,
            threads=self._threads,
            exit_code=self.exit_code(),
            missing=self._missing(unidentified, unmeasured),
        )

    def _missing(self, unidentified: str | None, unmeasured: str | None) -> dict[str, str]:
        missing = dict(self._reasons)
        values = (self._cmdline, self._env, self._exe, self._cwd, self._cgroup, self._fd_limit)
        if unidentified is not None:
            missing |= {name: unidentified for name, value in zip(_IDENTITY, values, strict=True) if value is None}
        if unmeasured is not None:
            missing |= dict.fromkeys(_ACTIVITY, unmeasured)
        if self.stat.thread_count > THREAD_LIMIT:
            missing["threads"] = f"first {THREAD_LIMIT} of {self.stat.thread_count}"
        return missing

    def _read_threads(self) -> tuple[ThreadInfo, ...]:
        """All of them, or, between two readings of very many, only the main thread again."""
        every = min(-(-self.stat.thread_count // _THREADS_A_LOOK), _MOST_LOOKS)
        is_due = not self._threads or self._looks % max(1, every) == 0
        self._looks += 1
        if is_due:
            self._tids = (self.pid,) if self.stat.thread_count == 1 else read_tids(self._directory)
            return read_threads(self._directory, self._tids)
        return tuple(
            read_thread(self._directory, self.pid) if thread.tid == self.pid else thread for thread in self._threads
        )

    def _program(self) -> tuple[int, str]:
        """Changes when the process executes another program (or only renames itself, which costs one more reading)."""
        return (self.stat.argument_start, self.stat.comm)

    def _children_of_other_threads(self) -> Iterator[int]:
        is_listed = self._tids and self.stat.thread_count <= _FEW_THREADS
        for tid in self._tids if is_listed else read_tids(self._directory):
            if tid != self.pid:
                with contextlib.suppress(OSError, ValueError):  # a thread may end at any time
                    yield from read_children(self._directory, tid)

    def _link(self, name: str) -> str | None:
        try:
            target = os.readlink(f"{self._directory}/{name}")
        except OSError as error:
            self._reasons[name] = self._reason(error)
            return None
        self._reasons.pop(name, None)
        return target

    def _is_readable(self) -> bool:
        return os.geteuid() == 0 or (self._status is not None and self._status.uid == os.geteuid())

    def _reason(self, error: Exception) -> str:
        if isinstance(error, PermissionError):
            return self._refusal()
        if isinstance(error, (FileNotFoundError, ProcessLookupError)):
            return "the process has ended"
        return str(error)

    def _refusal(self) -> str:
        owner = self._status.uid if self._status else None
        if owner is None or owner == os.geteuid():
            return "permission denied"
        return f"permission denied: the process belongs to uid {owner}, run hwtop as that user or as root"


def _with_end(call: SystemCall | None, end: OtherEnd | None) -> SystemCall | None:
    return (
        call
        if call is None or end is None
        else replace(call, peer=end.address, peer_pids=end.pids, has_both_ends=end.is_own)
    )

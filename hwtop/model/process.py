"""Processes of the watched job, as /proc shows them."""

from __future__ import annotations

from msgspec import Struct


class ThreadInfo(Struct, frozen=True, gc=False, kw_only=True):
    """One task of a process (/proc/PID/task/TID/stat)."""

    tid: int
    comm: str
    state: str
    """One letter of proc(5): R running, S sleeping, D uninterruptible, T stopped, t traced, Z zombie, X dead, I idle."""
    cpu_ticks: int


class SystemCall(Struct, frozen=True, gc=False, kw_only=True):
    """The call into the kernel that a thread is blocked in (/proc/PID/syscall)."""

    name: str
    """As syscalls(2) has it: "read", "futex", "clock_nanosleep"."""
    fd: int | None = None
    """Its descriptor, of a call whose first argument is one."""
    target: str | None = None
    """Of that descriptor, as OpenFile.target."""
    peer: str | None = None
    """Other end of a TCP connection that it stays in, "10.0.0.3:29500"; of a file lock, who holds it: "PID 42 (python)"."""
    peer_pids: tuple[int, ...] | None = None
    """Other processes of the job that hold the other end of the pipe or connection that it stays in (of a pipe () says that none does),
    or the process that holds the file lock. None where that cannot be told."""
    has_both_ends: bool = False
    """No other process of the job has the other end of the pipe or connection open, but the process itself has."""


class OpenFile(Struct, frozen=True, gc=False, kw_only=True):
    """One file descriptor that may be a log, a pipe or a data file."""

    fd: int
    target: str
    """readlink of /proc/PID/fd/N: a path, "pipe:[123]", "socket:[456]", "/dev/pts/0"."""
    is_writable: bool = False
    mode: str | None = None
    """"r", "w" or "rw". Like the following only in ProcessDetail, where a person looks at all files."""
    offset_bytes: int | None = None
    """Where the next read or write goes; None where that means nothing (sockets, pipes, terminals)."""
    size_bytes: int | None = None
    """Of a regular file that answered in time."""


class ProcessInfo(Struct, frozen=True, gc=False, kw_only=True):
    """One process. `stat`, `status` and `wchan` are always tried; the rest may be missing with a reason."""

    pid: int
    ppid: int
    comm: str
    state: str
    """As in ThreadInfo."""
    start_ticks: int
    """Clock ticks after boot; with the pid it identifies a process for ever."""
    uid: int | None = None
    user: str | None = None
    """Name of `uid`; the number where it has none, or where nobody has told yet."""
    user_ticks: int
    system_ticks: int
    thread_count: int
    rss_bytes: int | None = None
    anon_bytes: int | None = None
    """RssAnon: memory of its own, without mapped files and shared memory. The part that can leak."""
    swap_bytes: int | None = None
    wchan: str | None = None
    """Kernel function in which the main thread sleeps."""
    call: SystemCall | None = None
    """In which the main thread is blocked; None while it runs, where reading it is not permitted, and for calls of no interest."""
    run_delay_ns: int | None = None
    """For which the main thread was ready to run and had no core, since it started (/proc/PID/schedstat)."""
    asleep_since_s: float | None = None
    """Its main thread slept when it was first read, had not run since then (monotonic clock), and has not run yet; None where it has,
    or the kernel does not report it."""
    idle_since_s: float | None = None
    """The same of all its threads that compute, at that first reading."""
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    tracer_pid: int | None = None
    caught_signals: int | None = None
    """SigCgt mask."""
    ignored_signals: int | None = None
    """SigIgn mask."""
    usable_cores: int | None = None
    """Size of Cpus_allowed."""
    allowed_cpus: str | None = None
    """Those cores as the kernel lists them: "0-3,8"."""
    cpu: int | None = None
    """On which its main thread ran last."""
    ns_pids: tuple[int, ...] = ()
    """NSpid: this pid in each nested namespace, outermost first."""
    cmdline: tuple[str, ...] | None = None
    exe: str | None = None
    cwd: str | None = None
    env: dict[str, str] | None = None
    """Only the variables in `hwtop.job.launch.environment.KEPT`: ranks, threads, launchers. No secrets. Of Ray Train's workers also
    the rank variables that they set later, as their log tells."""
    cgroup: str | None = None
    read_bytes: int | None = None
    """From storage (/proc/PID/io read_bytes)."""
    written_bytes: int | None = None
    read_chars: int | None = None
    """Through read(2) of any kind, page cache and pipes included (rchar)."""
    written_chars: int | None = None
    fd_count: int | None = None
    fd_limit: int | None = None
    process_limit: int | None = None
    """Soft limit of processes and threads of its user."""
    files: tuple[OpenFile, ...] = ()
    """fd 0 to 2 and the other regular files that are open."""
    threads: tuple[ThreadInfo, ...] = ()
    exit_code: int | None = None
    """Only of a zombie, where readable: as wait(2) would give, negative = signal."""
    missing: dict[str, str] = {}

    @property
    def switches(self) -> int | None:
        """All context switches of the main thread; None where the kernel does not tell them."""
        if self.voluntary_switches is None or self.involuntary_switches is None:
            return None
        return self.voluntary_switches + self.involuntary_switches


class GoneProcess(Struct, frozen=True, gc=False, kw_only=True):
    """A process of the job that has ended since the last reading."""

    pid: int
    comm: str
    at_s: float
    """When it was first seen missing."""
    exit_code: int | None = None
    """As ProcessInfo.exit_code; of what was reaped, where the kernel says it."""
    error: str | None = None
    """Its last words: the exception in the error file that torchrun gave it."""


class ProcessReading(Struct, frozen=True, gc=False, kw_only=True):
    """The job's own tree: the target's root, all its descendants, and members that outlived their parent."""

    at_s: float
    ticks_per_s: int
    boot_time_s: float | None = None
    target_pid: int
    root_pid: int | None
    """Top of the job's tree; None once the whole tree is gone."""
    processes: tuple[ProcessInfo, ...]
    container: str | None = None
    """Of the target, where hwtop runs in the same one and the cgroup does not tell: as JobPlace.container."""
    gone: tuple[GoneProcess, ...] = ()
    """All members that ended while hwtop watched (the newest 256)."""
    missing: dict[str, str] = {}


class ProcessDetail(Struct, frozen=True, gc=False, kw_only=True):
    """One process that a person looks at closely. Secrets are masked before it leaves the collector."""

    pid: int
    at_s: float
    env: tuple[tuple[str, str], ...] | None = None
    """At exec, sorted by name; values of secrets are "****"."""
    files: tuple[OpenFile, ...] | None = None
    """All descriptors, by number."""
    file_count: int | None = None
    """How many there are; `files` holds the first 1024."""
    limits: dict[str, str] = {}
    """Soft limits of /proc/PID/limits that matter here: "Max open files", "Max locked memory", ..."""
    missing: dict[str, str] = {}


class JobCandidate(Struct, frozen=True, gc=False, kw_only=True):
    """A process tree on this box that one could attach to."""

    pid: int
    kind: str
    """"training", "python" or "other"; training jobs are listed first."""
    title: str
    user: str
    ranks: int
    age_s: float | None
    can_attach: bool
    reason: str | None = None
    """Why not."""
    log_age_s: float | None = None
    """Since something was written to the newest of the files that its processes have as stdout or stderr; None where these are no files,
    or may not be read."""
    folder: str | None = None
    """Where it runs: tells two runs of one command apart. None where that may not be read."""
    framework: str | None = None
    """A training library that one of its Python processes has loaded ("torch", "jax", "xgboost", ...); None where none was seen."""


class ProgramReading(Struct, frozen=True, gc=False, kw_only=True):
    """What one process tree on this box uses: counters, of the processes that live."""

    pid: int
    """Of its top."""
    name: str
    """Of the program, without its arguments."""
    user: str
    cpu_ticks: int
    rss_bytes: int | None
    pids: tuple[int, ...]


class ProgramRates(Struct, frozen=True, gc=False, kw_only=True):
    """The same over the time between two scans."""

    pid: int
    name: str
    user: str
    cpu_pct: float | None
    """100 = one core."""
    rss_bytes: int | None
    pids: tuple[int, ...]


class CandidateReading(Struct, frozen=True, gc=False, kw_only=True):
    """The slow, bounded scan of all processes."""

    at_s: float
    candidates: tuple[JobCandidate, ...]
    scanned: int
    truncated: bool = False
    programs: tuple[ProgramReading, ...] = ()
    """Trees that used most CPU time since the scan before, or hold most memory, and all candidates."""
    ticks_per_s: int = 100

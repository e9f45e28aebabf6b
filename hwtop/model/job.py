"""The job: launcher, ranks, loader workers, and what each of them does."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.aim import FlightTarget, LogTarget
from hwtop.model.flight import FlightVerdict
from hwtop.model.hang import BlockedThread, CollectiveTimeout, Rendezvous, WorkerLock
from hwtop.model.log import LogEvent, LogFile, LogLine, Progress
from hwtop.model.process import ProcessDetail
from hwtop.model.stack import DeepDump, Refusal, StackDump, StackFrame

Phase = Literal[
    "startup",
    "rendezvous",
    "compile",
    "checkpoint",
    "data",
    "data-main",
    "collective",
    "backward",
    "optimizer",
    "sync",
    "eval",
    "logging",
    "agent",
    "forward",
    "other",
]
"""What a rank's main thread is in (see `hwtop.job.phase`). "data" waits for loader workers, "data-main" loads in
the training process itself, "sync" waits for the device."""

RankState = Literal[
    "starting",
    "training",
    "checkpoint",
    "eval",
    "data-wait",
    "collective-wait",
    "slow",
    "stalled",
    "stuck",
    "stopped",
    "dead",
    "unknown",
]

HelperKind = Literal["launcher", "wrapper", "loader-worker", "resource-tracker", "compile-worker", "logger", "other"]

ProcessRole = Literal["rank", HelperKind]


class Member(Struct, frozen=True, kw_only=True):
    """One process of the job with its place in it: what `hwtop.job.tree.members` makes of a ProcessReading."""

    pid: int
    ppid: int
    depth: int
    """Distance from the job's root."""
    role: ProcessRole
    rank: int | None = None
    """Of a rank its number; of a loader worker or other helper the rank it belongs to."""
    local_rank: int | None = None
    world_size: int | None = None
    launcher_kind: str | None = None
    """Of a launcher: "torchrun", "accelerate", "mpirun", "python", ..."""
    run_id: str | None = None
    """What tells this job from another on the same box."""


class DataFile(Struct, frozen=True, kw_only=True):
    """The file that a process reads or writes, as far as its descriptors tell."""

    path: str
    mount_point: str | None = None
    """None where the mount is not among those that are watched."""
    fs_type: str | None = None


class Worker(Struct, frozen=True, kw_only=True):
    """A data loader worker of a rank."""

    pid: int
    state: str
    cpu_pct: float | None
    """100 = one core."""
    rss_bytes: int | None
    wchan: str | None
    read_bytes_per_s: float | None
    read_chars_per_s: float | None = None
    """Through read(2) of any kind: page cache, pipes and files; sockets where they are read so."""
    leaf: StackFrame | None = None
    """Where its main thread was last seen, plumbing left out."""
    file: DataFile | None = None
    """The file that it opened last, logs aside."""
    exit_code: int | None = None
    """Of a zombie: negative = signal."""
    same_stack_for_s: float | None = None
    """As of a rank."""


class Held(Struct, frozen=True, kw_only=True):
    """What stayed on a rank's stack over several looks."""

    frame: StackFrame
    """The innermost one that every look shows."""
    is_still: bool
    """Nothing changed below it either."""
    looks: int
    seconds: float
    """From the first of the looks to the last."""


class SlowVote(Struct, frozen=True, kw_only=True):
    """The rank that stood apart from the waiting majority in most rounds of stacks."""

    rank: int
    votes: int
    rounds: int


class PhaseShare(Struct, frozen=True, kw_only=True):
    """Share of a rank's samples in one phase over the window."""

    phase: Phase
    share: float
    """0 to 1."""


class HotSpot(Struct, frozen=True, kw_only=True):
    """A user function that many samples of one process group were in."""

    function: str
    """Last component of its name."""
    file: str
    """Short: relative to its package."""
    line: int
    """The one that most of the samples were at."""
    share: float
    """Of all samples of the window, 0 to 1."""
    samples: int


class Spell(Struct, frozen=True, kw_only=True):
    """A stretch of time in which every look at a rank showed one phase."""

    phase: Phase
    from_s: float
    """First look that showed it; times are of the snapshots' clock."""
    to_s: float
    """Last look that showed it."""
    looks: int
    looks_before: int
    """All looks at this rank before the first of these."""
    not_before_s: float | None = None
    """Last look that showed something else before."""
    over_by_s: float | None = None
    """First look that showed something else after; None while it goes on."""


class HotLine(Struct, frozen=True, kw_only=True):
    """A line of user code that many samples were at, in one phase; waits count as well."""

    function: str
    file: str
    line: int
    code: str | None
    """Its text; None where the file cannot be read or has changed since the process started."""
    phase: Phase
    share: float
    """Of all samples of the window, 0 to 1."""
    samples: int


class Rank(Struct, frozen=True, kw_only=True):
    """One rank: a process that trains."""

    rank: int
    pid: int
    local_rank: int | None = None
    gpus: tuple[int, ...] = ()
    is_alive: bool
    exit_code: int | None = None
    gone_at_s: float | None = None
    """When it was first missed, on the clock of the snapshots; None while it lives or its zombie is there."""
    os_state: str
    """As ThreadInfo.state; "X" when gone."""
    stopped_for_s: float | None = None
    """How long its OS state has been T or t."""
    tracer_pid: int | None = None
    wchan: str | None = None
    age_s: float | None = None
    """Since the process started."""
    cpu_pct: float | None = None
    """All its threads; 100 = one core."""
    tree_cpu_pct: float | None = None
    """With its workers."""
    main_thread_cpu_pct: float | None = None
    runnable_threads: int = 0
    """Of the rank and its workers, state R, at this tick."""
    thread_count: int = 0
    rss_bytes: int | None = None
    anon_bytes: int | None = None
    tree_anon_bytes: int | None = None
    read_bytes_per_s: float | None = None
    written_bytes_per_s: float | None = None
    workers: tuple[Worker, ...] = ()
    file: DataFile | None = None
    """The file that it opened last, logs aside."""
    log: str | None = None
    log_age_s: float | None = None
    last_line: str | None = None
    """Newest of its log; of one that is gone, the exception in the error file that torchrun gave it."""
    progress: Progress | None = None
    """The newest value of each field seen in its log."""
    step_time_s: float | None = None
    """Median of the recent steps, from the log or from the arrival of its lines."""
    step_age_s: float | None = None
    """Since the last line that told a new step; None when no line ever did."""
    step_told_at_s: float | None = None
    """When a live line last told a new step."""
    log_interval_s: float | None = None
    """Learned time between two progress lines."""
    phase: Phase | None = None
    is_waiting: bool | None = None
    """In a collective, or asleep in backward or device sync: waits for others."""
    phase_shares: tuple[PhaseShare, ...] = ()
    """Largest first, over the newest 60 s."""
    wait_share: float | None = None
    """Share of the same samples in which `is_waiting`, explicit barriers left out."""
    samples: int = 0
    """How many samples the shares rest on."""
    wait_samples: int = 0
    """How many `wait_share` rests on: fewer where only the OS state of the thread, which dumps alone tell, decides."""
    stack: StackDump | None = None
    """The newest dump."""
    same_stack_for_s: float | None = None
    """How long every dump showed the same main-thread stack; 0 after a change, None before two dumps."""
    held: Held | None = None
    idle_for_s: float | None = None
    """How long rank and workers together used under 2 % of a core and moved no bytes from or to storage."""
    hot: tuple[HotSpot, ...] = ()
    """Hottest user lines of the main thread."""
    hot_lines: tuple[HotLine, ...] = ()
    """The lines that the main thread's samples were at, most samples first."""
    spells: tuple[Spell, ...] = ()
    """When it saved or compiled, oldest first."""
    worker_hot: tuple[HotSpot, ...] = ()
    """Hottest user lines of its loader workers."""
    phase_for_s: float | None = None
    """For which every look showed this phase; None without a stack."""
    blocked: BlockedThread | None = None
    """The thread of the rank, or of its workers, that has been in state D longest."""
    worker_locks: tuple[WorkerLock, ...] = ()
    state: RankState = "unknown"


class FlameNode(Struct, frozen=True, kw_only=True):
    """A function in the flame of one process, with what it called."""

    frame: StackFrame
    """Line: the one most samples of this node were at."""
    samples: int
    """In it or below it."""
    is_user: bool
    children: tuple[FlameNode, ...] = ()
    """Most samples first."""


class Flame(Struct, frozen=True, kw_only=True):
    """Where the samples of one rank fell: an icicle, root first."""

    rank: int
    pid: int
    samples: int
    """All of the window, those of waits included."""
    window_s: float
    roots: tuple[FlameNode, ...]


class JobPlace(Struct, frozen=True, kw_only=True):
    """Where the job lives: ids that a person needs to talk about it."""

    slurm_job: str | None = None
    slurm_step: str | None = None
    slurm_name: str | None = None
    container: str | None = None
    """Short id with its runtime: "docker 3f2a1b9c0d1e", "pod ..."."""
    cgroup: str | None = None
    pid_namespace_pid: int | None = None
    """PID of the target inside its own PID namespace, where that differs."""


class StackGroup(Struct, frozen=True, kw_only=True):
    """Ranks whose main thread stands at the same place."""

    ranks: tuple[int, ...]
    frames: tuple[StackFrame, ...]
    """Normalised (see `hwtop.job.frames.normalise`), root first; line 0 = not told, in library code."""
    phase: Phase | None
    user_frame: StackFrame | None
    """Innermost frame of the user's own code."""
    leaf: StackFrame | None
    """What it is in: the frame that told the phase where that is a wait, else the innermost of `frames` that is not of
    Python's own library."""


class Launcher(Struct, frozen=True, kw_only=True):
    """What started the ranks."""

    pid: int
    kind: str
    command: str
    is_alive: bool = True


class JobProcess(Struct, frozen=True, kw_only=True):
    """One row of the process table."""

    pid: int
    ppid: int
    depth: int
    role: ProcessRole
    rank: int | None
    state: str
    cpu_pct: float | None
    rss_bytes: int | None
    thread_count: int
    read_bytes_per_s: float | None
    written_bytes_per_s: float | None
    fd_count: int | None
    wchan: str | None
    threads: dict[str, int]
    """comm -> how many threads carry it."""
    thread_states: dict[str, int]
    """state letter -> how many threads are in it."""
    command: str
    caught_signals: int | None = None
    """SigCgt mask."""
    ignored_signals: int | None = None
    """SigIgn mask."""
    start_ticks: int | None = None
    """As in ProcessInfo."""
    exit_code: int | None = None
    """Of a zombie, where it may be read: negative = signal."""


class Job(Struct, frozen=True, kw_only=True):
    """The watched job at one time."""

    target_pid: int
    launcher: Launcher | None
    world_size: int | None
    local_world_size: int | None = None
    """How many ranks this box should have, as their environment says."""
    ranks: tuple[Rank, ...]
    """By rank number."""
    processes: tuple[JobProcess, ...]
    """Tree order."""
    stack_groups: tuple[StackGroup, ...] = ()
    """Largest first; of the ranks' newest dumps."""
    log_files: tuple[LogFile, ...] = ()
    events: tuple[LogEvent, ...] = ()
    """All pattern matches kept so far, oldest first (the newest 500)."""
    lines: tuple[LogLine, ...] = ()
    """The newest 500 lines of all logs, oldest first."""
    has_ended: bool = False
    ended_for_s: float | None = None
    log_targets: tuple[LogTarget, ...] = ()
    """Files that its processes write their output to: what to follow."""
    stack_errors: tuple[tuple[str, str], ...] = ()
    """(error, advice) of py-spy, each once."""
    refusals: tuple[Refusal, ...] = ()
    """Rungs of the attach ladder that gave nothing for some rank, each reason once."""
    slow_vote: SlowVote | None = None
    flame: Flame | None = None
    """Of the focused rank, else of the one a finding would look at."""
    deep: tuple[DeepDump, ...] = ()
    """Answers to requests, oldest first (the newest 8)."""
    detail: ProcessDetail | None = None
    """Of the process that a person looks at."""
    flight: FlightVerdict | None = None
    """What the Flight Recorder dumps say; None without dumps or when nothing is open in them."""
    flight_targets: tuple[FlightTarget, ...] = ()
    flight_settings: tuple[str, ...] = ()
    """Sentences: is it on, where does it dump, how to make it dump now."""
    place: JobPlace | None = None
    restarts: int | None = None
    """How many times torchrun has started the ranks anew; None where it does not tell."""
    timeout: CollectiveTimeout | None = None
    """Of the rank whose collective will time out first; None while nobody waits unusually long."""
    rendezvous: Rendezvous | None = None

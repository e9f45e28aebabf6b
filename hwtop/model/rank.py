"""One rank and its loader workers: what each does now, and what samples of the last minute say."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.hang import BlockedThread, WorkerLock
from hwtop.model.liveness import Liveness
from hwtop.model.process import SystemCall
from hwtop.model.rank_stack import RankStack
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackFrame

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


class DataFile(Struct, frozen=True, gc=False, kw_only=True):
    """The file that a process reads or writes, as far as its descriptors tell."""

    path: str
    mount_point: str | None = None
    """None where the mount is not among those that are watched."""
    fs_type: str | None = None


class Worker(Struct, frozen=True, gc=False, kw_only=True):
    """A process that a rank started with multiprocessing: most are data loader workers."""

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
    call: SystemCall | None = None
    """As of a rank."""
    waits_for: str | None = None
    """As of a rank's `stall`."""
    is_named_loader: bool = False
    """torch has named it a worker of its DataLoader."""


class Held(Struct, frozen=True, gc=False, kw_only=True):
    """What stayed on a rank's stack over several looks."""

    frame: StackFrame
    """The innermost one that every look shows."""
    is_still: bool
    """Nothing changed below it either."""
    looks: int
    seconds: float
    """From the first of the looks to the last."""


class RankProcess(Struct, frozen=True, gc=False, kw_only=True):
    """The rank's process, and its loader workers where it says so. The defaults are those of a process that is gone."""

    os_state: str = "X"
    """As ThreadInfo.state; "X" when gone."""
    tracer_pid: int | None = None
    wchan: str | None = None
    age_s: float | None = None
    """Since the process started."""
    cpu_pct: float | None = None
    """All its threads; 100 = one core."""
    tree_cpu_pct: float | None = None
    """With its workers."""
    main_thread_cpu_pct: float | None = None
    run_delay_pct: float | None = None
    """Share of the interval for which the main thread was ready to run and had no core, 0 to 100."""
    allowed_cpus: str | None = None
    """Cores that it may run on, as the kernel lists them: "0-3,8"."""
    call: SystemCall | None = None
    """In which the main thread is blocked."""
    cpu: int | None = None
    """On which its main thread ran last."""
    runnable_threads: int = 0
    """Of the rank and its workers, state R, at this tick."""
    thread_count: int = 0
    rss_bytes: int | None = None
    anon_bytes: int | None = None
    tree_anon_bytes: int | None = None
    read_bytes_per_s: float | None = None
    written_bytes_per_s: float | None = None
    file: DataFile | None = None
    """The file that it opened last, logs aside."""


class PastPace(Struct, frozen=True, gc=False, kw_only=True):
    """The steps that the job wrote before hwtop came. Most logs tell no time of a line, but the job is no older than it is."""

    steps: int
    """From the first to the last of them."""
    step_s: float
    """What one of them took at most: the life of the job until the last line, start-up included, over their number."""


class RankLog(Struct, frozen=True, gc=False, kw_only=True):
    """The log that the rank writes to."""

    path: str | None = None
    age_s: float | None = None
    """Since the last write."""
    news_age_s: float | None = None
    """Since the last line that shows progress, where others come at their own pace, whatever the training does ("uptime 26s")."""
    interval_s: float | None = None
    """Learned time between two progress lines."""
    mean_interval_s: float | None = None
    """The same of those that were there before hwtop came: the life of the job until the last one over their number, so start-up is in
    it."""
    past_pace: PastPace | None = None
    """None where its log had no steps of this job when hwtop came."""
    longest_gap_s: float | None = None
    """Between two of its lines with a step that were there before hwtop came; None where they do not begin with a time."""
    last_line: str | None = None
    """Newest of its log; of one that is gone, the exception in the error file that torchrun gave it."""


class LostValue(Struct, frozen=True, gc=False, kw_only=True):
    """A value that its lines report with each step, under a name that hwtop does not know: it was a number, and is nan or infinite."""

    name: str
    """ "number 3 of 5" where it has none: its place in the line."""
    since_step: int
    counter: str = "step"
    """What `since_step` counts: "step" or "epoch"."""
    lines: int
    """In so many lines in a row."""


class RankProgress(Struct, frozen=True, gc=False, kw_only=True):
    """How far the training is, as its log, heartbeat or metrics file reports it."""

    newest: Progress | None = None
    """The newest value of each field."""
    step_time_s: float | None = None
    """Median of the recent steps, from the log or from the arrival of its lines."""
    step_age_s: float | None = None
    """Since the last line that reported a new step; None when no line ever did."""
    reported_at_s: float | None = None
    """When a live line last reported a new step."""
    lost_values: tuple[LostValue, ...] = ()
    """Of its log."""
    reporter: str | None = None
    """Where that is not its log: "heartbeat" (and what of it is not a number), or the path of a metrics file."""

    @property
    def step(self) -> int | None:
        """The newest one that it has reported."""
        return self.newest.step if self.newest else None


class Awaited(Struct, frozen=True, gc=False, kw_only=True):
    """The one process that another one waits for: it has the other end of the pipe or connection, or the file lock."""

    pid: int
    program: str
    """Of Python the script: "sim.py"."""


class RankStall(Struct, frozen=True, gc=False, kw_only=True):
    """What shows that the rank does not move."""

    same_stack_for_s: float | None = None
    """How long every dump showed the same main-thread stack, and the sleep that began with it; 0 after a change, None before two
    dumps."""
    same_function_for_s: float | None = None
    """How long every dump showed the same functions of the user, whatever their lines; None before two dumps."""
    held: Held | None = None
    asleep_since_s: float | None = None
    """Since when the kernel has not let its main thread run once; None while it runs, or where nobody counts."""
    asleep_for_s: float | None = None
    """The same as a length."""
    woken_every_s: float | None = None
    """Longest of its newest sleeps that are over; None before the first."""
    idle_for_s: float | None = None
    """How long rank and workers together used under 2 % of a core and moved no bytes from or to storage."""
    helpers_idle_for_s: float | None = None
    """How long all processes that it started, besides its loader workers, used under 2 % of a core; None where it started none."""
    stopped_for_s: float | None = None
    """How long its OS state has been T or t."""
    waits_for: str | None = None
    """What its main thread waits for, as the kernel shows it: "bytes from a pipe (descriptor 5)"; None while it runs."""
    awaits: Awaited | None = None
    """The process of the job that it waits for, where the kernel shows one; not its loader workers."""
    awaits_rank: int | None = None
    """The rank that it waits for, where the kernel shows who holds the other end of the pipe or connection that it waits at."""
    blocked: BlockedThread | None = None
    """The thread of the rank, or of its workers, that has been in state D longest."""
    worker_locks: tuple[WorkerLock, ...] = ()


class Rank(Struct, frozen=True, gc=False, kw_only=True):
    """One rank: a process that trains."""

    rank: int
    pid: int
    local_rank: int | None = None
    node: str | None = None
    """Name of its node; None where only this machine is watched. PIDs, paths and numbers of CPUs are the node's own."""
    state: RankState = "unknown"
    is_alive: bool
    exit_code: int | None = None
    gone_at_s: float | None = None
    """When it was first missed, on the clock of the snapshots; None while it lives or its zombie is there."""
    gpus: tuple[int, ...] = ()
    gpus_reason: str | None = None
    """Why its GPUs are not known although it uses some."""
    workers: tuple[Worker, ...] = ()
    process: RankProcess = RankProcess()
    log: RankLog = RankLog()
    progress: RankProgress = RankProgress()
    stack: RankStack = RankStack()
    stall: RankStall = RankStall()
    liveness: Liveness | None = None
    """None before it was judged."""

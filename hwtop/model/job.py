"""The job: all of it at one time."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.curve import Curve
from hwtop.model.flame import Flame
from hwtop.model.hang import Backend, CollectiveTimeout, Rendezvous
from hwtop.model.member import JobProcess, Launcher
from hwtop.model.plan import FlightTarget, LogTarget
from hwtop.model.process import ProcessDetail
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase
from hwtop.model.reported.flight import FlightVerdict
from hwtop.model.reported.log import LogEvent, LogFile, LogLine
from hwtop.model.reported.metrics import MetricsFile, MetricsTarget
from hwtop.model.reported.ras import RasReport, RasVerdict
from hwtop.model.signal import SentSignal
from hwtop.model.stack import DeepDump, Refusal, StackFrame


class OutlierVote(Struct, frozen=True, gc=False, kw_only=True):
    """The rank that stood apart from the waiting majority in most rounds of stacks."""

    rank: int
    votes: int
    rounds: int


class JobPlace(Struct, frozen=True, gc=False, kw_only=True):
    """Where the job lives: ids that a person needs to talk about it."""

    slurm_job: str | None = None
    slurm_step: str | None = None
    slurm_name: str | None = None
    container: str | None = None
    """Short id with its runtime: "docker 3f2a1b9c0d1e", "pod ..."."""
    cgroup: str | None = None
    pid_namespace_pid: int | None = None
    """PID of the target inside its own PID namespace, where that differs."""


class StackGroup(Struct, frozen=True, gc=False, kw_only=True):
    """Ranks whose main thread stands at the same place."""

    ranks: tuple[int, ...]
    frames: tuple[StackFrame, ...]
    """Normalised (see `hwtop.job.stacks.frames.normalise`), root first; line 0 = not told, in library code."""
    phase: Phase | None
    user_frame: StackFrame | None
    """Innermost frame of the user's own code."""
    leaf: StackFrame | None
    """What it is in: the frame that told the phase where that is a wait, else the innermost of `frames` that is not of
    Python's own library."""


class JobLogs(Struct, frozen=True, gc=False, kw_only=True):
    """What its logs hold."""

    files: tuple[LogFile, ...] = ()
    events: tuple[LogEvent, ...] = ()
    """All pattern matches kept so far, oldest first (the newest 500)."""
    unproven_events: tuple[LogEvent, ...] = ()
    """Those in lines that may be an earlier job's: no rule takes them for facts."""
    lines: tuple[LogLine, ...] = ()
    """The newest 500 lines of all logs, oldest first."""
    flagged_lines: tuple[LogLine, ...] = ()
    """The first lines that matched a pattern with those around them, which may no longer be among `lines`."""
    targets: tuple[LogTarget, ...] = ()
    """Files that its processes write their output to: what to follow."""
    kernel_lost_lines: int = 0
    """Records of the kernel's log that were overwritten before hwtop could read them."""


class JobMetrics(Struct, frozen=True, gc=False, kw_only=True):
    """What the training reports over its steps."""

    curves: tuple[Curve, ...] = ()
    """One of each name and source."""
    files: tuple[MetricsFile, ...] = ()
    """Metrics files that are read, newest first; without their points, which are in `curves`."""
    targets: tuple[MetricsTarget, ...] = ()


class JobStacks(Struct, frozen=True, gc=False, kw_only=True):
    """What the stacks of its ranks show together."""

    groups: tuple[StackGroup, ...] = ()
    """Largest first; of the ranks' newest dumps."""
    outlier_vote: OutlierVote | None = None
    flame: Flame | None = None
    """Of the focused rank, else of the one a finding would look at."""
    errors: tuple[tuple[str, str], ...] = ()
    """(error, advice) of py-spy, each once."""
    refusals: tuple[Refusal, ...] = ()
    """Rungs of the attach ladder that gave nothing for some rank, each reason once."""
    deep: tuple[DeepDump, ...] = ()
    """Answers to requests, oldest first (the newest 8)."""


class JobFlight(Struct, frozen=True, gc=False, kw_only=True):
    """The Flight Recorder of its ranks."""

    verdict: FlightVerdict | None = None
    """What the dumps say; None without dumps or when nothing is open in them."""
    targets: tuple[FlightTarget, ...] = ()
    settings: tuple[str, ...] = ()
    """Sentences: is it on, where does it dump, how to make it dump now."""


class JobRas(Struct, frozen=True, gc=False, kw_only=True):
    """What NCCL's RAS port says about all of its ranks, on all nodes."""

    report: RasReport | None = None
    """The newest one; None before the job looked stuck, where nobody listens, and without an answer."""
    age_s: float | None = None
    """Of the report."""
    verdict: RasVerdict | None = None
    """None where all have launched the same, and for a report from before the newest step."""
    reason: str | None = None
    """Why the newest question has no answer."""
    pids: tuple[int, ...] = ()
    """Ranks that may be asked now."""


class Job(Struct, frozen=True, gc=False, kw_only=True):
    """The watched job at one time."""

    target_pid: int
    launcher: Launcher | None
    world_size: int | None
    local_world_size: int | None = None
    """How many ranks this box should have, as their environment says."""
    place: JobPlace | None = None
    restarts: int | None = None
    """How many times torchrun has started the ranks anew; None where it does not report it."""
    ranks: tuple[Rank, ...]
    """By rank number."""
    processes: tuple[JobProcess, ...]
    """Tree order."""
    has_ended: bool = False
    ended_for_s: float | None = None
    exit_code: int | None = None
    """Of the top of its tree, once it has ended, or of the first rank that failed although the top, perhaps a shell with a pipe, returned
    0; negative = signal. None where nobody could read it."""
    logs: JobLogs = JobLogs()
    metrics: JobMetrics = JobMetrics()
    stacks: JobStacks = JobStacks()
    flight: JobFlight = JobFlight()
    ras: JobRas = JobRas()
    backend: Backend | None = None
    """What its ranks exchange tensors over, by the threads of torch; None where no rank has such threads."""
    timeout: CollectiveTimeout | None = None
    """Of the rank whose collective will time out first; None while nobody waits unusually long."""
    rendezvous: Rendezvous | None = None
    detail: ProcessDetail | None = None
    """Of the process that a person looks at."""
    sent_signals: tuple[SentSignal, ...] = ()
    """As of the Snapshot."""

"""The job: all of it at one time."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.aim import FlightTarget, LogTarget
from hwtop.model.curve import Curve
from hwtop.model.flame import Flame
from hwtop.model.flight import FlightVerdict
from hwtop.model.hang import CollectiveTimeout, Rendezvous
from hwtop.model.log import LogEvent, LogFile, LogLine
from hwtop.model.member import JobProcess, Launcher
from hwtop.model.process import ProcessDetail
from hwtop.model.rank import Phase, Rank
from hwtop.model.stack import DeepDump, Refusal, StackFrame
from hwtop.model.witness import WitnessFile, WitnessTarget


class SlowVote(Struct, frozen=True, kw_only=True):
    """The rank that stood apart from the waiting majority in most rounds of stacks."""

    rank: int
    votes: int
    rounds: int


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
    """Normalised (see `hwtop.job.stacks.frames.normalise`), root first; line 0 = not told, in library code."""
    phase: Phase | None
    user_frame: StackFrame | None
    """Innermost frame of the user's own code."""
    leaf: StackFrame | None
    """What it is in: the frame that told the phase where that is a wait, else the innermost of `frames` that is not of
    Python's own library."""


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
    flagged_lines: tuple[LogLine, ...] = ()
    """The first lines that matched a pattern with those around them, which may no longer be among `lines`."""
    curves: tuple[Curve, ...] = ()
    """What the training told over its steps; one of each name and source."""
    has_ended: bool = False
    ended_for_s: float | None = None
    witnesses: tuple[WitnessFile, ...] = ()
    """Metrics files that are read, newest first; without their points, which are in `curves`."""
    witness_targets: tuple[WitnessTarget, ...] = ()
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
    kernel_lost_lines: int = 0
    """Records of the kernel's log that were overwritten before hwtop could read them."""

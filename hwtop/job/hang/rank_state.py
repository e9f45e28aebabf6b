"""The state of one rank, from what is known of it. Pure.

"stuck" is proven: the same stack and no work. "stalled" is only overdue: nothing told a step for as long as its state may take.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from statistics import median

from msgspec.structs import replace

from hwtop.job.stacks.frames import is_stdlib_frame, is_user_frame, own_frames, short_name, training_thread
from hwtop.model.rank import Phase, Rank, RankState
from hwtop.model.stack import StackFrame

STUCK_S = 10.0
"""Two identical dumps at least this far apart, and no work in between, are called stuck (ByteRobust,
arXiv 2509.16293, compares stacks taken 10 s apart)."""

STARTING: frozenset[Phase] = frozenset({"startup", "rendezvous", "compile"})
"""Phases before the first step in which nothing visible moves for minutes."""

STARTING_CLOCK_S = 1800.0
"""NVRx's default for the first heartbeat of a rank (nvidia-resiliency-ext, fault tolerance `initial_rank_heartbeat_timeout` as
Megatron Bridge sets it)."""
TRAINING_STEPS = 5.0
TRAINING_CLOCK_S = 60.0
"""A step may take 5 times its median, and at least a minute. Engineering defaults."""
LOG_INTERVALS = 3.0
"""A job that logs every T seconds is silent when nothing came for 3 T. Engineering default."""
CHECKPOINTS = 10.0
CHECKPOINT_CLOCK_S = 600.0
"""A checkpoint may take 10 times its own median; where none was seen before, 10 minutes. Engineering defaults."""

OTHERS_WAIT = 0.3
"""The others must wait at least this share of their time ..."""
WAITS_LEAST = 0.4
"""... and the slow rank at most this part of it: the straggler is the rank that waits least."""
LOOP_QUIET_S = 60.0
"""Silence of a script's own event loop whose logging interval nobody knows: it may train on request. Engineering default."""
IRREGULAR = 2.0
"""A step over twice its median is irregular (Holmes, NSDI'25)."""
MIN_SAMPLES = 8
_MOSTLY = 0.5
_EVENT_LOOPS = frozenset(
    {
        ("asyncio/base_events.py", "_run_once"),
        ("selectors.py", "select"),
        ("code.py", "interact"),
        ("cmd.py", "cmdloop"),
    }
)
"""Functions of Python's own library in which a process waits for something to do."""


def is_still(rank: Rank) -> bool:
    """Same stack for `STUCK_S` and no work by rank or workers: a fact, whatever the rank may be allowed to take.

    A rank that spins in a collective counts as well, and so does one whose main thread is in D state.
    """
    if not rank.is_alive or rank.stack.phase is None:
        return is_blocked(rank)
    if rank.progress.step_age_s is not None and rank.progress.step_age_s < STUCK_S:
        return False  # a rank that is looked at once in a while, always in the same collective
    if (rank.stall.same_stack_for_s or 0.0) < STUCK_S:
        return is_blocked(rank)
    is_idle = (rank.stall.idle_for_s or 0.0) >= STUCK_S
    return is_idle or is_blocked(rank) or (rank.stack.phase in ("collective", "sync") and bool(rank.stack.is_waiting))


def idle_s(rank: Rank) -> float:
    """How long it has stood at the same place and done no work; 0 where one of the two is not known."""
    return min(rank.stall.same_stack_for_s or 0.0, rank.stall.idle_for_s or 0.0)


def is_blocked(rank: Rank) -> bool:
    """Its main thread is in D state for `STUCK_S` and was not woken once."""
    blocked = rank.stall.blocked
    return rank.is_alive and blocked is not None and _is_own(rank) and blocked.for_s >= STUCK_S


def is_stuck(rank: Rank) -> bool:
    """It is still, and neither starts, evaluates nor saves: those may take long. In D state nothing is allowed for."""
    if is_blocked(rank):
        return True
    if not is_still(rank) or rank.stack.phase in STARTING or rank.stack.phase == "eval" or is_idle_loop(rank):
        return False
    return rank.stack.phase != "checkpoint" or _is_overdue(rank)


def is_idle_loop(rank: Rank) -> bool:
    """Its main thread is in an event loop and no event comes: a notebook between two cells, a server without a request.

    A wait for loader workers ends in the same `select`, and is none. Nor is the loop of a script that told steps from within it
    and has been silent for unusually long: there a coroutine waits for another one.
    """
    if rank.stack.phase == "data":
        return False
    thread = training_thread(rank.stack.dump) if rank.stack.dump is not None else None
    if thread is None:
        return False
    frames = own_frames(thread)
    inner = list(takewhile(lambda frame: not is_user_frame(frame), frames))
    if not any((frame.short_filename, short_name(frame.name)) in _EVENT_LOOPS for frame in inner):
        return False
    return not (len(inner) < len(frames) and _runs_coroutines(inner) and _fell_silent(rank))


def _reported_step(rank: Rank) -> bool:
    return rank.progress.newest is not None and rank.progress.newest.step is not None


def _fell_silent(rank: Rank) -> bool:
    if not _reported_step(rank):
        return False
    ages = [age for age in (rank.progress.step_age_s, rank.log.age_s) if age is not None]
    usual_s = rank.log.interval_s
    return bool(ages) and min(ages) >= (LOOP_QUIET_S if usual_s is None else LOG_INTERVALS * usual_s)


def _runs_coroutines(inner: Sequence[StackFrame]) -> bool:
    """Whether the user's code called asyncio itself: a notebook's or a web server's loop is started by a package."""
    return all(is_stdlib_frame(frame) for frame in inner) and inner[-1].short_filename.startswith("asyncio/")


def stall_clock_s(rank: Rank) -> float | None:
    """How long nothing may be told before the rank counts as stalled; None = without limit (evaluation)."""
    if rank.stack.phase in STARTING:
        return STARTING_CLOCK_S
    if rank.stack.phase == "checkpoint":
        usual_s = usual_checkpoint_s(rank)
        return CHECKPOINTS * usual_s if usual_s else CHECKPOINT_CLOCK_S
    if rank.stack.phase == "eval":
        return None
    steps_s = TRAINING_STEPS * (rank.progress.step_time_s or 0.0)
    return max(steps_s, TRAINING_CLOCK_S, LOG_INTERVALS * (rank.log.interval_s or 0.0))


def usual_checkpoint_s(rank: Rank) -> float | None:
    """Median length of its checkpoints that are over, each as long as it can have been; None before the first."""
    lengths = [
        interval.over_by_s - (interval.from_s if interval.not_before_s is None else interval.not_before_s)
        for interval in rank.stack.intervals
        if interval.phase == "checkpoint" and interval.over_by_s is not None
    ]
    return median(lengths) if lengths else None


def share_of(rank: Rank, *phases: Phase) -> float:
    """Share of its samples that the rank spent in these phases, 0 to 1."""
    return sum(entry.share for entry in rank.stack.shares if entry.phase in phases)


def rank_state(rank: Rank) -> RankState:
    """What to call what the rank does now; steady over the sampling window, not the last sample."""
    if not rank.is_alive:
        return "dead"
    if rank.process.os_state in ("T", "t"):
        return "stopped"
    if is_stuck(rank):
        return "stuck"
    if is_still(rank) and is_idle_loop(rank):
        return "unknown"
    if rank.stack.phase is None:
        return "training" if _reported_step(rank) else "unknown"
    if _is_overdue(rank):
        return "stalled"
    is_once_more = rank.stack.phase == "compile" and rank.progress.step_time_s is not None
    if rank.stack.phase in STARTING and not is_once_more:
        return "starting"
    if rank.stack.phase == "checkpoint":
        return "checkpoint"
    if rank.stack.phase == "eval":
        return "eval"
    return _training_state(rank)


def settled(ranks: Sequence[Rank]) -> tuple[Rank, ...]:
    """The ranks with states that take the others into account.

    Who only waits for a rank that still works is not stuck, and among ranks that wait the one that waits least is slow.
    """
    slow = slowest(ranks)
    if slow is not None and slow.state == "training":
        ranks = [replace(rank, state="slow") if rank is slow else rank for rank in ranks]
    if not any(rank.is_alive and rank.state not in ("stuck", "stalled", "stopped") for rank in ranks):
        return tuple(ranks)
    return tuple(
        replace(rank, state="collective-wait") if rank.state in ("stuck", "stalled") and rank.stack.is_waiting else rank
        for rank in ranks
    )


def slowest(ranks: Sequence[Rank], others_wait: float = OTHERS_WAIT, waits_least: float = WAITS_LEAST) -> Rank | None:
    """The rank that hardly waits while the others wait (for it, then); None where there is none, or samples lack."""
    live = [rank for rank in ranks if rank.is_alive]
    if len(live) < 2 or any(rank.stack.samples < MIN_SAMPLES or rank.stack.wait_share is None for rank in live):
        return None
    slow, *others = sorted(live, key=lambda rank: rank.stack.wait_share or 0.0)
    typical = median(rank.stack.wait_share or 0.0 for rank in others)
    is_least = (slow.stack.wait_share or 0.0) <= waits_least * typical
    return slow if typical >= others_wait and is_least else None


def _training_state(rank: Rank) -> RankState:
    if share_of(rank, "data", "data-main") >= _MOSTLY:
        return "data-wait"
    reported_s = rank.progress.newest.step_time_s if rank.progress.newest else None
    if (
        reported_s is not None
        and rank.progress.step_time_s is not None
        and reported_s > IRREGULAR * rank.progress.step_time_s
    ):
        return "slow"
    return "collective-wait" if (rank.stack.wait_share or 0.0) >= _MOSTLY else "training"


def _is_overdue(rank: Rank) -> bool:
    clock_s = stall_clock_s(rank)
    if clock_s is None:
        return False
    is_long_phase = rank.stack.phase in STARTING or rank.stack.phase == "checkpoint"
    since_s = rank.stack.phase_for_s if is_long_phase else rank.progress.step_age_s
    return since_s is not None and since_s >= clock_s


def _is_own(rank: Rank) -> bool:
    return rank.stall.blocked is not None and rank.stall.blocked.is_main and not rank.stall.blocked.is_worker

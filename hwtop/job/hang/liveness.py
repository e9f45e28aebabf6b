"""How improbable it is that a rank which shows no progress is well: a phi-accrual failure detector. Pure.

phi = -log10 P(a healthy gap is longer than this one) (Hayashibara et al., The phi accrual failure detector, SRDS 2004). Signs of
progress: a step, a line of the log, a collective that returned, another place in the stack. Gaps are taken as log-normal, for steps,
evaluations and saves differ by orders of magnitude. Two estimates must both find a gap improbable: a prior of the phase that the
rank is in, and the rhythm that was learnt of the job itself. Whether a rank sleeps, polls or computes does not say that it makes
progress; it says how much silence is usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import erfc, exp, inf, log, log10, sqrt
from statistics import NormalDist, median
from typing import Literal

from hwtop.job.stacks.frames import called_by_user, is_stdlib_frame, own_frames, short_name, thread_of
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase

ALPHA = 1e-3
"""Of the healthy gaps, the share that is called a hang. The one level of all ranks, phases and rules. Engineering
default."""
LEVEL = -log10(ALPHA)
SUSPECT = LEVEL * 2 / 3
"""One gap in a hundred: enough for a closer inspection, and to no longer call a rank merely slow. Engineering default."""

Stage = Literal["training", "away"]
"""away: it starts, compiles, evaluates or saves, or nothing has shown that it ever trained."""
Activity = Literal["idle", "busy", "moving"]
"""idle: under 2 % of a core with all that it started, in one function of the user; or waiting for other ranks. busy: its main thread
is in one function, and it, or only other threads of the rank, compute. moving: whatever it does, nothing was reported. What holds of one holds of those after it."""

PRIOR_S: Mapping[tuple[Stage, Activity], float] = {
    ("training", "idle"): 10.0,
    ("training", "busy"): 20.0,
    ("training", "moving"): 60.0,
    ("away", "idle"): 20.0,
    ("away", "busy"): 1800.0,
    ("away", "moving"): 1800.0,
}
"""The gap that `ALPHA` of the healthy ones exceed, before anything is known of the job. Source: idle in training:
ByteRobust (arXiv 2509.16293) compares stacks taken 10 s apart; away and at work: NVRx (nvidia-resiliency-ext) gives 1800 s
to the first heartbeat; the others are engineering defaults."""
STANDSTILL_S = PRIOR_S["training", "idle"]
"""What is done, or slept, for so long at one place is a standstill where nothing else explains it."""
_PRIOR_SPREAD = 1.0
"""Standard deviation of the logarithm: a pause of unknown kind. Engineering default."""
_EXCEEDED = exp(_PRIOR_SPREAD * NormalDist().inv_cdf(1 - ALPHA))
"""Times its median: the gap that `ALPHA` exceed."""
_LEARNT_SPREAD = 0.355
"""Standard deviation of the logarithm where the rhythm is known: three times the median is exceeded by `ALPHA`. Engineering
default."""
_BASE_RATE = 0.01
"""Share of hangs among the pauses that a user inspects. Engineering default."""
MOST_CONFIDENCE = 0.97
"""The gap may be real and mean something else. Engineering default."""
MOST_PHI = 20.0
"""So improbable is a gap where its share cannot be computed; no more is needed anywhere. Engineering default."""
RUNS_PCT = 2.0
"""Of a core: a main thread, or a rank with its workers, that uses less does nothing: watchdog threads and wait loops take
less. Engineering default."""

AWAY: frozenset[Phase | None] = frozenset({"startup", "rendezvous", "compile", "checkpoint", "eval"})
_TRAINED: tuple[Phase, ...] = ("backward", "optimizer", "data")
"""Phases that only a training loop has; a server computes forward, too."""
_EVENT_LOOPS = frozenset(
    {
        ("asyncio/base_events.py", "_run_once"),
        ("selectors.py", "select"),
        ("code.py", "interact"),
        ("cmd.py", "cmdloop"),
    }
)
"""Functions of Python's own library in which a process waits for something to do."""


def phi(
    rank: Rank,
    activities: Iterable[Activity] = ("idle",),
    *,
    floor_s: float = 0.0,
    is_missed: bool = False,
    trained: bool = False,
) -> float:
    """How improbable it is that the rank is well.

    Args:
        rank: alive.
        activities: those whose gaps count; who asks says what else must be known.
        floor_s: at least so long a gap is usual, where something outside of the rank explains it.
        is_missed: others wait for it, so that what it computes is no step of all of them.
        trained: the job is known to have trained, whatever this rank has shown.
    """
    stage = stage_of(rank, trained=trained)
    return max((_phi_of(rank, activity, stage, floor_s, is_missed) for activity in activities), default=0.0)


def is_improbable(rank: Rank) -> bool:
    """It does nothing, or waits, for longer than a healthy rank would."""
    return rank.is_alive and phi(rank) >= LEVEL


def phi_of_prior(gap_s: float, exceeded_s: float) -> float:
    """Of a gap of which `exceeded_s` is as in `PRIOR_S`."""
    return _phi(gap_s, exceeded_s / _EXCEEDED, _PRIOR_SPREAD)


def phi_of_silence(gap_s: float | None, rhythm_s: float | None, *, varies: bool = False) -> float:
    """Of a time without a report where reports come every `rhythm_s` (median); without bound where one of the two is not known.

    `varies`: it may be doing something else than usual.
    """
    spread = _PRIOR_SPREAD if varies else _LEARNT_SPREAD
    return MOST_PHI if gap_s is None or rhythm_s is None else _phi(gap_s, rhythm_s, spread)


def confidence(surprise: float) -> float:
    """That a gap so improbable is a hang, by Bayes' rule."""
    return min(MOST_CONFIDENCE, _BASE_RATE / (_BASE_RATE + (1 - _BASE_RATE) * 10**-surprise))


def silent_s(rank: Rank) -> float | None:
    """Since its newest step or log line; None where nothing is reported."""
    log_s = rank.log.age_s if rank.log.news_age_s is None else rank.log.news_age_s
    return min((age for age in (rank.progress.step_age_s, log_s) if age is not None), default=None)


def newest_report_s(ranks: Iterable[Rank]) -> float | None:
    """Since the newest step or log line of any of these ranks; None where none reports."""
    return min((age for rank in ranks if (age := silent_s(rank)) is not None), default=None)


def rhythm_s(rank: Rank) -> float | None:
    """Usual time between two reports: lines, or steps where those are longer; None where it is not known.

    Steps whose age is not known, as metrics files are written late, say nothing of a log that is silent.
    """
    step_s = None if rank.progress.step_age_s is None else rank.progress.step_time_s
    return max((each for each in (_interval_s(rank), step_s) if each is not None), default=None)


def _interval_s(rank: Rank) -> float | None:
    """Usual time between two lines with a step."""
    return rank.log.mean_interval_s if rank.log.interval_s is None else rank.log.interval_s


def evidence_s(rank: Rank, activity: Activity) -> float:
    """For how long it has been seen at no more than this; 0 where it does more, or is not seen."""
    if activity == "moving":
        told_s = silent_s(rank)
        away_s = rank.stack.phase_for_s if rank.stack.phase in AWAY else None
        return (away_s if told_s is None else told_s) or 0.0
    blocked_s = rank.stall.blocked.for_s if rank.stall.blocked is not None and is_blocked(rank) else 0.0
    blocked_s = max(blocked_s, rank.stall.stopped_for_s or 0.0)
    if rank.stack.phase is None:
        return max(blocked_s, _still_s(rank)) if activity == "idle" else blocked_s
    place_s = max(rank.stall.same_stack_for_s or 0.0, rank.stall.same_function_for_s or 0.0)
    if activity == "busy":
        return place_s if _main_thread_computes(rank) else min(place_s, _own_threads_s(rank))
    if rank.stack.phase == "rendezvous":
        return rank.stack.phase_for_s or 0.0
    if rank.stack.is_waiting and rank.stack.phase in ("collective", "sync"):
        return max(blocked_s, rank.stall.same_stack_for_s or 0.0)  # in which it may spin
    slept_s = (rank.stall.asleep_for_s or 0.0) if rank.stack.is_waiting else 0.0
    return max(blocked_s, min(place_s, max(slept_s, rank.stall.idle_for_s or 0.0)))


def _still_s(rank: Rank) -> float:
    """Of a rank that trained and whose stack cannot be read: for how long neither it nor what it started has used a core, and nothing
    was reported."""
    told_s = silent_s(rank) if has_trained(rank) else None
    return 0.0 if told_s is None else min(told_s, rank.stall.idle_for_s or 0.0, _own_threads_s(rank))


def _main_thread_computes(rank: Rank) -> bool:
    pct = rank.process.main_thread_cpu_pct
    return pct is None or pct >= RUNS_PCT or rank.process.os_state == "R"


def _own_threads_s(rank: Rank) -> float:
    """For how long its main thread can have waited for nothing but threads of its own: no process that it started worked."""
    if rank.stack.phase == "data":
        return 0.0
    return inf if rank.stall.helpers_idle_for_s is None else rank.stall.helpers_idle_for_s


def is_blocked(rank: Rank) -> bool:
    """Its main thread has been in D state for long and was not woken."""
    blocked = rank.stall.blocked
    is_own = blocked is not None and blocked.is_main and not blocked.is_worker
    return rank.is_alive and blocked is not None and is_own and blocked.for_s >= STANDSTILL_S


def stage_of(rank: Rank, *, trained: bool = False) -> Stage:
    """What its silence is measured by. `trained`: as of `phi`."""
    if is_blocked(rank) or rank.process.os_state in ("T", "t"):
        return "training"  # no phase makes a process stop, or sleep where nothing can wake it
    if rank.stack.phase in AWAY:
        return "away"
    return "training" if trained or rank.stack.is_waiting or has_trained(rank) else "away"


def has_trained(rank: Rank) -> bool:
    """It reported a step or an epoch, or was seen in a part of a step."""
    progress = rank.progress.newest
    if progress is not None and (progress.step is not None or progress.epoch is not None):
        return True
    phases = {rank.stack.phase, *(share.phase for share in rank.stack.shares if share.share > 0)}
    return not phases.isdisjoint(_TRAINED)


def is_idle_loop(rank: Rank) -> bool:
    """Its main thread is in an event loop and no event comes: a notebook between two cells, a server without a request.

    A wait for loader workers ends in the same `select`, and is none. Nor is the loop of a script that reported steps from within it
    and has been silent for improbably long: there a coroutine waits for another one.
    """
    thread = thread_of(rank)
    if thread is None or rank.stack.phase == "data":
        return False
    frames = own_frames(thread)
    inner = called_by_user(frames)
    if not any((frame.short_filename, short_name(frame.name)) in _EVENT_LOOPS for frame in inner):
        return False
    is_own = (
        len(inner) < len(frames)
        and all(map(is_stdlib_frame, inner))
        and inner[-1].short_filename.startswith("asyncio/")
    )
    return not (is_own and has_reported(rank) and _is_silent_for_long(rank))


def has_reported(rank: Rank) -> bool:
    """A step of it is known."""
    return rank.progress.newest is not None and rank.progress.newest.step is not None


def usual_checkpoint_s(rank: Rank) -> float | None:
    """Median length of its checkpoints that are over, each as long as it can have been; None before the first."""
    lengths = [
        interval.over_by_s - (interval.from_s if interval.not_before_s is None else interval.not_before_s)
        for interval in rank.stack.intervals_of("checkpoint")
        if interval.over_by_s is not None
    ]
    return median(lengths) if lengths else None


def _is_silent_for_long(rank: Rank) -> bool:
    """By its own rhythm; where that is not known, as if it moved."""
    usual_s = _interval_s(rank)
    if usual_s is None:
        return phi(rank, ("moving",)) >= LEVEL
    return phi_of_silence(silent_s(rank), usual_s) >= LEVEL


def _phi_of(rank: Rank, activity: Activity, stage: Stage, floor_s: float, is_missed: bool) -> float:
    told_s = silent_s(rank)
    gap_s = evidence_s(rank, activity) if told_s is None else min(told_s, evidence_s(rank, activity))
    prior_s = max(PRIOR_S[stage, activity], floor_s)
    varies = activity == "busy" and not is_missed
    surprise = min(phi_of_prior(gap_s, prior_s), phi_of_silence(told_s, rhythm_s(rank), varies=varies))
    if activity == "idle" and not is_blocked(rank):  # a job that has slept for so long before may do so again
        surprise = min(surprise, phi_of_silence(gap_s, rank.stall.woken_every_s))
    if rank.stack.phase == "checkpoint" and not is_blocked(rank):
        surprise = min(surprise, phi_of_silence(rank.stack.phase_for_s, usual_checkpoint_s(rank)))
    return surprise


def _phi(gap_s: float, median_s: float, spread: float) -> float:
    """Of a log-normal distribution."""
    if gap_s <= 0:
        return 0.0
    if median_s <= 0:
        return MOST_PHI
    ratio = gap_s / median_s
    if ratio == 0:  # too small for a float
        return 0.0
    share = 0.5 * erfc(log(ratio) / spread / sqrt(2))
    return MOST_PHI if share <= 10**-MOST_PHI else -log10(share) + 1e-9

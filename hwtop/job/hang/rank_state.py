"""The state of one rank, from what is known of it. Pure; how long is too long is the liveness model's (`hwtop.job.hang.liveness`).

"stuck" is proven: no progress, and no work or no other place. "stalled" is only overdue: it moves, and nothing was reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec.structs import replace

from hwtop.job.hang.liveness import (
    LEVEL,
    STANDSTILL_S,
    SUSPECT,
    Activity,
    evidence_s,
    has_reported,
    has_trained,
    is_idle_loop,
    is_improbable,
    newest_report_s,
    phi,
    silent_s,
)
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.model.evidence import MOSTLY
from hwtop.model.liveness import Liveness, LivenessState
from hwtop.model.rank import Rank, RankState
from hwtop.model.rank_stack import Phase

STARTING: frozenset[Phase] = frozenset({"startup", "rendezvous", "compile"})
"""Phases before the first step."""

WAITS_LEAST = 0.4
"""The slow rank waits at most this part of what the others wait: the straggler is the rank that waits least. Engineering
default."""
IRREGULAR = 2.0
"""A step over so many times its median is irregular. Source: Holmes, NSDI'25."""
MIN_SAMPLES = 8
"""Stack samples of a rank; with fewer hardly a share is proven. Engineering default."""
_GOES_ON: frozenset[RankState] = frozenset({"training", "slow", "data-wait"})
_MISSING: frozenset[RankState] = frozenset({"stuck", "stalled", "stopped"})


def is_stuck(rank: Rank) -> bool:
    """It does nothing for longer than a healthy rank would; who meets the others, or waits for a request, may."""
    return is_improbable(rank) and rank.stack.phase != "rendezvous" and not is_idle_loop(rank)


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
    if is_improbable(rank) and is_idle_loop(rank):
        return "unknown"
    if rank.stack.phase is None:
        return "training" if has_reported(rank) else "unknown"
    if phi(rank, ("moving",)) >= LEVEL:
        return "stalled"
    is_once_more = rank.progress.step_time_s is not None and (
        rank.stack.phase == "compile" or (rank.stack.phase == "startup" and rank.progress.reported_at_s is not None)
    )  # an import now and then
    if rank.stack.phase in STARTING and not is_once_more:
        return "starting"
    if rank.stack.phase == "checkpoint":
        return "checkpoint"
    if rank.stack.phase == "eval":
        return "eval"
    return _training_state(rank)


def settled(ranks: Sequence[Rank]) -> tuple[Rank, ...]:
    """The ranks with states that take the others into account, and their liveness.

    Who only waits for a rank that still works is not stuck, and among ranks that wait the one that waits least is slow.
    """
    if len(ranks) == 1 and ranks[0].state == "collective-wait" and waits_for_ranks(ranks[0], is_alone=True) < MOSTLY:
        ranks = [replace(ranks[0], state="training")]
    slow = slowest(ranks)
    if slow is not None and slow.state == "training":
        ranks = [replace(rank, state="slow") if rank is slow else rank for rank in ranks]
    apart, missing = _apart(ranks), _missed(ranks)
    trained = any(has_trained(rank) for rank in ranks)
    ranks = [replace(rank, liveness=_liveness(rank, apart, missing, trained=trained)) for rank in ranks]
    ranks = [replace(rank, state="stuck") if _spins_unmoved(rank, missing) else rank for rank in ranks]
    if any(rank.is_alive and rank.state not in _MISSING for rank in ranks):
        ranks = [
            replace(rank, state="collective-wait")
            if rank.state in ("stuck", "stalled") and rank.stack.is_waiting
            else rank
            for rank in ranks
        ]
    return tuple(ranks)


def waits_for_ranks(rank: Rank, *, is_alone: bool) -> float:
    """Share of its samples in waits for other ranks; one that is alone on its machine waits for the device where it synchronises."""
    share = rank.stack.wait_share or 0.0
    return max(0.0, share - share_of(rank, "sync")) if is_alone else share


def _missed(ranks: Sequence[Rank]) -> tuple[int, ...]:
    """Who is outside of a wait that others have been in for suspiciously long, while nobody reports anything."""
    waiting = [rank for rank in ranks if rank.is_alive and waits(rank) and phi(rank) >= SUSPECT]
    reported_s = newest_report_s(rank for rank in ranks if rank.is_alive)
    if not waiting or (reported_s is not None and reported_s < STANDSTILL_S / 2):
        return ()
    return _apart(ranks)


def _apart(ranks: Sequence[Rank]) -> tuple[int, ...]:
    """Who does not wait for others."""
    return tuple(rank.rank for rank in ranks if not (rank.is_alive and waits(rank)))


def _spins_unmoved(rank: Rank, missing: tuple[int, ...]) -> bool:
    is_spinning = rank.liveness is not None and rank.liveness.state == "stuck spinning"
    return is_spinning and rank.rank in missing and rank.state in _GOES_ON


def waits(rank: Rank) -> bool:
    """For other ranks: in a collective, in the rendezvous, or asleep (on a GPU: spinning) in backward or a synchronisation."""
    if rank.stack.phase == "rendezvous" or rank.stack.is_waiting:
        return True
    return bool(rank.gpus) and rank.stack.phase == "sync"


def slowest(ranks: Sequence[Rank], others_wait: float = EXPLAINS, waits_least: float = WAITS_LEAST) -> Rank | None:
    """The rank that hardly waits while the others wait (for it, then); None where there is none, or samples lack."""
    live = [rank for rank in ranks if rank.is_alive]
    if len(live) < 2 or any(rank.stack.samples < MIN_SAMPLES or rank.stack.wait_share is None for rank in live):
        return None
    slow, *others = sorted(live, key=lambda rank: rank.stack.wait_share or 0.0)
    typical = median(rank.stack.wait_share or 0.0 for rank in others)
    is_least = (slow.stack.wait_share or 0.0) <= waits_least * typical
    return slow if typical >= others_wait and is_least else None


def _liveness(rank: Rank, apart: tuple[int, ...], missing: tuple[int, ...], *, trained: bool) -> Liveness:
    if not rank.is_alive:
        return Liveness(state="gone", phi=0.0)
    waits_now, is_missed = waits(rank), rank.rank in missing
    activities: tuple[Activity, ...] = ("idle", "busy") if is_missed or silent_s(rank) is not None else ("idle",)
    surprise = phi(rank, activities, trained=trained, is_missed=is_missed)
    return Liveness(
        state=_liveness_state(rank, surprise, waits_now),
        phi=round(surprise, 2),
        gap_s=max(evidence_s(rank, activity) for activity in activities),
        waits_for=apart if waits_now else (),
    )


def _liveness_state(rank: Rank, surprise: float, waits_now: bool) -> LivenessState:
    if rank.process.os_state in ("T", "t"):
        return "stopped"
    if waits_now and surprise >= SUSPECT:
        return "waiting"
    if surprise >= LEVEL and not is_idle_loop(rank):
        if phi(rank) < LEVEL:
            return "stuck spinning"
        return "stuck asleep" if _sleeps(rank) else "stuck polling"
    return "slow" if rank.state in ("slow", "stalled") else "progressing"


def _sleeps(rank: Rank) -> bool:
    """Not woken for most of the time in which it did nothing, or nobody counts how often it was."""
    slept_s = rank.stall.asleep_for_s
    return slept_s is None or slept_s >= evidence_s(rank, "idle") / 2


def _training_state(rank: Rank) -> RankState:
    if share_of(rank, "data", "data-main") >= MOSTLY:
        return "data-wait"
    reported_s = rank.progress.newest.step_time_s if rank.progress.newest else None
    if (
        reported_s is not None
        and rank.progress.step_time_s is not None
        and reported_s > IRREGULAR * rank.progress.step_time_s
    ):
        return "slow"
    return "collective-wait" if (rank.stack.wait_share or 0.0) >= MOSTLY else "training"

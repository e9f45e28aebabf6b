"""straggler-rank: the others wait for one rank, which hardly waits."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.job.hang.liveness import LEVEL, PRIOR_S, SUSPECT, confidence, is_improbable, phi_of_prior
from hwtop.job.hang.rank_state import slowest, waits
from hwtop.job.hang.stall import newest_step_s, wait_phi, waited_s
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.frames import place
from hwtop.model.evidence import MINOR, REPEATED
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import PhaseShare
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import has_gpu
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import Cause, at, cause_of, hot_spot
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import proven_confidence, proven_recurrence, share_at_least
from hwtop.symptoms.text import percent

_EXPLAINED: frozenset[str] = frozenset({"checkpoint", "logging", "startup", "compile", "rendezvous"})

_LOADS: frozenset[str] = frozenset({"data", "data-main"})
_LOADING: dict[Cause, str] = {
    "cpu": "what loads its data keeps a core busy",
    "io": "what loads its data waits for bytes",
    "workers": "what loads its data is neither busy nor seen to wait for bytes: it pauses, or loads one thing after the other",
}
"""What the loading of a rank does while it waits."""


STRAGGLER = limits_of("straggler-rank")


def check_straggler(history: History, limits: Limits = STRAGGLER) -> Observation | None:
    """One rank hardly waits while the others wait for it."""
    slow = slowest(history.live_ranks, limits.others_wait_share, limits.least_share)
    if slow is None:
        return None
    others = [rank for rank in history.live_ranks if rank is not slow]
    numbers = [rank.rank for rank in others]
    typical = median(rank.stack.wait_share or 0.0 for rank in others)
    samples = min(rank.stack.wait_samples for rank in others)
    if samples < REPEATED or share_at_least(typical, samples) < limits.others_wait_share:
        return None
    work = next((share for share in slow.stack.shares if share.phase not in ("collective", "sync")), None)
    if work is None or slow.state in ("stopped", "starting") or _is_explained(slow, work, limits):
        return None
    if all(wait_phi(rank) >= SUSPECT for rank in others):
        # the collective has not returned: missing, or about to come late once
        return _keeps_waiting(history, slow, others)
    return observed(
        "straggler-rank",
        severity="warning" if _lasts(history, slow, limits) else "info",
        confidence=proven_confidence(typical, samples, base=0.6),
        facts={
            "rank": slow.rank,
            "pid": slow.pid,
            "others": f"{named(numbers)} {do(numbers, 'wait')}",
            "share": typical,
            "doing": _doing(slow, work),
            "computes": work.phase not in _LOADS or None,
            "loads": _loads(slow) if work.phase in _LOADS else None,
            "has_gpu": has_gpu(history, (slow,)) or None,
        },
        evidence=(
            f"{named(numbers)} {do(numbers, 'wait')} in collectives in {percent(typical)} of {samples} samples",
            f"rank {slow.rank} waits in only {percent(slow.stack.wait_share or 0.0)} of {slow.stack.wait_samples} samples",
            *_at_barriers((slow, *others)),
            f"rank {slow.rank} spends {percent(work.share)} in {work.phase}",
            *((f"rank {slow.rank}: {_LOADING[cause_of(history, slow)]}",) if work.phase in _LOADS else ()),
            *_voted(history.job, slow),
            *(f"its hottest line: {spot.function} ({at(spot)}), {percent(spot.share)}" for spot in slow.stack.hot[:1]),
            *_alone(slow, others),
        ),
        ranks=(slow.rank,),
    )


def _lasts(history: History, slow: Rank, limits: Limits) -> bool:
    """It has been the one all the time: a rank also loses its core for some seconds, to programs that start, or in a virtual machine."""
    then = (
        slowest(moment.job.ranks, limits.others_wait_share, limits.least_share)
        for moment in history.over(limits.lasting_s)
        if moment.job
    )
    return history.covers(limits.lasting_s) and all(found is not None and found.rank == slow.rank for found in then)


def _is_explained(slow: Rank, work: PhaseShare, limits: Limits) -> bool:
    """Its own symptom, or a wait now and then; an evaluation that takes most of the time again and again is neither."""
    if work.phase != "eval":
        return work.phase in _EXPLAINED
    evaluations = slow.stack.intervals_of("eval")
    return proven_recurrence(evaluations, limits.others_wait_share, int(limits.periods)) is None


def _alone(slow: Rank, others: Sequence[Rank]) -> tuple[str, ...]:
    """What only this rank does."""
    shared = {(spot.function, spot.file) for rank in others for spot in rank.stack.hot}
    own = next((spot for spot in slow.stack.hot if (spot.function, spot.file) not in shared), None)
    if own is None or share_at_least(own.share, slow.stack.samples) < MINOR:
        return ()
    return (f"only rank {slow.rank} is in {own.function} ({at(own)}): {percent(own.share)} of its samples",)


def _loads(slow: Rank) -> str:
    """The function that its loading is in most of the time."""
    spot = hot_spot([slow])
    return f"{spot.function} ({at(spot)})" if spot is not None else "its loader"


def _at_barriers(ranks: Sequence[Rank]) -> tuple[str, ...]:
    """What the column of waits counts and this does not."""
    most = max(rank.stack.barrier_share for rank in ranks)
    return (f"barriers, which are not counted, take up to {percent(most)} more",) if round(100 * most) else ()


def _voted(job: Job | None, slow: Rank) -> tuple[str, ...]:
    vote = job.stacks.outlier_vote if job is not None else None
    if vote is None or vote.rank != slow.rank:
        return ()
    return (f"in {vote.votes} of {vote.rounds} rounds of stacks it differed while the majority waited",)


def _keeps_waiting(history: History, slow: Rank, others: list[Rank]) -> Observation | None:
    """It computes while the others wait, and their collective has not returned: a long step, or an endless loop that `hang` will
    tell in time. It is a warning as soon as a rank that stays in one function would be missed."""
    if slow.stack.phase in ("collective", "rendezvous") or is_improbable(slow):
        return None  # it waits itself, at a barrier or for another rank
    if not all(waits(rank) for rank in others) or not slow.stack.hot:
        return None
    numbers, spot = [rank.rank for rank in others], slow.stack.hot[0]
    for_s = min(waited_s(rank) for rank in others)
    surprise = min(*(wait_phi(rank) for rank in others), phi_of_prior(for_s, PRIOR_S["training", "busy"]))
    held = slow.stall.held
    step_s = newest_step_s((slow, *others))
    usual = next((rank.progress.step_time_s for rank in (slow, *others) if rank.progress.step_time_s is not None), None)
    return observed(
        "straggler-rank",
        severity="warning" if surprise >= LEVEL else "info",
        facts={
            "rank": slow.rank,
            "pid": slow.pid,
            "waiting": named(numbers),
            "place": f"{spot.function} ({at(spot)})",
            "for_s": for_s,
            "has_gpu": has_gpu(history, (slow,)) or None,
        },
        confidence=max(0.6, confidence(surprise)),
        evidence=(
            f"{named(numbers)} {do(numbers, 'wait')} in a collective that has not returned for {span(for_s)}",
            f"rank {slow.rank} uses {slow.process.cpu_pct or 0.0:.0f} % of a core"
            + (f", and has not left {place(held.frame)} for {span(held.seconds)}" if held is not None else ""),
            *(
                ()
                if step_s is None
                else (f"last step {span(step_s)} ago" + (f", usually {usual:.2f} s each" if usual else ""),)
            ),
        ),
        ranks=(slow.rank,),
    )


def _doing(rank: Rank, work: PhaseShare) -> str:
    spot = rank.stack.hot[0] if rank.stack.hot else None
    if spot is None:
        return work.phase
    return (
        f"{work.phase} ({at(spot)})" if spot.function == work.phase else f"{work.phase} ({spot.function}, {at(spot)})"
    )

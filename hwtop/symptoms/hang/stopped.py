"""rank-stopped: a rank is stopped by a signal or a debugger, once or again and again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.rank_state import waits
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion_after_colon
from hwtop.model.rank import Rank
from hwtop.seconds import span
from hwtop.symptoms.excursions import comes_back
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import percent

STOPPED = limits_of("rank-stopped")


def check_stopped(history: History, limits: Limits = STOPPED) -> Observation | None:
    """A rank is stopped by a signal or a debugger."""
    job = history.job
    stopped = [rank for rank in history.live_ranks if (rank.stall.stopped_for_s or 0.0) >= limits.stopped_s]
    if job is None or not stopped:
        return _stopped_again(history, limits)
    others = [rank.rank for rank in history.live_ranks if rank not in stopped and waits(rank)]
    evidence = [
        f"rank {rank.rank} (PID {rank.pid}) is in state {rank.process.os_state} for {span(rank.stall.stopped_for_s or 0.0)}, "
        + (f"traced by PID {rank.process.tracer_pid}" if rank.process.tracer_pid else "no debugger attached")
        for rank in stopped
    ]
    if others:
        evidence.append(f"{named(others)} {do(others, 'wait')} for it{conclusion_after_colon(job)}")
        evidence += [reported] if (reported := says(job.timeout)) else []
    traced = [rank for rank in stopped if rank.process.tracer_pid]
    numbers = [rank.rank for rank in stopped]
    return observed(
        "rank-stopped",
        confidence=0.98,
        facts={
            "ranks": named(numbers).capitalize(),
            "be": do(numbers, "be"),
            "who_waits": _who_waits(history.live_ranks, stopped, others),
            "pids": " ".join(str(rank.pid) for rank in stopped),
            "tracer": traced[0].process.tracer_pid if traced else None,
        },
        evidence=tuple(evidence),
        ranks=tuple(rank.rank for rank in stopped),
    )


def _who_waits(live: Sequence[Rank], stopped: Sequence[Rank], waiting: Sequence[int]) -> str | None:
    """ "the whole job waits", "ranks 1-2 wait"; None as long as nobody is seen to."""
    if len(stopped) + len(waiting) == len(live):
        return "the whole job waits"
    return f"{named(waiting)} {do(waiting, 'wait')}" if waiting else None


def _stopped_again(history: History, limits: Limits) -> Observation | None:
    """Each time it goes on, and is stopped again: so do programs that limit the CPU time of a process."""
    stops = {rank.rank: found for rank in history.live_ranks if (found := _stops(history, rank, limits)) is not None}
    if not stops:
        return None
    ranks = tuple(stops)
    return observed(
        "rank-stopped",
        severity="warning",
        confidence=0.9,
        facts={
            "ranks": named(ranks).capitalize(),
            "be": do(ranks, "be"),
            "share": max(share for _, share in stops.values()),
        },
        evidence=tuple(
            f"rank {number}: in state T for {percent(share)} of {limits.window_s:g} s, stopped {times} times"
            for number, (times, share) in stops.items()
        ),
        ranks=ranks,
    )


def _stops(history: History, rank: Rank, limits: Limits) -> tuple[int, float] | None:
    """(how many times it was stopped, share of the looks that found it so); None where it does not come again and again."""
    looks = [each.process for _, each in history.of_rank(limits.window_s, rank.rank)]
    stopped = [each.os_state in ("T", "t") for each in looks]
    begins = [
        index
        for index, (before, now) in enumerate(pairwise(stopped), 1)
        if now and (not before or looks[index].cpu_pct)  # with CPU time used it ran in between
    ]
    return (len(begins), sum(stopped) / len(looks)) if comes_back(begins, len(looks), int(limits.again)) else None

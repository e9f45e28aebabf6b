"""rank-dead, rank-stopped, straggler-rank: one rank is not like the others."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.liveness import LEVEL, PRIOR_S, SUSPECT, confidence, is_improbable, phi_of_prior
from hwtop.job.hang.rank_state import slowest, waits
from hwtop.job.hang.stall import newest_step_s, wait_phi, waited_s
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.job.stacks.frames import place
from hwtop.model.job import Job
from hwtop.model.member import JobProcess
from hwtop.model.rank import PhaseShare, Rank
from hwtop.symptoms.excursions import comes_back
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import Cause, at, cause_of, hot_spot
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import proven_confidence, share_at_least

FIRST_GONE_S = 0.3
"""Less than the shortest interval: two ranks that end between the same two readings cannot be ordered. Engineering
default."""
_PYTHON_ZOMBIES = ("[python", "[pt_")
"""A zombie has only its comm: the interpreter's, or what torch calls its main thread."""
_EXPLAINED: frozenset[str] = frozenset({"checkpoint", "eval", "logging", "startup", "compile", "rendezvous"})

_LOADS: frozenset[str] = frozenset({"data", "data-main"})
_LOADING: dict[Cause, str] = {
    "cpu": "what loads its data keeps a core busy",
    "io": "what loads its data waits for bytes",
    "workers": "what loads its data is neither busy nor seen to wait for bytes: it pauses, or loads one thing after the other",
}
"""What the loading of a rank does while it waits."""

STOPPED = limits_of("rank-stopped")


STRAGGLER = limits_of("straggler-rank")


def check_dead(history: History) -> Observation | None:
    """A rank is gone while others still run, or it ended with a bad exit code."""
    job, live = history.job, history.live_ranks
    if job is None:
        return None
    bad = _first_to_fail([rank for rank in job.ranks if not rank.is_alive and rank.exit_code not in (None, 0)])
    gone = [rank for rank in job.ranks if not rank.is_alive and rank.exit_code in (None, 0)]
    they_wait = bool(live) and all(rank.stack.is_waiting or is_improbable(rank) for rank in live)
    zombies = _unread_zombies(job) if they_wait else ()
    missing = (_missing(job) or _zombies_numbers(job, zombies)) if they_wait else ()
    if not they_wait:
        # a rank that ends while the others still work may simply be done; one that drew others after it was not
        gone = _first_to_go(job) if bad and not live else []
    went = gone if bad and not live else []  # first, and the others failed after it
    dead = sorted({rank.rank for rank in (went or (*bad, *gone))} | set(missing))
    if not dead:
        return None
    evidence = [_last_words(rank) for rank in ((*went, *bad) if went else (*bad, *gone))]
    left = () if gone else _left_quietly(job, bad)
    if left:
        evidence.append(
            f"{named(rank.rank for rank in bad)}: a peer closed the connection, and {named(left)} ended without an error message: check there first"
        )
    if zombies and missing:
        evidence += [
            f"{named(missing)} had ended before hwtop came: PID {z.pid} is a zombie, {_exit(z.exit_code)}"
            for z in zombies
        ]
    elif missing:
        evidence.append(f"{_size_here(job)}, but live rank processes are only {len(live)}: {named(missing)} missing")
    others = [rank.rank for rank in live]
    if live:
        evidence.append(
            f"{named(others)} still {do(others, 'wait' if they_wait else 'run')}{_where(job) if they_wait else ''}"
        )
        evidence += [reported] if (reported := says(job.timeout)) else []
    return observed(
        "rank-dead",
        confidence=0.95 if bad else 0.85,
        facts={
            "dead": named(dead).capitalize(),
            "be": do(dead, "be"),
            "first_exit": _exit(went[0].exit_code) if went else None,
            "after": f"{named(rank.rank for rank in bad)} failed after it{_how(bad)}" if went else None,
            "how": _how(bad),
            "waiting": f"{named(others)} {do(others, 'wait')}" if they_wait else None,
            "quiet": named(left) if left else None,
            "names": named(dead),
            "log": _log_of(job, dead),
            "has_others": bool(live),
        },
        evidence=tuple(evidence),
        ranks=tuple(dead),
    )


def check_stopped(history: History, limits: Limits = STOPPED) -> Observation | None:
    """A rank is stopped by a signal or a debugger."""
    job = history.job
    stopped = [rank for rank in history.live_ranks if (rank.stall.stopped_for_s or 0.0) >= limits.stopped_s]
    if job is None or not stopped:
        return _stopped_again(history, limits)
    others = [rank.rank for rank in history.live_ranks if rank not in stopped and waits(rank)]
    evidence = [
        f"rank {rank.rank} (PID {rank.pid}) is in state {rank.process.os_state} for {rank.stall.stopped_for_s:.0f} s, "
        + (f"traced by PID {rank.process.tracer_pid}" if rank.process.tracer_pid else "no debugger attached")
        for rank in stopped
    ]
    if others:
        evidence.append(f"{named(others)} {do(others, 'wait')} for it{_where(job)}")
        evidence += [reported] if (reported := says(job.timeout)) else []
    traced = [rank for rank in stopped if rank.process.tracer_pid]
    numbers = [rank.rank for rank in stopped]
    return observed(
        "rank-stopped",
        confidence=0.98,
        facts={
            "ranks": named(numbers).capitalize(),
            "be": do(numbers, "be"),
            "pids": " ".join(str(rank.pid) for rank in stopped),
            "tracer": traced[0].process.tracer_pid if traced else None,
        },
        evidence=tuple(evidence),
        ranks=tuple(rank.rank for rank in stopped),
    )


def _stopped_again(history: History, limits: Limits) -> Observation | None:
    """Each time it goes on, and is stopped again: so do programs that limit the CPU time of a process."""
    stops = {rank.rank: _stops(history, rank, limits) for rank in history.live_ranks}
    ranks = tuple(number for number, (times, _) in stops.items() if times)
    if not ranks:
        return None
    return observed(
        "rank-stopped",
        severity="warning",
        confidence=0.9,
        facts={
            "ranks": named(ranks).capitalize(),
            "be": do(ranks, "be"),
            "share": max(stops[number][1] for number in ranks),
        },
        evidence=tuple(
            f"rank {number}: in state T for {stops[number][1]:.0%} of {limits.window_s:g} s, stopped {stops[number][0]} times"
            for number in ranks
        ),
        ranks=ranks,
    )


def _stops(history: History, rank: Rank, limits: Limits) -> tuple[int, float]:
    """(how many times it was stopped, share of the looks that found it so); (0, 0) where it does not come again and again."""
    looks = [each.process for _, each in history.of_rank(limits.window_s, rank.rank)]
    stopped = [each.os_state in ("T", "t") for each in looks]
    begins = [
        index
        for index, (before, now) in enumerate(pairwise(stopped), 1)
        if now and (not before or looks[index].cpu_pct)  # with CPU time used it ran in between
    ]
    return (len(begins), sum(stopped) / len(looks)) if comes_back(begins, len(looks), int(limits.again)) else (0, 0.0)


def check_straggler(history: History, limits: Limits = STRAGGLER) -> Observation | None:
    """One rank hardly waits while the others wait for it."""
    slow = slowest(history.live_ranks, limits.others_wait_share, limits.least_share)
    if slow is None:
        return None
    others = [rank for rank in history.live_ranks if rank is not slow]
    numbers = [rank.rank for rank in others]
    typical = median(rank.stack.wait_share or 0.0 for rank in others)
    samples = min(rank.stack.wait_samples for rank in others)
    if share_at_least(typical, samples) < limits.others_wait_share:
        return None
    work = next((share for share in slow.stack.shares if share.phase not in ("collective", "sync")), None)
    if work is None or work.phase in _EXPLAINED or slow.state in ("stopped", "starting"):
        return None
    if all(wait_phi(rank) >= SUSPECT for rank in others):
        return _keeps_waiting(slow, others)  # the collective has not returned: missing, or about to come late once
    return observed(
        "straggler-rank",
        confidence=proven_confidence(typical, samples, base=0.6),
        facts={
            "rank": slow.rank,
            "pid": slow.pid,
            "others": f"{named(numbers)} {do(numbers, 'wait')}",
            "share": typical,
            "doing": _doing(slow, work),
            "computes": work.phase not in _LOADS or None,
            "loads": _loads(slow) if work.phase in _LOADS else None,
        },
        evidence=(
            f"{named(numbers)} {do(numbers, 'wait')} in collectives in {typical:.0%} of {samples} samples",
            f"rank {slow.rank} waits in only {slow.stack.wait_share or 0.0:.0%} of {slow.stack.wait_samples} samples",
            f"rank {slow.rank} spends {work.share:.0%} in {work.phase}",
            *((f"rank {slow.rank}: {_LOADING[cause_of(history, slow)]}",) if work.phase in _LOADS else ()),
            *_voted(history.job, slow),
            *(f"its hottest line: {spot.function} ({at(spot)}), {spot.share:.0%}" for spot in slow.stack.hot[:1]),
        ),
        ranks=(slow.rank,),
    )


def _loads(slow: Rank) -> str:
    """The function that its loading is in most of the time."""
    spot = hot_spot([slow])
    return f"{spot.function} ({at(spot)})" if spot is not None else "its loader"


def _voted(job: Job | None, slow: Rank) -> tuple[str, ...]:
    vote = job.stacks.outlier_vote if job is not None else None
    if vote is None or vote.rank != slow.rank:
        return ()
    return (f"in {vote.votes} of {vote.rounds} rounds of stacks it differed while the majority waited",)


def _keeps_waiting(slow: Rank, others: list[Rank]) -> Observation | None:
    """It computes while the others wait, and their collective has not returned: a long step, or an endless loop that `hang` will
    tell in time. It is a warning as soon as a rank that stays in one function would be missed."""
    if is_improbable(slow) or not all(waits(rank) for rank in others) or not slow.stack.hot:
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
        },
        confidence=max(0.6, confidence(surprise)),
        evidence=(
            f"{named(numbers)} {do(numbers, 'wait')} in a collective that has not returned for {for_s:.0f} s",
            f"rank {slow.rank} uses {slow.process.cpu_pct or 0.0:.0f} % of a core"
            + (f", and has not left {place(held.frame)} for {held.seconds:.0f} s" if held is not None else ""),
            *(
                ()
                if step_s is None
                else (f"last step {step_s:.0f} s ago" + (f", usually {usual:.2f} s each" if usual else ""),)
            ),
        ),
        ranks=(slow.rank,),
    )


def _where(job: Job) -> str:
    """Where those stand that are left."""
    return f": {conclusion(job)}" if job.stacks.groups else ""


def _first_to_fail(bad: list[Rank]) -> list[Rank]:
    """Without those that the launcher ended (SIGTERM) because another one had failed."""
    return [rank for rank in bad if rank.exit_code != -signal.SIGTERM] or bad


def _first_to_go(job: Job) -> list[Rank]:
    """The rank that went well before all others, nobody knows how, when the others then failed."""
    went = sorted((rank for rank in job.ranks if rank.gone_at_s is not None), key=lambda rank: rank.gone_at_s or 0.0)
    if len(went) < 2 or went[0].exit_code is not None:
        return []
    lead_s = (went[1].gone_at_s or 0.0) - (went[0].gone_at_s or 0.0)
    return went[:1] if lead_s >= FIRST_GONE_S else []


def _left_quietly(job: Job, bad: list[Rank]) -> tuple[int, ...]:
    """Ranks that ended quietly, where those that failed say that a peer had closed the connection."""
    numbers = {rank.rank for rank in bad}
    felt = {event.rank for event in job.logs.events if event.pattern == "nccl-error" and event.role == "cascade"}
    if not numbers or not felt & numbers:
        return ()
    return tuple(rank.rank for rank in job.ranks if not rank.is_alive and rank.exit_code in (None, 0))


def _missing(job: Job) -> tuple[int, ...]:
    """Numbers of ranks of this machine that never had a process while hwtop watched: where no size is told, the gaps."""
    if any(rank.local_rank is None for rank in job.ranks):
        return ()
    offset = {rank.rank - (rank.local_rank or 0) for rank in job.ranks}
    if len(offset) != 1:
        return ()
    seen = {rank.local_rank or 0 for rank in job.ranks}
    size = max(seen) + 1 if job.local_world_size is None else job.local_world_size
    return tuple(local + min(offset) for local in range(size) if local not in seen)


def _size_here(job: Job) -> str:
    if job.local_world_size is not None:
        return f"LOCAL_WORLD_SIZE is {job.local_world_size}"
    return f"LOCAL_RANK {max(rank.local_rank or 0 for rank in job.ranks)} is on this machine"


def _unread_zombies(job: Job) -> tuple[JobProcess, ...]:
    """Python programs of the launcher that have ended, too early to tell what they were: a zombie has no environment."""
    launcher = job.launcher
    if launcher is None or launcher.kind == "mp.spawn":
        return ()
    seen = {rank.pid for rank in job.ranks}
    return tuple(
        process
        for process in job.processes
        if process.state == "Z"
        and process.ppid == launcher.pid
        and process.pid not in seen
        and process.command.startswith(_PYTHON_ZOMBIES)
    )


def _zombies_numbers(job: Job, zombies: Sequence[JobProcess]) -> tuple[int, ...]:
    """The numbers that no rank has, where there are as many as zombies."""
    world, known = job.world_size or 0, {rank.rank for rank in job.ranks}
    if world > len(known) + len(zombies):  # whatever size the environment claims, no list of it is made
        return ()
    free = sorted(set(range(world)) - known)
    return tuple(free) if len(free) == len(zombies) else ()


def _how(bad: list[Rank]) -> str:
    return f" ({_exit(bad[0].exit_code)})" if bad else ""


def _exit(code: int | None) -> str:
    if code is None:
        return "exit code unknown"
    if code < 0:
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"
    return f"exit code {code}"


def _last_words(rank: Rank) -> str:
    words = f"; its last line: {rank.log.last_line}" if rank.log.last_line else ""
    return f"rank {rank.rank} (PID {rank.pid}) has ended, {_exit(rank.exit_code)}{words}"


def _log_of(job: Job, dead: list[int]) -> str | None:
    return next((rank.log.path for rank in job.ranks if rank.rank in dead and rank.log.path), None)


def _doing(rank: Rank, work: PhaseShare) -> str:
    spot = rank.stack.hot[0] if rank.stack.hot else None
    return f"{work.phase} ({spot.function}, {at(spot)})" if spot else work.phase

"""rank-dead, rank-stopped, straggler-rank: one rank is not like the others."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from statistics import median

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.rank_state import OTHERS_WAIT, WAITS_LEAST, is_still, slowest
from hwtop.job.hang.standstill import waits
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.job import Job
from hwtop.model.member import JobProcess
from hwtop.model.rank import PhaseShare, Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import at
from hwtop.symptoms.rule import Hold, Limits, Observation, Rule, Share
from hwtop.symptoms.statistics import proven_confidence, share_at_least

FIRST_GONE_S = 0.3
"""Less than the shortest interval: two ranks that end in one look cannot be ordered."""
STILL_S = 5.0
"""A rank whose stack has not moved for so long is not slow: it is stuck, or will be."""
_PYTHON_ZOMBIES = ("[python", "[pt_")
"""A zombie has only its comm: the interpreter's, or what torch calls its main thread."""
_EXPLAINED: frozenset[str] = frozenset({"checkpoint", "eval", "logging", "startup", "compile", "rendezvous"})


class StoppedLimits(Limits, frozen=True, kw_only=True):
    """Of rank-stopped."""

    stopped_s: Hold = 5.0
    """State T or t for so long is no passing look of a debugger. Engineering default."""


STOPPED = StoppedLimits()


class StragglerLimits(Limits, frozen=True, kw_only=True):
    """Of straggler-rank. Engineering defaults."""

    others_wait_share: Share = OTHERS_WAIT
    """Of their samples, proven."""
    least_share: Share = WAITS_LEAST
    """The slow rank waits at most this part of what the others do: the straggler is the rank that waits least."""


STRAGGLER = StragglerLimits()


def check_dead(history: History) -> Observation | None:
    """A rank is gone while others still run, or it ended with a bad exit code."""
    job, live = history.job, history.live_ranks
    if job is None:
        return None
    bad = _first_to_fail([rank for rank in job.ranks if not rank.is_alive and rank.exit_code not in (None, 0)])
    gone = [rank for rank in job.ranks if not rank.is_alive and rank.exit_code in (None, 0)]
    they_wait = bool(live) and all(rank.is_waiting or is_still(rank) for rank in live)
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
            f"{named(rank.rank for rank in bad)} felt a peer close the connection, and {named(left)} ended without telling an error: look there first"
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
        evidence += [told] if (told := says(job.timeout)) else []
    return Observation(
        severity="critical",
        confidence=0.95 if bad else 0.85,
        title=_death(dead, bad, went)
        + (f"; {named(others)} {do(others, 'wait')} for it" if they_wait else "")
        + (f"; {named(left)} ended too, with no error of its own" if left else ""),
        evidence=tuple(evidence),
        next_steps=(
            f"Read the last lines of {named(dead)}: {_log_of(job, dead)}",
            "sudo dmesg -T | grep -iE 'killed process|out of memory|xid|segfault'   # OOM killer, GPU fault, crash",
            ("The others will not recover: stop the job, then r" if live else "R") + "estart from the last checkpoint",
        ),
        ranks=tuple(dead),
    )


def _death(dead: list[int], bad: list[Rank], went: list[Rank]) -> str:
    if went:
        return f"{named(dead).capitalize()} ended first ({_exit(went[0].exit_code)}); {named(rank.rank for rank in bad)} failed after it{_how(bad)}"
    return f"{named(dead).capitalize()} {do(dead, 'be')} dead{_how(bad)}"


def check_stopped(history: History, limits: StoppedLimits = STOPPED) -> Observation | None:
    """A rank is stopped by a signal or a debugger."""
    job = history.job
    stopped = [rank for rank in history.live_ranks if (rank.stopped_for_s or 0.0) >= limits.stopped_s]
    if job is None or not stopped:
        return None
    others = [rank.rank for rank in history.live_ranks if rank not in stopped and waits(rank)]
    evidence = [
        f"rank {rank.rank} (PID {rank.pid}) is in state {rank.os_state} for {rank.stopped_for_s:.0f} s, "
        + (f"traced by PID {rank.tracer_pid}" if rank.tracer_pid else "no debugger attached")
        for rank in stopped
    ]
    if others:
        evidence.append(f"{named(others)} {do(others, 'wait')} for it{_where(job)}")
        evidence += [told] if (told := says(job.timeout)) else []
    traced = [rank for rank in stopped if rank.tracer_pid]
    first = (
        f"ps -fp {traced[0].tracer_pid}   # who attached" if traced else "Find out who sent SIGSTOP or pressed Ctrl-Z"
    )
    return Observation(
        severity="critical",
        confidence=0.98,
        title=f"{named(rank.rank for rank in stopped).capitalize()} {do([rank.rank for rank in stopped], 'be')} stopped"
        " (SIGSTOP or a debugger): the whole job waits",
        evidence=tuple(evidence),
        next_steps=("kill -CONT " + " ".join(str(rank.pid) for rank in stopped) + "   # let it go on", first),
        ranks=tuple(rank.rank for rank in stopped),
    )


def check_straggler(history: History, limits: StragglerLimits = STRAGGLER) -> Observation | None:
    """One rank hardly waits while the others wait for it."""
    slow = slowest(history.live_ranks, limits.others_wait_share, limits.least_share)
    if slow is None:
        return None
    others = [rank for rank in history.live_ranks if rank is not slow]
    numbers = [rank.rank for rank in others]
    typical = median(rank.wait_share or 0.0 for rank in others)
    samples = min(rank.wait_samples for rank in others)
    if share_at_least(typical, samples) < limits.others_wait_share:
        return None
    work = next((share for share in slow.phase_shares if share.phase not in ("collective", "sync")), None)
    if work is None or work.phase in _EXPLAINED or slow.state in ("stopped", "starting"):
        return None
    if (slow.same_stack_for_s or 0.0) >= STILL_S:
        return _keeps_waiting(slow, others)
    return Observation(
        severity="warning",
        confidence=proven_confidence(typical, samples, base=0.6, most=0.95),
        title=f"Rank {slow.rank} is slow: {named(numbers)} {do(numbers, 'wait')} {typical:.0%} of the time for it"
        + (f" while it is in {_doing(slow, work)}" if work else ""),
        evidence=(
            f"{named(numbers)} {do(numbers, 'wait')} in collectives in {typical:.0%} of {samples} samples",
            f"rank {slow.rank} waits in only {slow.wait_share or 0.0:.0%} of {slow.wait_samples} samples",
            f"rank {slow.rank} spends {work.share:.0%} in {work.phase}",
            *_voted(history.job, slow),
            *(f"its hottest line: {spot.function} ({at(spot)}), {spot.share:.0%}" for spot in slow.hot[:1]),
        ),
        next_steps=(
            f"hwtop stacks {slow.pid}   # what rank {slow.rank} does that the others do not",
            f"Compare its data, its GPU's clocks and temperature, and the load on its cores: taskset -cp {slow.pid}",
            "Swap its GPU with another rank's: if the slowness stays with the GPU it is hardware, else data or code",
        ),
        ranks=(slow.rank,),
    )


def _voted(job: Job | None, slow: Rank) -> tuple[str, ...]:
    vote = job.slow_vote if job is not None else None
    if vote is None or vote.rank != slow.rank:
        return ()
    return (f"in {vote.votes} of {vote.rounds} rounds of stacks it stood apart while the majority waited",)


def _keeps_waiting(slow: Rank, others: list[Rank]) -> Observation | None:
    """It computes at one place while the others wait: a long step, or an endless loop that `hang` will tell in time."""
    if is_still(slow) or not all(waits(rank) for rank in others) or not slow.hot:
        return None
    numbers, spot = [rank.rank for rank in others], slow.hot[0]
    for_s = slow.same_stack_for_s or 0.0
    told = [rank.step_age_s for rank in (slow, *others) if rank.step_age_s is not None]
    usual = next((rank.step_time_s for rank in (slow, *others) if rank.step_time_s is not None), None)
    return Observation(
        severity="info",
        confidence=0.6,
        title=f"Rank {slow.rank} keeps {named(numbers)} waiting: it has been in {spot.function} ({at(spot)}) for {for_s:.0f} s",
        evidence=(
            f"every look at rank {slow.rank} for {for_s:.0f} s showed the same line; it uses {slow.cpu_pct or 0.0:.0f} % of a core",
            f"{named(numbers)} {do(numbers, 'wait')} in collectives",
            *(
                (f"last step {min(told):.0f} s ago" + (f", usually {usual:.2f} s each" if usual else ""),)
                if told
                else ()
            ),
        ),
        next_steps=(
            f"hwtop stacks {slow.pid}   # is it still there? An endless loop shows the same line for ever",
            f"py-spy dump --nonblocking --locals --pid {slow.pid}   # the values that the loop runs on",
        ),
        ranks=(slow.rank,),
    )


def _where(job: Job) -> str:
    """Where those stand that are left."""
    return f": {conclusion(job)}" if job.stack_groups else ""


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
    felt = {event.rank for event in job.events if event.pattern == "nccl-error" and event.role == "cascade"}
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
    free = sorted(set(range(job.world_size or 0)) - {rank.rank for rank in job.ranks})
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
    words = f"; its last line: {rank.last_line}" if rank.last_line else ""
    return f"rank {rank.rank} (PID {rank.pid}) has ended, {_exit(rank.exit_code)}{words}"


def _log_of(job: Job, dead: list[int]) -> str:
    return next(
        (f"tail -n 50 {rank.log}" for rank in job.ranks if rank.rank in dead and rank.log), "its log or terminal"
    )


def _doing(rank: Rank, work: PhaseShare) -> str:
    spot = rank.hot[0] if rank.hot else None
    return f"{work.phase} ({spot.function}, {at(spot)})" if spot else work.phase


RULES = (
    Rule(
        symptom="rank-dead",
        category="stability",
        threshold="a rank's process is gone while the others wait for it, or it left a bad exit code",
        raise_s=3.0,
        clear_s=30.0,
        check=check_dead,
    ),
    Rule(
        symptom="rank-stopped",
        category="stability",
        threshold=lambda limits: f"state T or t for {limits.stopped_s:g} s",
        raise_s=0.0,
        clear_s=1.0,
        check=check_stopped,
        limits=STOPPED,
    ),
    Rule(
        symptom="straggler-rank",
        category="performance",
        threshold=lambda limits: (
            f"the others surely wait over {100 * limits.others_wait_share:.3g}% of their samples, this rank at most "
            f"{100 * limits.least_share:.3g}% of that (the straggler is the rank that waits least)"
        ),
        raise_s=4.0,
        clear_s=15.0,
        check=check_straggler,
        limits=STRAGGLER,
    ),
)

"""rank-dead: a rank is gone while others still run, or it ended with a bad exit code."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from hwtop.job.exit_code import exit_words
from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.liveness import is_improbable
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion_after_colon
from hwtop.model.job import Job
from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.text import quoted

FIRST_GONE_S = 0.3
"""Less than the shortest interval: two ranks that end between the same two readings cannot be ordered. Engineering
default."""
_PYTHON_ZOMBIES = ("[python", "[pt_")
"""A zombie has only its comm: the interpreter's, or what torch calls its main thread."""


def check_dead(history: History) -> Observation | None:
    """A rank is gone while others still run, or it ended with a bad exit code."""
    job, live = history.job, history.live_ranks
    if job is None:
        return None
    failed = [rank for rank in job.ranks if not rank.is_alive and rank.exit_code not in (None, 0)]
    bad = _first_to_fail(job, failed)
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
    evidence += [f"after that: {_last_words(rank)}" for rank in failed if rank not in bad]
    left = () if gone else _left_quietly(job, bad)
    if left:
        evidence.append(
            f"{named(rank.rank for rank in bad)}: a peer closed the connection, and {named(left)} ended without an error message: check there first"
        )
    if zombies and missing:
        evidence += [
            f"{named(missing)} had ended before hwtop came: PID {z.pid} is a zombie, {exit_words(z.exit_code)}"
            for z in zombies
        ]
    elif missing:
        evidence.append(f"{_size_here(job)}, but live rank processes are only {len(live)}: {named(missing)} missing")
    others = [rank.rank for rank in live]
    if live:
        evidence.append(
            f"{named(others)} still {do(others, 'wait' if they_wait else 'run')}{conclusion_after_colon(job) if they_wait else ''}"
        )
        evidence += [reported] if (reported := says(job.timeout)) else []
    return observed(
        "rank-dead",
        confidence=0.95 if bad else 0.85,
        facts={
            "dead": named(dead).capitalize(),
            "be": do(dead, "be"),
            "first_exit": exit_words(went[0].exit_code) if went else None,
            "after": f"{named(rank.rank for rank in bad)} failed after it{_how(bad)}" if went else None,
            "how": _how(bad),
            "waiting": f"{named(others)} {do(others, 'wait')}" if they_wait else None,
            "quiet": named(left) if left else None,
            "names": named(dead),
            "log": _log_of(job, dead),
            "has_others": bool(live),
            "by_signal": _may_be_signal([rank for rank in job.ranks if rank.rank in dead]),
        },
        evidence=tuple(evidence),
        ranks=tuple(dead),
    )


def _may_be_signal(dead: Sequence[Rank]) -> bool | None:
    """True where the kernel may know more: it ended one of them, or nobody knows what did. An exception is in the log."""
    codes = [rank.exit_code for rank in dead]
    return True if not codes or any(code is None or not 0 <= code <= 128 for code in codes) else None


def _first_to_fail(job: Job, failed: list[Rank]) -> list[Rank]:
    """Without those that followed another: the launcher ended them (SIGTERM), or their log says no more than that a peer was gone. One
    that got a SIGTERM before any other rank had ended followed nobody."""
    ended = [rank for rank in failed if rank.exit_code == -signal.SIGTERM and _went_first(job, rank)]
    if ended:
        return ended
    own = [rank for rank in failed if rank.exit_code != -signal.SIGTERM] or _observed_first(job, failed)
    roots = {event.rank for event in job.logs.events if event.role == "root"}
    followed = {event.rank for event in job.logs.events if event.role == "cascade"} - roots
    return [rank for rank in own if rank.rank not in followed] or own


def _observed_first(job: Job, failed: list[Rank]) -> list[Rank]:
    """Of ranks that got the same signal, the one that the launcher saw end first (torchrun's table of failures), else all."""
    first = {event.rank for event in job.logs.events if event.groups.get("first")}
    return [rank for rank in failed if rank.rank in first] or failed


def _first_to_go(job: Job) -> list[Rank]:
    """The rank that went well before all others, nobody knows how, when the others then failed."""
    return [rank for rank in job.ranks if rank.exit_code is None and _went_first(job, rank)]


def _went_first(job: Job, rank: Rank) -> bool:
    """Well before any other; False where it is the only one that has ended."""
    others = [each.gone_at_s for each in job.ranks if each.gone_at_s is not None and each.rank != rank.rank]
    if rank.gone_at_s is None or not others:
        return False
    return min(others) - rank.gone_at_s >= FIRST_GONE_S


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
    return f" ({exit_words(bad[0].exit_code)})" if bad else ""


def _last_words(rank: Rank) -> str:
    words = f"; its last line: {quoted(rank.log.last_line)}" if rank.log.last_line else ""
    return f"rank {rank.rank} (PID {rank.pid}) has ended, {exit_words(rank.exit_code)}{words}"


def _log_of(job: Job, dead: list[int]) -> str | None:
    return next((rank.log.path for rank in job.ranks if rank.rank in dead and rank.log.path), None)

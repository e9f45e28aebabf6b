"""rank-d-state: a thread of a rank, or of its loader workers, sleeps in the kernel and cannot even be killed."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.rank_state import STUCK_S, is_still
from hwtop.job.hang.standstill import waits
from hwtop.job.kernel.wait import VFORK, waits_for
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.hang import BlockedThread
from hwtop.model.job import Job
from hwtop.model.rank import DataFile, Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Hold, Limits, Observation, Rule


class BlockedLimits(Limits, frozen=True, kw_only=True):
    """Of rank-d-state."""

    blocked_s: Hold = 30.0
    """In D state without a context switch. Short D states are ordinary I/O. Engineering default; Meta's GCM flags processes
    after 300 s, the kernel's hung task detector after 120 s."""
    critical_s: Hold = 120.0
    """kernel.hung_task_timeout_secs: from here on the kernel itself complains."""


BLOCKED = BlockedLimits()


def check_blocked(history: History, limits: BlockedLimits = BLOCKED) -> Observation | None:
    """The ranks of which a thread is in D state for long, or for shorter while all others wait for them."""
    job, live = history.job, history.live_ranks
    found = [rank for rank in live if _is_blocked(rank, live, limits)]
    if job is None or not found:
        return None
    numbers = [rank.rank for rank in found]
    longest = max(found, key=lambda rank: rank.blocked.for_s if rank.blocked else 0.0)
    blocked = longest.blocked
    assert blocked is not None
    others = [rank.rank for rank in live if rank not in found and waits(rank) and is_still(rank)]
    told = says(job.timeout)
    return Observation(
        severity="critical" if others or blocked.for_s >= limits.critical_s else "warning",
        confidence=0.95 if others or blocked.for_s >= limits.blocked_s else 0.85,
        title=f"{named(numbers).capitalize()} {do(numbers, 'be')} in D state for {blocked.for_s:.0f} s: "
        f"{_what(blocked)}{_where(_file(longest, blocked))}" + (f"; {conclusion(job)}" if job.stack_groups else ""),
        evidence=(
            *(_line(rank) for rank in found),
            *((f"{named(others)} {do(others, 'wait')} for {'it' if len(found) == 1 else 'them'}",) if others else ()),
            *_kernel_says(job),
            *((told,) if told else ()),
        ),
        next_steps=_steps(longest, blocked),
        ranks=tuple(numbers),
    )


def _is_blocked(rank: Rank, live: Sequence[Rank], limits: BlockedLimits) -> bool:
    if rank.blocked is None:
        return False
    if rank.blocked.for_s >= limits.blocked_s:
        return True
    others = [other for other in live if other.rank != rank.rank and other.blocked is None]
    return rank.blocked.for_s >= STUCK_S and bool(others) and all(waits(other) and is_still(other) for other in others)


def _what(blocked: BlockedThread) -> str:
    whose = (
        "a loader worker"
        if blocked.is_worker
        else "its main thread"
        if blocked.is_main
        else f"its thread {blocked.comm}"
    )
    meaning = waits_for(blocked.wchan)
    return f"{whose} waits for {meaning}" if meaning else f"{whose} sleeps in the kernel"


def _where(file: DataFile | None) -> str:
    if file is None:
        return ""
    return f", file {file.path}" + (f" on {file.mount_point} ({file.fs_type})" if file.mount_point else "")


def _file(rank: Rank, blocked: BlockedThread) -> DataFile | None:
    """What it has open; a wait for a child is no wait for a file."""
    if waits_for(blocked.wchan) == VFORK:
        return None
    if not blocked.is_worker:
        return rank.file
    return next((worker.file for worker in rank.workers if worker.pid == blocked.pid), None)


def _line(rank: Rank) -> str:
    blocked = rank.blocked
    assert blocked is not None
    place = f" in {blocked.wchan}" if blocked.wchan else ""
    many = sum(worker.state == "D" for worker in rank.workers)
    workers = f"; {many} of its {len(rank.workers)} workers are in D state" if many else ""
    return (
        f"rank {rank.rank}: PID {blocked.pid} ({blocked.comm}) in D state{place} for {blocked.for_s:.0f} s"
        f" without running once{workers}"
    )


def _kernel_says(job: Job) -> tuple[str, ...]:
    events = [event for event in job.events if event.pattern == "filesystem-hang" and not event.is_past]
    return (f"{events[-1].path}: {events[-1].text[:200]}",) if events else ()


def _steps(rank: Rank, blocked: BlockedThread) -> tuple[str, ...]:
    if waits_for(blocked.wchan) == VFORK:
        return (
            f"ps --ppid {blocked.pid} -o pid,stat,wchan:30,args   # the child that neither runs a program nor ends",
            f"hwtop stacks {rank.pid}   # which line started it",
            "End that child: its parent goes on at once",
        )
    file = _file(rank, blocked)
    mount = file.mount_point if file is not None and file.mount_point else "MOUNT"
    return (
        f"sudo cat /proc/{blocked.pid}/stack   # where in the kernel",
        f"timeout 5 stat -f {mount}; echo $?   # 124: that file system does not answer",
        "sudo dmesg -T | grep -iE 'blocked for more|not responding|I/O error|timeout' | tail",
        "It cannot be killed until the I/O ends: bring the server or disk back, or restart the node",
    )


RULES = (
    Rule(
        symptom="rank-d-state",
        category="stability",
        threshold=lambda limits: (
            f"a thread in D state for {limits.blocked_s:g} s without a context switch; {STUCK_S:.0f} s where all other ranks wait; critical then, or after {limits.critical_s:g} s"
        ),
        raise_s=0.0,
        clear_s=3.0,
        check=check_blocked,
        limits=BLOCKED,
    ),
)

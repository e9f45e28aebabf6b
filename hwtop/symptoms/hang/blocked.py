"""rank-d-state: a thread of a rank, or of its loader workers, is in a kernel wait and cannot even be killed."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.liveness import STANDSTILL_S, is_improbable
from hwtop.job.hang.rank_state import waits
from hwtop.job.kernel.wait import VFORK, waits_for
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.hang import BlockedThread
from hwtop.model.job import Job
from hwtop.model.rank import DataFile, Rank
from hwtop.seconds import span
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import Fact

BLOCKED = limits_of("rank-d-state")


def check_blocked(history: History, limits: Limits = BLOCKED) -> Observation | None:
    """The ranks of which a thread is in D state for long, or for shorter while all others wait for them."""
    job, live = history.job, history.live_ranks
    found = [rank for rank in live if _is_blocked(rank, live, limits)]
    if job is None or not found:
        return None
    numbers = [rank.rank for rank in found]
    longest = max(found, key=lambda rank: rank.stall.blocked.for_s if rank.stall.blocked else 0.0)
    blocked = longest.stall.blocked
    assert blocked is not None
    others = [rank.rank for rank in live if rank not in found and waits(rank) and is_improbable(rank)]
    reported = says(job.timeout)
    return observed(
        "rank-d-state",
        severity="critical" if others or blocked.for_s >= limits.critical_s else "warning",
        facts={
            "ranks": named(numbers).capitalize(),
            "be": do(numbers, "be"),
            "conclusion": conclusion(job) if job.stacks.groups else None,
            **_facts(longest, blocked),
        },
        confidence=0.95 if others or blocked.for_s >= limits.blocked_s else 0.85,
        evidence=(
            *(_line(rank) for rank in found),
            *((f"{named(others)} {do(others, 'wait')} for {'it' if len(found) == 1 else 'them'}",) if others else ()),
            *_kernel_says(job),
            *((reported,) if reported else ()),
        ),
        ranks=tuple(numbers),
    )


def _is_blocked(rank: Rank, live: Sequence[Rank], limits: Limits) -> bool:
    if rank.stall.blocked is None:
        return False
    if rank.stall.blocked.for_s >= limits.blocked_s:
        return True
    others = [other for other in live if other.rank != rank.rank and other.stall.blocked is None]
    return (
        rank.stall.blocked.for_s >= STANDSTILL_S
        and bool(others)
        and all(waits(other) and is_improbable(other) for other in others)
    )


def _what(blocked: BlockedThread) -> str:
    whose = (
        "a loader worker"
        if blocked.is_worker
        else "its main thread"
        if blocked.is_main
        else f"its thread {blocked.comm}"
    )
    meaning = waits_for(blocked.wchan)
    return f"{whose} waits for {meaning}" if meaning else f"{whose} is in a kernel wait"


def _where(file: DataFile | None) -> str:
    if file is None:
        return ""
    return f", file {file.path}" + (f" on {file.mount_point} ({file.fs_type})" if file.mount_point else "")


def _file(rank: Rank, blocked: BlockedThread) -> DataFile | None:
    """What it has open; a wait for a child is no wait for a file."""
    if waits_for(blocked.wchan) == VFORK:
        return None
    if not blocked.is_worker:
        return rank.process.file
    return next((worker.file for worker in rank.workers if worker.pid == blocked.pid), None)


def _line(rank: Rank) -> str:
    blocked = rank.stall.blocked
    assert blocked is not None
    place = f" in {blocked.wchan}" if blocked.wchan else ""
    many = sum(worker.state == "D" for worker in rank.workers)
    workers = f"; {many} of its {len(rank.workers)} workers are in D state" if many else ""
    return (
        f"rank {rank.rank}: PID {blocked.pid} ({blocked.comm}) in D state{place} for {span(blocked.for_s)}"
        f" without running once{workers}"
    )


def _kernel_says(job: Job) -> tuple[str, ...]:
    events = [event for event in job.logs.events if event.pattern == "filesystem-hang" and not event.is_past]
    return (f"{events[-1].path}: {events[-1].text[:200]}",) if events else ()


def _facts(rank: Rank, blocked: BlockedThread) -> dict[str, Fact]:
    is_fork = waits_for(blocked.wchan) == VFORK
    file = _file(rank, blocked)
    return {
        "what": f"{_what(blocked)}{_where(file)}",
        "for_s": blocked.for_s,
        "blocked": blocked.pid,
        "pid": rank.pid,
        "is_fork": is_fork,
        "mount": (file.mount_point if file is not None else None) or "MOUNT",
    }

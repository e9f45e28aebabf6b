"""lock-deadlock: a rank's main thread waits for a lock that nobody will let go."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

from msgspec import Struct

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.liveness import STANDSTILL_S
from hwtop.job.hang.locks import Deadlock, deadlock, thread_name, waits_text
from hwtop.job.hang.rank_state import waits
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.job.stacks.frames import place, thread_of, user_frame
from hwtop.model.evidence import REPEATED
from hwtop.model.rank import Rank
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.seconds import span
from hwtop.symptoms.hang.stall import stall_cause
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, observed

BUSY_PCT = 10.0
"""Of a core: who takes less does not work. A thread under the interpreter's lock takes a whole core; those that want the lock wake up
200 times a second, which is 1 or 2 %. Engineering default."""


class _Found(Struct, frozen=True):
    """One rank's dead lock."""

    rank: Rank
    why: str
    evidence: tuple[str, ...]
    confidence: float


def check_locks(history: History) -> Observation | None:
    """The ranks whose main thread waits for a lock, and nobody can release it."""
    job = history.job
    if job is None:
        return None
    is_hang = stall_cause(history) is not None
    found = [each for rank in history.live_ranks if (each := _of_rank(history, rank, is_hang)) is not None]
    if not found:
        return None
    first, numbers = found[0], [each.rank.rank for each in found]
    others = [rank.rank for rank in history.live_ranks if rank.rank not in numbers and waits(rank)]
    reported = says(job.timeout)
    pid = first.rank.pid
    return observed(
        "lock-deadlock",
        confidence=max(each.confidence for each in found),
        facts={
            "ranks": named(numbers).capitalize(),
            "be": do(numbers, "be"),
            "why": first.why,
            "conclusion": conclusion(job) if others else None,
            "pid": pid,
            "launcher": job.launcher.pid if job.launcher else pid,
        },
        evidence=(
            *(line for each in found for line in each.evidence),
            *((f"{named(others)} {do(others, 'wait')} for {named(numbers)}",) if others else ()),
            *((reported,) if reported else ()),
        ),
        ranks=tuple(numbers),
    )


def _of_rank(history: History, rank: Rank, is_hang: bool) -> _Found | None:
    main = thread_of(rank)
    if rank.stack.dump is None or main is None or not _is_asleep(rank):
        return None
    return (
        _gil(history, rank, rank.stack.dump, main)
        or _lock(rank, rank.stack.dump, main, is_hang)
        or _worker_lock(rank, is_hang)
    )


def _is_asleep(rank: Rank) -> bool:
    """Where its other threads work, the idle time of the process tells nothing of the main one."""
    main_pct = rank.process.main_thread_cpu_pct
    is_idle = (rank.stall.idle_for_s or 0.0) >= STANDSTILL_S or (main_pct is not None and main_pct < 5.0)
    return (rank.stall.same_stack_for_s or 0.0) >= STANDSTILL_S and is_idle


def _lock(rank: Rank, dump: StackDump, main: ThreadStack, is_hang: bool) -> _Found | None:
    """Proven by the stacks alone (self, cycle); else only where the whole job stands still."""
    found = deadlock(dump, main)
    if found is None or (found.kind not in ("self", "cycle") and not is_hang):
        return None
    confidence = {"self": 0.97, "cycle": 0.97, "orphan": 0.9, "held": 0.75}[found.kind]
    return _Found(rank, _why(found), _evidence(rank, found), confidence)


def _why(found: Deadlock) -> str:
    tail = {
        "self": "it holds that lock itself",
        "cycle": "who holds it waits for what this thread holds",
        "orphan": "no thread of the process runs that could release it",
        "held": found.others[0] if found.others else "",
    }[found.kind]
    return f"{found.wait.thread} {waits_text(found.wait)}, and {tail}"


def _evidence(rank: Rank, found: Deadlock) -> tuple[str, ...]:
    seconds = rank.stall.same_stack_for_s or 0.0
    code = f": `{found.wait.site.code}`" if found.wait.site is not None and found.wait.site.code else ""
    return (
        f"rank {rank.rank} (PID {rank.pid}): {found.wait.thread} {waits_text(found.wait)}{code}, for {span(seconds)}",
        *(
            f"rank {rank.rank}: {other}" + (f" ({count} threads of that name)" if count > 1 else "")
            for other, count in Counter(found.others).items()
        ),
        *((f"kernel wait of its main thread: {rank.process.wchan}",) if rank.process.wchan else ()),
    )


def _worker_lock(rank: Rank, is_hang: bool) -> _Found | None:
    """A forked worker has a copy of every lock, but not of the thread that held it."""
    if not rank.stall.worker_locks or not is_hang:
        return None
    first = rank.stall.worker_locks[0]
    why = f"its loader worker {first.pid} {waits_text(first.wait)}, which was held when it was forked"
    lines = tuple(
        f"rank {rank.rank}: loader worker {lock.pid} {waits_text(lock.wait)}, and no thread of it can release that"
        for lock in rank.stall.worker_locks
    )
    return _Found(rank, why, lines, 0.85)


def _gil(history: History, rank: Rank, dump: StackDump, main: ThreadStack) -> _Found | None:
    """Another thread keeps the interpreter lock and sleeps: a C call that does not release it."""
    owner = _owner(dump)
    if owner is None or owner is main or (rank.process.cpu_pct or 0.0) >= BUSY_PCT:
        return None
    stacks = {
        each.stack.dump.at_s: each.stack.dump
        for derived in history.over(3 * STANDSTILL_S)
        if derived.job is not None
        for each in derived.job.ranks
        if each.pid == rank.pid and each.stack.dump is not None
    }
    looks = list(takewhile(lambda at_s: _place_of(_owner(stacks[at_s])) == _place_of(owner), sorted(stacks)[::-1]))
    if len(looks) < REPEATED or looks[0] - looks[-1] < STANDSTILL_S:
        return None
    user = user_frame(owner.frames)
    where = place(user) if user is not None else "C code"
    name = thread_name(owner)
    return _Found(
        rank,
        f"{name} waits in a C call ({where}) and keeps the interpreter lock (GIL)",
        (
            f"{len(looks)} samples over {span(looks[0] - looks[-1])}: {name} owns the GIL and does not run ({where})",
            f"rank {rank.rank} (PID {rank.pid}): every other Python thread waits for it",
        ),
        0.9,
    )


def _owner(dump: StackDump) -> ThreadStack | None:
    return next((thread for thread in dump.threads if thread.owns_gil), None)


def _place_of(thread: ThreadStack | None) -> tuple[object, ...] | None:
    """The thread, and where it stands."""
    return None if thread is None else (thread.os_thread_id, thread.name, thread.frames[:1])

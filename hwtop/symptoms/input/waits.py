"""What the processes that load for a rank wait for in the kernel: its workers, or itself without any."""

from __future__ import annotations

from collections import Counter

from hwtop.job.kernel.wait import WaitKind, wait_kind
from hwtop.job.stacks.conclusion import has_nothing_to_do
from hwtop.model.process import SystemCall
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host.capacity import WINDOW_S

BYTES: frozenset[WaitKind] = frozenset({"storage", "network", "pipe", "file lock"})
"""Waits for bytes, or for the right to read them."""


def wait_share(history: History, rank: Rank, *kinds: WaitKind) -> float:
    """Share of looks at the loading processes in which the kernel showed one of these waits."""
    looks = _waits(history, rank)
    return sum(kind in kinds for kind in looks) / len(looks) if looks else 0.0


def main_wait(history: History, rank: Rank) -> tuple[WaitKind, float] | None:
    """What the loading processes wait for most, and its share of the looks; None where the kernel tells nothing."""
    looks = _waits(history, rank)
    known = Counter(kind for kind in looks if kind is not None).most_common(1)
    return (known[0][0], known[0][1] / len(looks)) if known else None


def _waits(history: History, rank: Rank) -> list[WaitKind | None]:
    """Of each loading process in each look of the window."""
    found: list[WaitKind | None] = []
    for derived in history.over(WINDOW_S):
        job = derived.job
        own = frozenset(row.pid for row in job.processes) if job is not None else frozenset[int]()
        for seen in job.ranks if job is not None else ():
            if seen.rank == rank.rank and seen.workers:
                at_work = (each for each in seen.workers if not has_nothing_to_do(each))
                found += [_wait(each.state, each.wchan, each.call, own) for each in at_work]
            elif seen.rank == rank.rank:
                found.append(wait_of(seen, own))
    return found


def wait_of(rank: Rank, own: frozenset[int] = frozenset()) -> WaitKind | None:
    """Of its main thread; `own`: processes of the job, whose messages are no data."""
    return _wait(rank.process.os_state, rank.process.wchan, rank.process.call, own)


def _wait(state: str, wchan: str | None, call: SystemCall | None, own: frozenset[int]) -> WaitKind | None:
    """A socket whose other end is a process of the job brings messages, as a pipe does: simulators and actors use them, too."""
    kind = wait_kind(state, wchan, call)
    peers = call.peer_pids if call is not None else None
    return "pipe" if kind == "network" and peers and own.issuperset(peers) else kind


def state_share(history: History, rank: Rank, state: str) -> float:
    """Share of looks at the loading processes in which they were in this OS state."""
    looks = [
        found == state
        for derived in history.over(WINDOW_S)
        if derived.job is not None
        for seen in derived.job.ranks
        if seen.rank == rank.rank
        for found in ([worker.state for worker in seen.workers] or [seen.process.os_state])
    ]
    return sum(looks) / len(looks) if looks else 0.0

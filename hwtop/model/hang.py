"""What is known of waits that may never end: blocked threads, locks, the rendezvous, the collective's own timeout."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.stack import StackFrame

Backend = Literal["nccl", "gloo"]

LockKind = Literal["lock", "process-lock", "condition", "queue", "thread"]
"""lock: of this process's threads. process-lock: of multiprocessing. condition: also Event, Semaphore and Future. thread:
waits for a thread to end."""


class BlockedThread(Struct, frozen=True, gc=False, kw_only=True):
    """A thread in uninterruptible sleep (state D) that has not run since."""

    pid: int
    comm: str
    is_worker: bool
    """Of a loader worker, not of the rank itself."""
    is_main: bool
    for_s: float
    """In every look, without a context switch (without CPU time, where switches are not counted) in between."""
    wchan: str | None = None
    """Kernel function that it sleeps in; known of main threads only."""


class LockWait(Struct, frozen=True, gc=False, kw_only=True):
    """A Python thread that waits for another thread to let it go on."""

    kind: LockKind
    thread: str
    """In words: "the main thread", "thread exporter"."""
    lock: str | None
    """As the source calls it, `self` replaced by the class where that is known: "Cache._lock"."""
    site: StackFrame | None
    """The user's line."""


class WorkerLock(Struct, frozen=True, gc=False, kw_only=True):
    """A loader worker that waits for a lock which no thread of its process can release: it was held when it was forked."""

    pid: int
    wait: LockWait


class CollectiveTimeout(Struct, frozen=True, gc=False, kw_only=True):
    """When torch itself will end a wait that does not come to its end."""

    backend: Backend
    rank: int
    """The one that has waited longest."""
    timeout_s: float
    origin: str
    """Who says so: "gloo's default", "its log", "its Flight Recorder"."""
    waited_s: float
    """At least."""

    @property
    def left_s(self) -> float:
        """At most; 0 once it is due."""
        return max(0.0, self.timeout_s - self.waited_s)


class Rendezvous(Struct, frozen=True, gc=False, kw_only=True):
    """Everybody who is here waits for others before the training can start."""

    waiting_s: float
    """For which every look showed that, or the kernel has not let the main thread run since."""
    watched_s: float
    """For which every look showed that."""
    age_s: float | None
    """Of the youngest process that waits."""
    ranks: tuple[int, ...]
    """Who waits; empty where the launcher does, before it has started any."""
    launcher_pid: int | None = None
    expected: int | None = None
    """Ranks (WORLD_SIZE), or nodes where the launcher waits (--nnodes, at least)."""
    here: int
    """Ranks, or nodes, on this machine."""
    address: str | None = None
    """Where they meet: "node1:29500"."""

"""Locks: which Python thread waits for one, who holds it, and whether anybody can still let it go. Pure.

A lock is known by what the source calls it, so two names of one lock are taken for two, and nothing is claimed without a
name. `with` blocks around a line are told by `StackFrame.holds`, where the source could be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from hwtop.job.hang.lock_source import ACQUIRE, WITH, plain_names
from hwtop.job.stacks.frames import is_stdlib_frame, is_user_frame, own_frames, place, short_name, user_frame
from hwtop.lazy_regex import lazy_regex
from hwtop.model.hang import LockKind, LockWait
from hwtop.model.stack import StackDump, StackFrame, ThreadStack

DeadlockKind = Literal["self", "cycle", "orphan", "held"]
"""self: the thread holds the lock itself. cycle: each waits for what the other holds. orphan: no thread of the process runs
that could release it. held: another thread holds it and is busy elsewhere."""

_WAITS: tuple[tuple[str, frozenset[str], LockKind], ...] = (
    ("queue.py", frozenset({"get", "put", "join"}), "queue"),
    ("threading.py", frozenset({"join", "_wait_for_tstate_lock"}), "thread"),
    ("multiprocessing/synchronize.py", frozenset({"__enter__", "acquire"}), "process-lock"),
    ("logging/__init__.py", frozenset({"acquire", "handle"}), "lock"),
    ("concurrent/futures/_base.py", frozenset({"result", "exception"}), "condition"),
    ("threading.py", frozenset({"acquire", "__enter__", "_acquire_restore"}), "lock"),
    ("threading.py", frozenset({"wait", "wait_for"}), "condition"),
)
"""Functions of Python's own library that wait, outermost first where one calls the other."""

_CLASS = lazy_regex(r"(\w+)\.[^.]+$")


class Deadlock(Struct, frozen=True, kw_only=True):
    """Why a thread's wait will not end, as far as the stacks tell."""

    kind: DeadlockKind
    wait: LockWait
    """Of the thread that trains."""
    others: tuple[str, ...]
    """One sentence for each other party: who holds, who waits, where."""


def deadlock(dump: StackDump, main: ThreadStack) -> Deadlock | None:
    """What the wait of `main` comes to; None when it does not wait for a lock."""
    wait = lock_wait(main)
    if wait is None:
        return None
    chain = _chain(main, [thread for thread in dump.threads if thread != main])
    if chain and chain[-1] == main:
        if len(chain) == 1:
            return Deadlock(kind="self", wait=wait, others=(_holds(main, wait.lock),))
        return Deadlock(kind="cycle", wait=wait, others=tuple(_both(thread) for thread in chain[:-1]))
    waits = {id(thread): found for thread in dump.threads if (found := lock_wait(thread)) is not None}
    others = [thread for thread in dump.threads if thread != main and thread.frames]
    if wait.kind != "process-lock" and all(id(thread) in waits for thread in others):
        parties = [thread for thread in others if user_frame(own_frames(thread)) is not None]
        if parties or wait.kind == "lock":  # a library's own idle threads would not set the user's event either
            return Deadlock(kind="orphan", wait=wait, others=tuple(_waits(waits[id(thread)]) for thread in parties))
        return None
    return Deadlock(kind="held", wait=wait, others=tuple(_both(thread) for thread in chain)) if chain else None


def lock_wait(thread: ThreadStack) -> LockWait | None:
    """What lock the thread waits for; None when it runs, or waits for something else."""
    frames = own_frames(thread)
    if not frames or thread.is_active:
        return None
    site = user_frame(frames)
    name = thread_name(thread)
    if not is_user_frame(frames[0]):
        kind = _library_wait(frames)
        lock = _named(site) if site is not None and kind in ("lock", "process-lock") else None
        return None if kind is None else LockWait(kind=kind, thread=name, lock=lock, site=site)
    lock = _named(frames[0])
    return None if lock is None else LockWait(kind="lock", thread=name, lock=lock, site=frames[0])


def _library_wait(frames: Sequence[StackFrame]) -> LockKind | None:
    called = set()
    for frame in frames:
        if not is_stdlib_frame(frame):
            break
        called.add((frame.short_filename, short_name(frame.name)))
    for file, names, kind in _WAITS:
        if any((file, name) in called for name in names):
            return kind
    return None


def _named(frame: StackFrame) -> str | None:
    """The lock that this line takes. Of `with` only a plain name counts: `with open(...)` is no lock."""
    code = frame.code or ""
    if found := ACQUIRE.search(code):
        return qualified(found[1], frame)
    if found := WITH.match(code):
        plain = plain_names(found[1])
        return qualified(plain[0], frame) if len(plain) == 1 else None
    return None


def thread_name(thread: ThreadStack) -> str:
    """ "the main thread", "thread exporter"."""
    if thread.name == "MainThread":
        return "the main thread"
    return f"thread {thread.name or thread.os_thread_id or 'without a name'}"


def qualified(lock: str, frame: StackFrame) -> str:
    """ "self._lock" in `Cache.get` is "Cache._lock"; without a class (Python 3.10 reports none) it is unchanged."""
    if not lock.startswith(("self.", "cls.")):
        return lock
    owner = _CLASS.search(frame.name.replace(".<locals>", ""))
    return lock if owner is None else f"{owner.group(1)}.{lock.partition('.')[2]}"


def _chain(start: ThreadStack, others: Sequence[ThreadStack]) -> list[ThreadStack]:
    """The holder of what `start` waits for, the holder of what that one waits for, ...; ends with `start` if it is a cycle."""
    chain: list[ThreadStack] = []
    current = start
    while (wait := lock_wait(current)) is not None and wait.lock is not None:
        holder = next((each for each in (start, *others) if _holding(each, wait.lock) is not None), None)
        if holder is None or holder in chain:
            break
        chain.append(holder)
        if holder == start:
            break
        current = holder
    return chain


def _holding(thread: ThreadStack, lock: str) -> StackFrame | None:
    return next((frame for frame in own_frames(thread) for held in frame.holds if qualified(held, frame) == lock), None)


def _holds(thread: ThreadStack, lock: str | None) -> str:
    frame = _holding(thread, lock or "")
    return f"{thread_name(thread)} holds {lock} itself" + (
        f", acquired near {place(frame)}" if frame is not None else ""
    )


def _both(thread: ThreadStack) -> str:
    """What it holds, and what it does."""
    held = [(qualified(lock, frame), frame) for frame in own_frames(thread) for lock in frame.holds]
    wait = lock_wait(thread)
    user = user_frame(own_frames(thread))
    doing = waits_text(wait) if wait is not None else f"is in {place(user)}" if user else "runs"
    holds = " and ".join(dict.fromkeys(lock for lock, _ in held))
    return f"{thread_name(thread)} holds {holds} and {doing}"


def _waits(wait: LockWait) -> str:
    return f"{wait.thread} {waits_text(wait)}"


def waits_text(wait: LockWait) -> str:
    """ "waits for the lock Cache._lock (train.py:40 flush)"."""
    what = {
        "lock": f"the lock {wait.lock}" if wait.lock else "a lock",
        "process-lock": f"the multiprocessing lock {wait.lock}" if wait.lock else "a multiprocessing lock",
        "condition": "a condition variable",
        "queue": "a queue",
        "thread": "a thread to finish",
    }[wait.kind]
    return f"waits for {what}" + (f" ({place(wait.site)})" if wait.site is not None else "")

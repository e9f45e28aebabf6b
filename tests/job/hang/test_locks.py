"""Who waits for a lock, who holds it, and whether that can end."""

from __future__ import annotations

import pytest

from hwtop.job.hang.locks import deadlock, lock_wait, qualified, waits_text
from hwtop.model.stack import StackDump, StackFrame, ThreadStack

LIBRARY = "/opt/lib/python3.11/"


def own(name: str, code: str | None = None, *, line: int = 10, holds: tuple[str, ...] = ()) -> StackFrame:
    return StackFrame(
        name=name, filename="/home/me/train.py", short_filename="train.py", line=line, code=code, holds=holds
    )


def lib(name: str, file: str) -> StackFrame:
    return StackFrame(name=name, filename=LIBRARY + file, short_filename=file, line=99)


def thread(*frames: StackFrame, name: str = "MainThread", is_active: bool = False) -> ThreadStack:
    """Leaf first."""
    return ThreadStack(name=name, os_thread_id=7, is_active=is_active, owns_gil=False, frames=frames)


def dump(*threads: ThreadStack) -> StackDump:
    return StackDump(pid=1, at_s=1.0, threads=threads)


COND_WAIT = lib("Condition.wait", "threading.py")


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        (
            (own("Cache.get", "with self._lock:"),),
            "waits for the lock Cache._lock (train.py:10 get)",
        ),
        ((own("get", "with self._lock:"),), "waits for the lock self._lock (train.py:10 get)"),  # Python 3.10
        ((own("f", "table_lock.acquire()"),), "waits for the lock table_lock (train.py:10 f)"),
        ((own("f", "with table_lock: pass"),), "waits for the lock table_lock (train.py:10 f)"),
        (
            (lib("SemLock.__enter__", "multiprocessing/synchronize.py"), own("f", "with shared:")),
            "waits for the multiprocessing lock shared (train.py:10 f)",
        ),
        ((COND_WAIT, lib("Queue.get", "queue.py"), own("f")), "waits for a queue (train.py:10 f)"),
        ((COND_WAIT, lib("Event.wait", "threading.py"), own("f")), "waits for a condition variable (train.py:10 f)"),
        (
            (COND_WAIT, lib("Semaphore.acquire", "threading.py"), own("f", "slots.acquire()")),
            "waits for the lock slots (train.py:10 f)",
        ),
        (
            (lib("Thread._wait_for_tstate_lock", "threading.py"), lib("Thread.join", "threading.py"), own("f")),
            "waits for a thread to finish (train.py:10 f)",
        ),
        ((lib("Handler.acquire", "logging/__init__.py"), own("f", "log.info('x')")), "waits for a lock (train.py:10 f)"),
        ((COND_WAIT, lib("Future.result", "concurrent/futures/_base.py"), own("f")), "waits for a condition variable (train.py:10 f)"),
    ],
)  # fmt: skip
def test_what_a_thread_waits_for(frames: tuple[StackFrame, ...], text: str) -> None:
    wait = lock_wait(thread(*frames))
    assert wait is not None
    assert wait.thread == "the main thread"
    assert waits_text(wait) == text


@pytest.mark.parametrize(
    "found",
    [
        thread(own("f", "with open(path) as file:")),
        thread(own("f", "loss.item()")),
        thread(own("f")),  # no source, no claim
        thread(own("f", "with self._lock:"), is_active=True),
        thread(lib("socket.recv", "socket.py"), own("f", "with self._lock:")),
        thread(),
    ],
)
def test_what_is_no_wait_for_a_lock(found: ThreadStack) -> None:
    assert lock_wait(found) is None


def test_a_lock_that_is_taken_twice() -> None:
    main = thread(
        own("Buffer.flush", "with self._lock:", line=27),
        own("Buffer.add", "self.flush()", line=24, holds=("self._lock",)),
    )
    found = deadlock(dump(main), main)
    assert found is not None
    assert found.kind == "self"
    assert found.others == ("the main thread holds Buffer._lock itself, acquired near train.py:24 add",)


def test_the_same_name_in_another_class_is_another_lock() -> None:
    main = thread(own("A.f", "with self._lock:"), own("B.g", holds=("self._lock",)))
    found = deadlock(dump(main), main)
    assert found is not None
    assert found.kind == "orphan"


def test_two_locks_in_inverted_order() -> None:
    main = thread(own("M.write", "with self.file_lock:"), own("M.add", holds=("self.rows_lock",)))
    other = thread(own("M.export", "with self.rows_lock:", line=33, holds=("self.file_lock",)), name="exporter")
    found = deadlock(dump(main, other), main)
    assert found is not None
    assert found.kind == "cycle"
    assert found.others == (
        "thread exporter holds M.file_lock and waits for the lock M.rows_lock (train.py:33 export)",
    )


def test_a_lock_held_by_a_thread_that_is_busy_elsewhere() -> None:
    main = thread(own("f", "with a:"))
    other = thread(lib("socket.recv", "socket.py"), own("upload", holds=("a",), line=50), name="uploader")
    found = deadlock(dump(main, other), main)
    assert found is not None
    assert found.kind == "held"
    assert found.others == ("thread uploader holds a and is in train.py:50 upload",)


def test_nobody_runs_that_could_release_it() -> None:
    main = thread(COND_WAIT, lib("Queue.get", "queue.py"), own("next_batch"))
    feeder = thread(COND_WAIT, lib("Queue.put", "queue.py"), own("feed", line=60), name="feeder")
    found = deadlock(dump(main, feeder), main)
    assert found is not None
    assert found.kind == "orphan"
    assert found.others == ("thread feeder waits for a queue (train.py:60 feed)",)


def test_idle_threads_of_a_library_make_no_deadlock_of_a_wait() -> None:
    """An event that nobody sets: the rank is missing, which `rank-missing-from-collective` reports."""
    main = thread(COND_WAIT, lib("Event.wait", "threading.py"), own("flush_metrics"))
    feeder = thread(COND_WAIT, lib("Queue._feed", "multiprocessing/queues.py"), name="QueueFeederThread")
    assert deadlock(dump(main, feeder), main) is None


def test_a_thread_that_works_may_still_wake_it() -> None:
    main = thread(COND_WAIT, lib("Queue.get", "queue.py"), own("next_batch"))
    feeder = thread(own("decode"), name="feeder", is_active=True)
    assert deadlock(dump(main, feeder), main) is None


def test_an_event_that_a_signal_or_c_code_may_set_is_no_dead_lock() -> None:
    main = thread(COND_WAIT, lib("Event.wait", "threading.py"), own("wait_for_reload"))
    assert deadlock(dump(main), main) is None


def test_a_lock_of_all_processes_may_be_held_by_another_one() -> None:
    main = thread(lib("SemLock.__enter__", "multiprocessing/synchronize.py"), own("f", "with shared:"))
    assert deadlock(dump(main), main) is None


def test_what_a_lock_is_called() -> None:
    assert qualified("self._lock", own("Outer.Inner.get")) == "Inner._lock"
    assert qualified("cls.pool.lock", own("Pool.make")) == "Pool.pool.lock"
    assert qualified("self._lock", own("make.<locals>.Cache.get")) == "Cache._lock"
    assert qualified("table_lock", own("Cache.get")) == "table_lock"

"""lock-deadlock."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.hang import LockWait, WorkerLock
from hwtop.model.rank import Rank
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from hwtop.symptoms.hang.locks import check_locks
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import (
    ALL_REDUCE,
    TRAIN,
    constant,
    derived,
    history,
    job,
    rank,
    stack_group,
    still,
    worker,
)


def frame(name: str, code: str | None = None, line: int = 27, holds: tuple[str, ...] = ()) -> StackFrame:
    return StackFrame(
        name=name, filename="/home/me/train.py", short_filename="train.py", line=line, code=code, holds=holds
    )


def thread(*frames: StackFrame, name: str = "MainThread", **fields: Any) -> ThreadStack:
    known: dict[str, Any] = {"os_thread_id": 1 if name == "MainThread" else 2, "is_active": False, "owns_gil": False}
    return ThreadStack(name=name, frames=frames, **(known | fields))


def dump(*threads: ThreadStack, at_s: float = 30.0) -> StackDump:
    return StackDump(pid=1001, at_s=at_s, threads=threads)


WAITS = frame("Buffer.flush", "with self._lock:")
HOLDS = frame("Buffer.add", "self.flush()", 24, ("self._lock",))
TWICE = dump(thread(WAITS, HOLDS))
GROUPS = (stack_group((0,), TRAIN, ALL_REDUCE), stack_group((1,), frame("flush"), phase="other"))


def locked(stack: StackDump | None, seconds: float = 20.0, **fields: Any) -> Rank:
    known: dict[str, Any] = {
        "phase": "other",
        "is_waiting": False,
        "stack": stack,
        "wchan": "futex_do_wait",
        "main_thread_cpu_pct": 0.0,
    }
    return still(1, seconds, **(known | fields))


def test_a_lock_taken_twice() -> None:
    seen = check_locks(constant(job(still(0), locked(TWICE), stack_groups=GROUPS)))
    assert seen is not None
    assert (seen.ranks, seen.severity) == ((1,), "critical")
    assert seen.title == (
        "Rank 1 is in a deadlock: the main thread waits for the lock Buffer._lock (train.py:27 flush), "
        "and it holds that lock itself; "
        "rank 0 waits in all_reduce (train.py:231 train_step), rank 1 is in flush (train.py:27)"
    )
    assert "rank 1: the main thread holds Buffer._lock itself, acquired near train.py:24 add" in seen.evidence
    assert "rank 0 waits for rank 1" in seen.evidence


def test_it_is_proven_by_the_stack_alone() -> None:
    """Whatever the other ranks do, and in a job without any log."""
    assert check_locks(constant(job(rank(0), locked(TWICE)))) is not None
    assert check_locks(constant(job(locked(TWICE, log_age_s=None, step_age_s=None, progress=None)))) is not None


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("not long enough", {"same_stack_for_s": 9.9}),
        ("it runs", {"idle_for_s": 0.0, "main_thread_cpu_pct": 40.0}),
    ],
)
def test_no_dead_lock_when(why: str, fields: dict[str, Any]) -> None:
    assert check_locks(constant(job(still(0), locked(TWICE, **fields)))) is None, why


def test_no_dead_lock_without_a_stack_or_at_another_line() -> None:
    assert check_locks(constant(job(still(0), locked(None)))) is None
    assert check_locks(constant(job(still(0), locked(dump(thread(frame("f", "loss.item()"), HOLDS)))))) is None


def test_who_waits_although_its_other_threads_work() -> None:
    assert check_locks(constant(job(rank(0), locked(TWICE, idle_for_s=0.0, cpu_pct=90.0)))) is not None


def test_a_lock_whose_holder_is_unknown_counts_only_when_all_stands_still() -> None:
    unknown = locked(dump(thread(WAITS)))
    assert check_locks(constant(job(rank(0), unknown))) is None
    seen = check_locks(constant(job(still(0), unknown, stack_groups=GROUPS)))
    assert seen is not None
    assert "no thread of the process runs that could release it" in seen.title


def test_threads_of_one_name_that_wait_alike_are_one_line() -> None:
    feeder = frame("wait", "with self.notempty:", 355)
    several = dump(thread(WAITS), *(thread(feeder, name="feeder", os_thread_id=tid) for tid in (5, 6)))
    seen = check_locks(constant(job(still(0), locked(several), stack_groups=GROUPS)))
    assert seen is not None
    (line,) = (line for line in seen.evidence if "feeder" in line)
    assert line.endswith("(2 threads of that name)")


def test_a_lock_that_a_forked_worker_inherited() -> None:
    wait = LockWait(kind="lock", thread="the main thread", lock="Cache._lock", site=WAITS)
    starved = still(
        1,
        phase="data",
        is_waiting=False,
        stack=dump(thread(frame("next_batch"))),
        workers=(worker(2000, state="S", cpu_pct=0.0),),
        worker_locks=(WorkerLock(pid=2000, wait=wait),),
    )
    seen = check_locks(constant(job(still(0), starved)))
    assert seen is not None
    assert "its loader worker 2000 waits for the lock Cache._lock (train.py:27 flush)" in seen.title
    assert "held when it was forked" in seen.title


def gil(at_s: float, *, owns: bool = True) -> StackDump:
    poller = thread(frame("poll_device", line=16), name="poller", owns_gil=owns)
    return dump(thread(frame("step", "loss.item()")), poller, at_s=at_s)


def looks(*times: float, owns: bool = True) -> History:
    """A look at each of these times, one moment a second."""

    def at(second: int) -> Any:
        newest = max((time for time in times if time <= second), default=None)
        stack = None if newest is None else gil(newest, owns=owns)
        return derived(float(second), job(still(0), locked(stack) if stack else rank(1), stack_groups=GROUPS))

    return history(30, at)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (looks(10.0, 20.0, 30.0), True),
        (looks(10.0, 25.0, 30.0), True),  # 20 s from the first to the last
        (looks(21.0, 25.0, 30.0), False),  # 9 s only
        (looks(20.0, 30.0), False),  # two looks only
        (looks(10.0, 20.0, 30.0, owns=False), False),
    ],
)
def test_a_thread_that_sleeps_with_the_interpreter_lock(seen: History, expected: bool) -> None:
    found = check_locks(seen)
    assert (found is not None) is expected
    if found is not None:
        assert "thread poller waits in a C call (train.py:16 poll_device)" in found.title

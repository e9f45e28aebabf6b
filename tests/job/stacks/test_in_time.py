from __future__ import annotations

from hwtop.job.stacks.frames import normalise
from hwtop.job.stacks.in_time import LOOKS, held
from tests.stack_jobs import stack

SAVE = normalise(stack("write train.py 70", "save train.py 60", "main train.py 17", "<module> train.py 30"))
SYNC = normalise(stack("fsync train.py 80", "save train.py 61", "main train.py 17", "<module> train.py 30"))
STEP = normalise(stack("step train.py 9", "main train.py 21", "<module> train.py 30"))


def test_the_same_path_every_time_is_still() -> None:
    found = held([(0.0, SAVE), (5.0, SAVE), (12.0, SAVE)])
    assert found is not None
    assert (found.frame.name, found.is_still, found.looks, found.seconds) == ("write", True, 3, 12.0)


def test_work_that_moves_below_a_call_is_held_in_that_call() -> None:
    found = held([(0.0, SAVE), (5.0, SYNC), (12.0, SAVE)])
    assert found is not None
    assert (found.frame.name, found.frame.line, found.is_still) == ("main", 17, False)


def test_only_the_newest_looks_count() -> None:
    looks = [(0.0, STEP), *((float(at), SAVE) for at in range(1, LOOKS + 1))]
    found = held(looks)
    assert found is not None and found.is_still and found.looks == LOOKS


def test_one_look_or_nothing_in_common_holds_nothing() -> None:
    elsewhere = normalise(stack("serve server.py 3"))
    assert held([(0.0, SAVE)]) is None
    assert held([(0.0, SAVE), (1.0, elsewhere)]) is None
    assert held([(0.0, SAVE), (1.0, ())]) is None


def test_a_line_that_calls_itself_again_and_again_is_one_place() -> None:
    """A signal's handler that waits for the lock which the interrupted code holds is interrupted by itself, deeper each time."""
    once, often = (
        normalise(stack(*["flush ledger.py 35"] * depth, "main train.py 17", "<module> train.py 30"))
        for depth in (1, 20)
    )
    assert once == often
    found = held([(0.0, once), (2.0, often)])
    assert found is not None
    assert found.is_still

from __future__ import annotations

from hwtop.derive.job.tracker import JobTracker
from hwtop.job.stacks.classified import classified
from hwtop.model.flame import Flame
from hwtop.model.stack import StackProfile, StackReading, StackSample
from tests.derive.readings import LOAD, STEP, WAIT, dump, launcher, processes, rank, snapshot


def reading(at_s: float, focus: int | None = None) -> StackReading:
    window = tuple(StackSample(at_s=at_s - 4 + index / 5, frames=LOAD if index < 12 else STEP) for index in range(20))
    return StackReading(
        at_s=at_s,
        dumps=(dump(110, at_s, WAIT), dump(111, at_s, STEP)),
        profiles=(StackProfile(pid=111, from_s=at_s - 4, to_s=at_s - 0.1, samples=window),),
        focus_pid=focus,
    )


def flame(focus: int | None) -> Flame | None:
    seen = snapshot(10.0, process=processes(10.0, launcher(), rank(0), rank(1)), stacks=reading(10.0, focus))
    job = JobTracker().advance(seen)
    assert job is not None
    return job.stacks.flame


def test_the_flame_is_that_of_the_focused_rank() -> None:
    found = flame(111)
    assert found is not None
    assert (found.rank, found.pid, found.samples, found.window_s) == (1, 111, 21, 4.0)
    (main,) = found.roots
    (step,) = main.children
    assert [(node.frame.name, node.samples) for node in (main, step, *step.children)] == [
        ("main", 21),
        ("step", 21),
        ("_try_get_data", 12),
    ]


def test_without_a_focus_it_is_that_of_the_first_rank() -> None:
    found = flame(None)
    assert found is not None and (found.rank, found.samples) == (0, 1)


def test_no_flame_before_the_first_sample() -> None:
    tracker = JobTracker()
    job = tracker.advance(snapshot(1.0, process=processes(1.0, launcher(), rank(0))))
    assert job is not None and job.stacks.flame is None


def test_stacks_are_understood_once_not_once_a_tick() -> None:
    tracker = JobTracker()
    ranks = [rank(number, world=512, pid=1000 + number) for number in range(512)]
    first = StackReading(at_s=1.0, dumps=tuple(dump(1000 + number, 1.0) for number in range(512)))
    tracker.advance(snapshot(1.0, process=processes(1.0, launcher(), *ranks), stacks=first))
    before = classified.cache_info()
    nothing = StackReading(at_s=2.0, dumps=())
    job = tracker.advance(snapshot(2.0, process=processes(2.0, launcher(), *ranks), stacks=nothing))
    assert job is not None and all(each.stack.phase is not None for each in job.ranks)
    after = classified.cache_info()
    assert (after.hits, after.misses) == (before.hits, before.misses)

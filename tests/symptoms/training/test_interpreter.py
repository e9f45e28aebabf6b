"""gil-contention and gc-thrash."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.rank_stack import HotLine
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from hwtop.symptoms.history import History
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.interpreter import check_gc, check_gil
from tests.symptoms.derived_states import constant, derived, history, job, rank

AUGMENT = StackFrame(name="augment", filename="/home/me/train.py", short_filename="train.py", line=9, code="x += k")
SLEEP = StackFrame(
    name="train", filename="/home/me/train.py", short_filename="train.py", line=9, code="time.sleep(0.05)"
)
READ_BACK = StackFrame(
    name="train", filename="/home/me/train.py", short_filename="train.py", line=9, code="loss.item()"
)
JOIN = StackFrame(name="wait", filename="/usr/lib/python3.12/threading.py", short_filename="threading.py", line=3)
BACKWARD = StackFrame(
    name="_engine_run_backward", filename="/t/torch/autograd/graph.py", short_filename="torch/autograd/graph.py", line=1
)
COUNT = StackFrame(name="count", filename="/home/me/words.py", short_filename="words.py", line=4, code="n[w] += 1")


def dump(at_s: float, *, owner: str, main: StackFrame = AUGMENT, is_active: bool = False) -> StackDump:
    def thread(name: str, frame: StackFrame, active: bool) -> ThreadStack:
        return ThreadStack(name=name, os_thread_id=1, is_active=active, owns_gil=name == owner, frames=(frame,))

    return StackDump(
        pid=1000, at_s=at_s, threads=(thread("MainThread", main, is_active), thread("counter", COUNT, True))
    )


def looks(robbed: int, count: int, of_rank: dict[str, Any] | None = None, **fields: Any) -> History:
    """So many looks in half a minute; in the first `robbed` of them the other thread has the lock."""

    def at(second: int) -> Any:
        index = second * count // 31
        owner = "counter" if index < robbed else "MainThread"
        stack = dump(float(index), owner=owner, **fields)
        return derived(float(second), job(rank(stack=stack, **(of_rank or {}))))

    return history(30, at)


@pytest.mark.parametrize(
    ("robbed", "count", "expected"),
    [(4, 4, True), (3, 4, True), (2, 4, False), (3, 3, False), (10, 30, True), (9, 30, False), (5, 6, True)],
)
def test_few_looks_must_prove_more(robbed: int, count: int, expected: bool) -> None:
    assert (check_gil(looks(robbed, count)) is not None) is expected


@pytest.mark.parametrize(
    ("robbed", "fields", "expected"),
    [
        (2, {}, True),
        (1, {}, False),
        (2, {"main_thread_cpu_pct": 71.0}, False),  # it gets what it wants
        (2, {"cpu_pct": 126.0}, False),  # they do not share a core
        (2, {"cpu_pct": 40.0, "main_thread_cpu_pct": 15.0}, True),  # on a full machine
        (2, {"os_state": "R"}, False),  # it waits for a core, not for a lock
        (2, {"wchan": "hrtimer_nanosleep"}, False),  # it sleeps of its own will
    ],
)
def test_a_main_thread_that_gets_too_little_is_believed_sooner(
    robbed: int, fields: dict[str, Any], expected: bool
) -> None:
    starved = {"cpu_pct": 100.0, "main_thread_cpu_pct": 30.0, "os_state": "S", "wchan": "futex_do_wait"}
    assert (check_gil(looks(robbed, 6, of_rank=starved | fields, is_active=True)) is not None) is expected


def test_the_thread_is_named_with_its_line() -> None:
    seen = check_gil(looks(8, 10))
    assert seen is not None
    assert "thread counter (words.py:4 count) holds the GIL in 80 % of the samples" in seen.title
    assert "thread counter is at: n[w] += 1" in seen.evidence
    assert seen.ranks == (0,)


@pytest.mark.parametrize(
    "fields",
    [
        {"is_active": True},  # it computes in C, without the lock
        {"main": SLEEP},
        {"main": JOIN},
        {"main": BACKWARD},  # autograd's own threads work
    ],
    ids=["computes", "sleeps", "waits for a thread", "backward"],
)
def test_a_main_thread_that_does_not_want_the_lock_is_not_robbed(fields: dict[str, Any]) -> None:
    assert check_gil(looks(10, 10, **fields)) is None


def test_waiting_for_the_gpu_needs_no_lock_but_on_the_cpu_the_same_line_does() -> None:
    assert check_gil(looks(10, 10, main=READ_BACK)) is not None

    def on_gpu(second: int) -> Any:
        return derived(float(second), job(rank(gpus=(0,), stack=dump(float(second), owner="counter", main=READ_BACK))))

    assert check_gil(history(30, on_gpu)) is None


def test_idle_threads_are_no_contention() -> None:
    assert check_gil(looks(0, 30)) is None


def line(code: str | None, share: float, visits: int = 3) -> HotLine:
    return HotLine(
        function="train",
        file="/home/me/train.py",
        line=77,
        code=code,
        phase="other",
        share=share,
        samples=10,
        visits=visits,
    )


@pytest.mark.parametrize(
    ("share", "samples", "expected"),
    [(0.10, 100, True), (0.06, 100, False), (0.20, 20, True), (0.10, 20, False), (0.9, 7, False)],
)
def test_collections_must_be_proven_to_cost(share: float, samples: int, expected: bool) -> None:
    lines = (line("loss.backward()", 1 - share), line("gc.collect()", share))
    seen = check_gc(constant(job(rank(samples=samples, hot_lines=lines))))
    assert (seen is not None) is expected
    if seen is not None:
        assert f"{percent(share)} of the time in garbage collection: `gc.collect()` (train.py:77)" in seen.title


def test_one_long_collection_is_none_in_every_step() -> None:
    assert check_gc(constant(job(rank(samples=40, hot_lines=(line("gc.collect()", 0.2, visits=2),))))) is None


@pytest.mark.parametrize(("every", "share", "expected"), [(2, 0.9, True), (40, 0.9, False), (2, 0.4, False)])
def test_a_line_that_is_never_left_and_yet_takes_steps_is_called_each_time(
    every: int, share: float, expected: bool
) -> None:
    lines = (line("gc.collect()", share, visits=1),)

    def at(second: int) -> Any:
        return derived(
            float(second), job(rank(samples=100, hot_lines=lines, progress=Progress(step=100 + second // every)))
        )

    assert (check_gc(history(30, at)) is not None) is expected


def test_without_the_text_of_the_line_nothing_is_said() -> None:
    assert check_gc(constant(job(rank(samples=100, hot_lines=(line(None, 0.9),))))) is None


def test_a_start_may_collect() -> None:
    assert check_gc(constant(job(rank(samples=100, state="starting", hot_lines=(line("gc.collect()", 0.9),))))) is None

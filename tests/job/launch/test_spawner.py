"""A process that only waits for those that it started."""

from __future__ import annotations

import pytest

from hwtop.job.launch.spawner import is_joining, is_spawner
from hwtop.job.stacks.samples import StackSamples
from hwtop.model.stack import StackDump, ThreadStack
from tests.stack_jobs import stack

JOIN = (
    "poll multiprocessing/popen_fork.py 27",
    "wait multiprocessing/popen_fork.py 43",
    "join multiprocessing/process.py 149",
)
MAIN = "<module> hogwild.py 78"


def dump(thread: ThreadStack) -> StackDump:
    return StackDump(pid=1, at_s=1.0, threads=(thread,))


@pytest.mark.parametrize(
    ("frames", "joins", "spawns"),
    [
        ((*JOIN, MAIN), True, False),
        (("wait multiprocessing/connection.py 9", "join torch/multiprocessing/spawn.py 121", MAIN), False, True),
        (("step train.py 5", MAIN), False, False),
        # a forked child: its parent's frames are below
        (("step train.py 5", "run multiprocessing/process.py 108", "_bootstrap multiprocessing/process.py 314", *JOIN, MAIN), False, False),
    ],
)  # fmt: skip
def test_who_waits_for_the_end_of_its_processes(frames: tuple[str, ...], joins: bool, spawns: bool) -> None:
    assert (is_joining(dump(stack(*frames))), is_spawner(dump(stack(*frames)))) == (joins, spawns)


@pytest.mark.parametrize(
    ("frames", "learns"),
    [
        (("backward torch/_tensor.py 5", "train hogwild.py 61"), True),
        (("step torch/optim/sgd.py 5", "train hogwild.py 62"), True),
        (("forward torch/nn/functional.py 5", "features data.py 9"), False),  # a loader may use a model
        (("decode data.py 7",), False),
    ],
)
def test_only_backward_and_optimizer_show_that_a_process_learns(frames: tuple[str, ...], learns: bool) -> None:
    samples = StackSamples()
    samples.add(dump(stack(*frames)))
    assert samples.learns(1) is learns
    assert not samples.learns(2)

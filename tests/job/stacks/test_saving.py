"""What belongs to a save although its line does not tell."""

from __future__ import annotations

import pytest

from hwtop.job.stacks.samples import StackSamples
from hwtop.model.stack import ThreadStack
from tests.job.stacks.test_samples import dump
from tests.stack_jobs import stack

TOP = ("<module> train.py 45",)
STEP = stack("backward torch/_tensor.py 5", *TOP, active=True)
SAVES = stack("save torch/serialization.py 900", "store train.py 23", *TOP, active=True)
PACKS = stack("compress gzip.py 600", "store train.py 24", *TOP, active=True)
COUNTS = stack("mean statistics.py 10", "summary train.py 60", *TOP, active=True)


def share_of_saving(*looks: tuple[int, ThreadStack]) -> float:
    """Of rounds of these looks, a second each, in the newest minute."""
    samples, at_s = StackSamples(), 0.0
    for _ in range(12):
        for count, thread in looks:
            for _ in range(count):
                at_s += 1
                samples.add(dump(7, at_s, thread))
    return sum(each.share for each in samples.shares(7, at_s).phases if each.phase == "checkpoint")


def test_what_a_function_that_saves_does_besides_is_part_of_the_save() -> None:
    assert share_of_saving((4, STEP), (1, SAVES), (5, PACKS)) == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize(
    ("looks", "why"),
    [
        (((4, STEP), (1, SAVES), (5, COUNTS)), "another function"),
        (((0, STEP), (1, SAVES), (5, PACKS)), "nobody knows what its steps are"),
        (((4, STEP), (1, SAVES), (5, PACKS), (1, stack("backward torch/_tensor.py 5", "store train.py 30", *TOP, active=True))), "it trains as well"),
    ],
)  # fmt: skip
def test_what_does_not_belong_to_the_save(looks: tuple[tuple[int, ThreadStack], ...], why: str) -> None:
    total = sum(count for count, _ in looks)
    assert share_of_saving(*looks) == pytest.approx(1 / total, abs=0.03), why

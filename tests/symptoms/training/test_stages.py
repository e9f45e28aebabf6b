"""A loss that rises because the task becomes harder: a number of its lines says so."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest

from hwtop.model.curve import Curve, CurvePoint
from hwtop.symptoms.history import History
from hwtop.symptoms.training.divergence import check_diverging
from hwtop.symptoms.training.loss import check_spike
from tests.symptoms.curves import watched


def reported(loss: Callable[[int], float], label: Callable[[int], tuple[str, ...]], count: int = 400) -> History:
    noise = random.Random(5)
    points = tuple(
        CurvePoint(step, 600.0 + step, loss(step) * (1 + noise.gauss(0, 0.02)), labels=label(step))
        for step in range(1, count + 1)
    )
    return watched(Curve(name="loss", source="/logs/rank_0.log", rank=0, points=points))


def learned(step: int) -> float:
    return 0.2 + 2 * exp(-step / 40)


def in_levels(step: int) -> float:
    """Each level of 50 steps from the third on begins higher, and is learned in part."""
    level, within = max(0, step // 50 - 3), step % 50
    return learned(step) if level == 0 else 0.2 + 0.25 * level - 0.1 * within / 50


def running_away(step: int) -> float:
    return learned(step) if step < 200 else 0.2 + 0.006 * (step - 200)


def level(step: int) -> tuple[str, ...]:
    return (f"level {max(1, step // 50 - 2)}",)


@pytest.mark.parametrize(
    ("why", "loss", "label", "severity"),
    [
        ("it rises with the level", in_levels, level, "info"),
        ("it rises within the levels", running_away, level, "warning"),
        ("nothing says that there are levels", in_levels, lambda step: (), "warning"),
        ("a number that follows the rise", running_away, lambda step: (f"worse {max(0, step - 200)}",), "warning"),
        ("a number that never changes", running_away, lambda step: ("seed 3",), "warning"),
    ],
)
def test_a_loss_that_rises_with_the_stages_does_not_diverge(
    why: str, loss: Callable[[int], float], label: Callable[[int], tuple[str, ...]], severity: str
) -> None:
    seen = check_diverging(reported(loss, label))
    assert seen is not None, why
    assert seen.severity == severity, why
    assert seen.title.startswith("Loss rises where level changes: " if severity == "info" else "Loss diverges: "), why
    assert ("level went from 2 to 6; the loss did not rise in between" in seen.evidence) == (severity == "info"), why


def test_a_jump_where_a_stage_begins_is_expected() -> None:
    def loss(step: int) -> float:
        return learned(step) if step < 300 else 1.4

    def severity(history: History) -> str | None:
        seen = check_spike(history)
        return None if seen is None else seen.severity

    assert severity(reported(loss, lambda step: ())) == "warning"
    assert severity(reported(loss, lambda step: (f"length {128 if step < 300 else 512}",))) == "info"
    assert severity(reported(loss, lambda step: (f"length {128 if step < 250 else 512}",))) == "warning"

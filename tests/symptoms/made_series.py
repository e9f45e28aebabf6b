"""Series made by chance: what healthy trainings tell, and what sick ones do. One seed, one training."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from hwtop.symptoms.training.divergence import check_diverging
from hwtop.symptoms.training.gradients import check_explosion
from hwtop.symptoms.training.loss import check_spike
from hwtop.symptoms.training.slowdown import check_drop
from hwtop.symptoms.training.trend import check_rising
from tests.symptoms.curves import curve, watched

Columns = dict[str, list[float]]
Maker = Callable[[random.Random], Columns]
RULES: Mapping[str, Callable[[History], Observation | None]] = {
    "loss-spike": check_spike,
    "loss-diverging": check_diverging,
    "grad-explosion": check_explosion,
    "throughput-drop": check_drop,
    "step-time-rising": check_rising,
}


def noise(chance: random.Random) -> Callable[[], float]:
    """Standard noise of a kind that chance chooses: gaussian, heavy-tailed (Student's t, 3), or of neighbours alike (AR 0.6)."""
    kind = chance.choice(("gauss", "heavy", "alike"))
    last = 0.0

    def one() -> float:
        nonlocal last
        value = chance.gauss(0, 1)
        if kind == "heavy":
            return value / math.sqrt(sum(chance.gauss(0, 1) ** 2 for _ in range(3)) / 3) / 1.7
        if kind == "alike":
            last = 0.6 * last + 0.8 * value
            return last
        return value

    return one


def times(chance: random.Random) -> list[float]:
    """Step times of a steady training: seconds."""
    one, usual, by = noise(chance), 10 ** chance.uniform(-1.5, 1), chance.choice((0.01, 0.03, 0.1))
    return [usual * max(0.3, 1 + by * one()) for _ in range(chance.choice((150, 300, 500)))]


def losses(chance: random.Random) -> list[float]:
    """Those of a training that learns."""
    one, count = noise(chance), chance.choice((150, 300, 500))
    start, end, pace = chance.uniform(3, 12), chance.uniform(0.5, 2.5), chance.uniform(10, 150)
    by = chance.choice((0.01, 0.03, 0.1))
    return [max(1e-3, (end + (start - end) * math.exp(-step / pace)) * (1 + by * one())) for step in range(count)]


def _steady(chance: random.Random) -> Columns:
    return {"step_time_s": times(chance)}


def _warm_up(chance: random.Random) -> Columns:
    values = times(chance)
    for index in range(chance.randrange(1, 10)):
        values[index] *= chance.uniform(2, 60)
    return {"step_time_s": values}


def _evaluates(chance: random.Random) -> Columns:
    values, every, lasts = times(chance), chance.randrange(20, 100), chance.randrange(1, 8)
    by = chance.uniform(1.5, 20)
    return {"step_time_s": [value * by if index % every < lasts else value for index, value in enumerate(values)]}


def _lengths(chance: random.Random) -> Columns:
    most = chance.uniform(1.5, 4)
    return {"step_time_s": [value * chance.uniform(1, most) for value in times(chance)]}


def _hiccups(chance: random.Random) -> Columns:
    rate, by = chance.uniform(0.005, 0.03), chance.uniform(2, 30)
    return {"step_time_s": [value * by if chance.random() < rate else value for value in times(chance)]}


def _learns(chance: random.Random) -> Columns:
    return {"loss": losses(chance)}


def _schedule(chance: random.Random) -> Columns:
    values = losses(chance)
    warm, count = chance.randrange(5, 30), len(values)
    lr = [1e-3 * min(1, (step + 1) / warm) * (0.5 + 0.5 * math.cos(math.pi * step / count)) for step in range(count)]
    return {"loss": values, "lr": lr}


def _running_mean(chance: random.Random) -> Columns:
    """Means since the start of the epoch: they begin anew with each."""
    values, epoch = losses(chance), chance.randrange(40, 120)
    means: list[float] = []
    for index in range(len(values)):
        begin = index - index % epoch
        means.append(sum(values[begin : index + 1]) / (index + 1 - begin))
    return {"loss": means}


def _bad_batches(chance: random.Random) -> Columns:
    rate, by = chance.uniform(0.002, 0.02), chance.uniform(1.2, 3)
    return {"loss": [value * by if chance.random() < rate else value for value in losses(chance)]}


def _norms(chance: random.Random) -> Columns:
    by = chance.choice((0.1, 0.3, 0.6))
    usual = 10 ** chance.uniform(-2, 1)
    return {"grad_norm": [usual * math.exp(by * chance.gauss(0, 1)) for _ in range(chance.choice((150, 300, 500)))]}


def _clipped_norms(chance: random.Random) -> Columns:
    (values,) = _norms(chance).values()
    return {"grad_norm": [value * chance.uniform(2, 9) if chance.random() < 0.02 else value for value in values]}


HEALTHY: Mapping[str, Maker] = {
    "steady step times": _steady,
    "warm-up": _warm_up,
    "periodic evaluation": _evaluates,
    "lengths that vary": _lengths,
    "hiccups": _hiccups,
    "a loss that falls": _learns,
    "with a schedule": _schedule,
    "running means": _running_mean,
    "bad batches": _bad_batches,
    "gradient norms": _norms,
    "clipped norms": _clipped_norms,
}


def slower(chance: random.Random, by: float) -> Columns:
    """Steps that take `by` times as long from somewhere on."""
    values = times(chance)
    at = chance.randrange(60, len(values) - 40)
    return {"step_time_s": [value * by if index >= at else value for index, value in enumerate(values)]}


def jumps(chance: random.Random, by: float) -> Columns:
    """A loss that jumps three times, one in each third, and comes back within some values each time."""
    values = losses(chance)
    third = (len(values) - 60) // 3
    for start in range(60, 60 + 3 * third, third):
        begin = start + chance.randrange(third - 15)
        for step in range(chance.randrange(3, 10)):
            values[begin + step] *= 1 + (by - 1) * math.exp(-step / 4)
    return {"loss": values}


def stays_high(chance: random.Random, by: float) -> Columns:
    """A loss that has learnt what it can, jumps and stays."""
    level, one = chance.uniform(0.5, 2.5), noise(chance)
    values = [max(1e-3, (level + 6 * math.exp(-step / 20)) * (1 + 0.03 * one())) for step in range(400)]
    at = chance.randrange(150, 370)
    return {"loss": [value * by if index >= at else value for index, value in enumerate(values)]}


def explodes(chance: random.Random, by: float) -> Columns:
    """Gradient norms that grow and stay."""
    (values,) = _norms(chance).values()
    at = len(values) - 15
    return {"grad_norm": [value * by if index >= at else value for index, value in enumerate(values)]}


def rises(chance: random.Random, by: float) -> Columns:
    """Step times that rise little by little."""
    values = times(chance)
    return {"step_time_s": [value * (1 + (by - 1) * index / len(values)) for index, value in enumerate(values)]}


SICK: Mapping[str, tuple[Maker, frozenset[str]]] = {
    "1.3 times as slow": (lambda chance: slower(chance, 1.3), frozenset({"throughput-drop"})),
    "1.5 times as slow": (lambda chance: slower(chance, 1.5), frozenset({"throughput-drop"})),
    "twice as slow": (lambda chance: slower(chance, 2.0), frozenset({"throughput-drop"})),
    "four times as slow": (lambda chance: slower(chance, 4.0), frozenset({"throughput-drop"})),
    "rises to twice": (lambda chance: rises(chance, 2.0), frozenset({"step-time-rising", "throughput-drop"})),
    "three jumps, tenfold": (lambda chance: jumps(chance, 10), frozenset({"loss-spike"})),
    "three jumps, thousandfold": (lambda chance: jumps(chance, 1000), frozenset({"loss-spike"})),
    "a jump that stays": (lambda chance: stays_high(chance, 5), frozenset({"loss-spike", "loss-diverging"})),
    "norms twentyfold": (lambda chance: explodes(chance, 20), frozenset({"grad-explosion"})),
}


def cut(columns: Columns, count: int) -> History:
    """The job after so many values, the last tenth of them told while it was watched."""
    made = [curve(name, values[:count], live=count // 10) for name, values in columns.items()]  # type: ignore[arg-type]
    return watched(*made)


def raised(columns: Columns, cuts: Sequence[float] = (0.5, 0.8, 1.0)) -> set[str]:
    """The symptoms that warn after some part of the training."""
    count = len(next(iter(columns.values())))
    found = set()
    for part in cuts:
        history = cut(columns, int(part * count))
        for symptom, check in RULES.items():
            seen = check(history)
            if seen is not None and seen.severity != "info":
                found.add(symptom)
    return found

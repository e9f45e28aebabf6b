"""All numeric rules on recorded real curves, at many points of each run: the sick are found, the healthy are left alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hwtop.symptoms.records import records
from hwtop.symptoms.rule import Observation
from hwtop.symptoms.rules import RULES
from tests.symptoms.curves import FOLDER, recorded, until

OF_CURVES = ("loss", "divergence", "gradients", "plateau", "slowdown", "trend")
NUMERIC = [
    rule for rule in RULES if (records()[rule.symptom].check or "").startswith(tuple(f"{name}." for name in OF_CURVES))
]
EVERY = 15
SICK = {
    "deep_sigmoid": {"loss-plateau"},
    "dead_relu": {"grad-vanishing"},
    "fp16_overflow": {"loss-scale-overflow"},
    "lm_frozen": {"lr-stuck"},
    "lm_high_lr": {"loss-diverging", "grad-explosion"},
    "lm_high_lr_sgd": {"loss-nan"},
    "lm_lr_ends": {"lr-stuck"},
    "lm_spike_stays": {"loss-spike", "loss-diverging", "grad-explosion"},
    "mlp_diverges": {"loss-diverging", "loss-nan", "grad-explosion"},
    "rnn_explodes": {"grad-explosion", "loss-diverging"},
    "time_drop": {"throughput-drop"},
    "time_rising": {"step-time-rising"},
}
"""What these have, and what may be said on the way there."""
TELLS_A_JUMP = {"lm_bad_batch", "lm_curriculum", "lm_spike_recovers"}
"""Healthy again soon; that the loss jumped may be told, as long as it is no warning."""
HEALTHY = sorted({file.stem for file in FOLDER.glob("*.csv")} - set(SICK))


def seen(columns: dict[str, list[float]], every: int = EVERY) -> Iterator[tuple[int, str, Observation]]:
    """What each rule says after each so many points."""
    count = len(columns["step"])
    for number in (*range(every, count, every), count):
        history = until(columns, number)
        for rule in NUMERIC:
            found = rule.look(history)
            if found is not None:
                yield number, rule.symptom, found


def reported(
    columns: dict[str, list[float]], *names: str, stride: int = 1, digits: int | None = None
) -> dict[str, list[float]]:
    """As a log would tell it that prints fewer quantities, fewer steps, fewer digits."""
    kept = {name: values[::stride] for name, values in columns.items() if name in ("step", *names)}
    if digits is None:
        return kept
    return {name: [round(value, digits) for value in values] for name, values in kept.items()}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_raises_nothing_at_any_point(name: str) -> None:
    allowed = {("loss-spike", "info")} if name in TELLS_A_JUMP else set()
    found = [
        (number, symptom, each.title)
        for number, symptom, each in seen(recorded(name))
        if (symptom, each.severity) not in allowed
    ]
    assert found == []


@pytest.mark.parametrize("name", [name for name in HEALTHY if not name.startswith("time_")])
@pytest.mark.parametrize(
    ("names", "stride", "digits"),
    [
        (("loss", "lr", "grad_norm"), 7, None),
        (("loss",), 3, None),
        (("loss", "lr"), 1, 2),
        (("loss", "lr", "grad_norm"), 1, 1),
    ],
    ids=["each 7th step", "loss only", "two digits", "one digit"],
)
def test_nor_as_other_logs_would_tell_it(name: str, names: tuple[str, ...], stride: int, digits: int | None) -> None:
    columns = reported(recorded(name), *names, stride=stride, digits=digits)
    found = [
        (number, symptom, each.title)
        for number, symptom, each in seen(columns)
        if (symptom, each.severity) != ("loss-spike", "info")
    ]
    assert found == []


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("begin", [100, 260])
def test_nor_where_the_beginning_of_the_run_is_not_known(name: str, begin: int) -> None:
    columns = {key: values[begin:] for key, values in recorded(name).items()}
    found = [
        (number, symptom, each.title)
        for number, symptom, each in seen(columns)
        if (symptom, each.severity) != ("loss-spike", "info")
    ]
    assert found == []


@pytest.mark.parametrize("name", sorted(SICK))
def test_a_sick_run_is_found(name: str) -> None:
    found = {symptom for _, symptom, _ in seen(recorded(name))}
    assert found >= SICK[name] - ({"loss-diverging"} if name == "lm_spike_stays" else set())
    assert found <= SICK[name] | {"loss-spike"}


def first(name: str, symptom: str) -> int:
    """After how many points it is first told."""
    return next(number for number, found, _ in seen(recorded(name), 2) if found == symptom)


@pytest.mark.parametrize(
    ("name", "symptom", "begins", "within"),
    [
        ("mlp_diverges", "loss-diverging", 1, 30),
        ("lm_high_lr_sgd", "loss-nan", 8, 6),
        ("lm_spike_stays", "loss-spike", 400, 6),
        ("time_drop", "throughput-drop", 300, 24),
        ("fp16_overflow", "loss-scale-overflow", 300, 8),
        ("lm_lr_ends", "lr-stuck", 201, 24),
    ],
)
def test_how_soon(name: str, symptom: str, begins: int, within: int) -> None:
    assert begins <= first(name, symptom) <= begins + within

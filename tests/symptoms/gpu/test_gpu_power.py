"""gpu-power-cap: a word at full load, a warning where the limit is lower than it should be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hwtop.model.gpu.device import Gpu
from hwtop.symptoms.gpu.power import check_power_cap
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from tests.symptoms.derived_states import derived, gpu, history, job, rank

WATCHED = job(*(rank(number, gpus=(number,)) for number in range(8)))


def watch(gpus: Sequence[Gpu], seconds: int = 20, watched: object = WATCHED) -> History:
    return history(seconds, lambda second: derived(float(second), watched, gpus=tuple(gpus)))  # type: ignore[arg-type]


def capped(index: int, power_w: float = 699.0, limit_w: float = 700.0, default_w: float | None = 700.0) -> Gpu:
    return gpu(
        index, throttle=("sw_power_cap",), power_w=power_w, power_limit_w=limit_w, power_limit_default_w=default_w
    )


def judged(*gpus: Gpu) -> Observation | None:
    return check_power_cap(watch(gpus))


def test_eight_gpus_at_full_power_are_worth_a_word() -> None:
    seen = judged(*(capped(index) for index in range(8)))
    assert seen is not None
    assert seen.severity == "info"
    assert seen.title == "GPUs 0-7: at the power limit of 700 W, normal at full load"


@pytest.mark.parametrize(
    ("odd", "severity"),
    [
        (capped(2, 499.0, 500.0), "warning"),  # below its default, and its peers
        (capped(2, 499.0, 500.0, None), "warning"),  # below its peers
        (capped(2, 499.0, 500.0, 500.0), "warning"),
        (capped(2, 690.0, 692.0), "warning"),  # under 99 % of the default
        (capped(2, 694.0, 694.0), "info"),
        (capped(2, 480.0, 500.0), "info"),  # draws 96 % of it: something else holds it
        (gpu(2, power_w=499.0, power_limit_w=500.0), "info"),  # not held back: only the others are
    ],
)
def test_a_low_limit_is_a_warning(odd: Gpu, severity: str) -> None:
    seen = judged(capped(0), capped(1), odd, capped(3))
    assert seen is not None
    assert seen.severity == severity
    assert seen.ranks == (
        (2,) if severity == "warning" else tuple(n for n in range(4) if n != 2 or odd.power_w == 694.0)
    )


def test_the_low_limit_and_that_of_its_peers_are_told() -> None:
    seen = judged(capped(0), capped(1), capped(2, 499.0, 500.0))
    assert seen is not None
    assert seen.title == "GPU 2: throttled by a low power limit of 500 W"
    assert seen.evidence[0].startswith(
        "GPU 2: 499 W of 500 W allowed, default 700 W, SM clock 1740 of 1980 MHz, since "
    )
    assert "GPUs 0-1: limit 700 W" in seen.evidence
    assert seen.next_steps[0] == "sudo nvidia-smi -i 2 -pl 700   # the usual limit"


@pytest.mark.parametrize(("hits", "expected"), [(30, False), (36, False), (37, True), (60, True)])
def test_half_of_the_samples_must_be_proven(hits: int, expected: bool) -> None:
    seen = check_power_cap(
        history(59, lambda second: derived(float(second), WATCHED, gpus=(capped(0) if second < hits else gpu(0),)))
    )
    assert (seen is not None) is expected


def test_what_is_not_known_raises_nothing() -> None:
    assert judged(gpu(0)) is None
    assert judged(gpu(0, throttle=None)) is None
    assert judged(gpu(0, throttle=("sw_power_cap",), power_w=None)) is None
    assert judged(gpu(0, throttle=("sw_power_cap",), power_limit_w=None)) is None


def test_full_load_of_somebody_else_is_nobodys_business() -> None:
    assert check_power_cap(watch([gpu(0), capped(1)], watched=job(rank(0, gpus=(0,))))) is None

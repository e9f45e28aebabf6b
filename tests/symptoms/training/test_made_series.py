"""The rules about series on trainings made by chance: the healthy raise nothing, the sick are found.

`bench/series_rates.py` does the same with thousands of seeds.
"""

from __future__ import annotations

import random

import pytest

from tests.symptoms.made_series import HEALTHY, SICK, raised

SEEDS = 12
FOUND_SHARE = 0.75
"""Of what is found nearly always in thousands; chance makes some trainings too noisy or too short."""
UNSURE = {"three jumps, tenfold", "a jump that stays"}
"""Noise of a tenth, or a stretch of few values, hides some of these."""


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_training_raises_nothing(name: str) -> None:
    for seed in range(SEEDS):
        assert raised(HEALTHY[name](random.Random(f"{name} {seed}"))) == set(), f"seed {seed}"


@pytest.mark.parametrize("name", sorted(SICK.keys() - UNSURE))
def test_a_sick_training_is_found(name: str) -> None:
    make, wanted = SICK[name]
    found = [bool(raised(make(random.Random(f"{name} {seed}")), (1.0,)) & wanted) for seed in range(SEEDS)]
    assert sum(found) >= FOUND_SHARE * SEEDS

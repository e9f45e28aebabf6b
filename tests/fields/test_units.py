from __future__ import annotations

import pytest

from hwtop.fields import units

G = 1024**3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "0B"),
        (999, "999B"),
        (1023, "1.0K"),
        (71.2 * G, "71.2G"),
        (812 * 1024**2, "812M"),
        (1.5e15, "1.3P"),
    ],
)
def test_size(value: float | None, shown: str) -> None:
    assert units.size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "0 s"),
        (1.25, "1.2 s"),
        (9.97, "10 s"),
        (59.6, "1 m 00 s"),
        (134, "2 m 14 s"),
        (7_320, "2 h 02 m"),
        (90_000, "1 d 01 h"),
    ],
)
def test_duration(value: float | None, shown: str) -> None:
    assert units.duration(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.2, "0s"), (50, "50s"), (99.6, "2m"), (7_000, "2h"), (200_000, "2d")])
def test_short_duration_fits_four_cells(value: float, shown: str) -> None:
    assert units.short_duration(value) == shown


def test_step_time_keeps_three_digits() -> None:
    assert [units.step_time(value) for value in (0.3121, 12.44, 120.0, None)] == ["0.312", "12.4", "120", "–"]

from __future__ import annotations

import inspect
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        (59.6, "60 s"),
        (119.6, "2 min"),
        (134, "2 min 14 s"),
        (7_320, "2 h 02 min"),
        (90_000, "1 d 01 h"),
    ],
)
def test_duration(value: float | None, shown: str) -> None:
    assert units.duration(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.2, "0s"), (50, "50s"), (99.6, "100s"), (7_000, "1h"), (200_000, "2d")])
def test_short_duration_fits_four_cells(value: float, shown: str) -> None:
    assert units.short_duration(value) == shown


def test_step_time_keeps_three_digits() -> None:
    assert [units.step_time(value) for value in (0.3121, 12.44, 120.0, None)] == ["0.312", "12.4", "120", "–"]


FORMATTERS = [
    each for name, each in vars(units).items() if inspect.unwrap(each) is not each and not name.startswith("_")
]
SIGNED = {units.signed_duration}


@pytest.mark.parametrize("formatter", FORMATTERS, ids=lambda each: each.__name__)
@given(value=st.floats(min_value=0.0, max_value=1e12) | st.sampled_from([math.nan, math.inf, -math.inf]))
def test_no_number_is_shown_as_a_word_or_in_more_room_than_there_is(formatter: units.Formatter, value: float) -> None:
    shown = formatter(value)
    assert (shown == units.UNKNOWN) == (not math.isfinite(value))
    assert not {"nan", "inf", "e+"} & set(re.findall(r"nan|inf|e\+", shown))
    assert "-" not in shown or formatter in SIGNED


@pytest.mark.parametrize("formatter", [units.duration, units.short_duration])
@given(value=st.floats(min_value=-1e9, max_value=0.0))
def test_no_time_is_negative(formatter: units.Formatter, value: float) -> None:
    assert formatter(value) == formatter(0.0)


@given(value=st.floats(min_value=0.0, max_value=1e12), more=st.floats(min_value=0.0, max_value=1e12))
def test_a_longer_time_is_never_shown_as_a_shorter_one(value: float, more: float) -> None:
    assert _seconds(units.duration(value)) <= _seconds(units.duration(value + more))


def _seconds(shown: str) -> float:
    units_s = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    words = shown.split()
    return sum(float(number) * units_s[unit] for number, unit in zip(words[::2], words[1::2], strict=True))

from __future__ import annotations

import pytest

from hwtop.derive.host.rates import elapsed_s, increase, per_second


@pytest.mark.parametrize(("previous", "current", "seconds"), [(1.0, 3.0, 2.0), (3.0, 3.0, None), (3.0, 1.0, None)])
def test_time_that_did_not_pass_is_no_interval(previous: float, current: float, seconds: float | None) -> None:
    assert elapsed_s(previous, current) == seconds


@pytest.mark.parametrize(
    ("previous", "current", "counted"), [(5, 7, 2), (5, 5, 0), (7, 5, None), (None, 5, None), (5, None, None)]
)
def test_a_counter_that_went_backwards_has_no_increase(
    previous: int | None, current: int | None, counted: int | None
) -> None:
    assert increase(previous, current) == counted


def test_per_second() -> None:
    assert per_second(10, 15, 2.0) == 2.5
    assert per_second(10, 10, 2.0) == 0.0
    assert per_second(10, 15, None) is None
    assert per_second(15, 10, 2.0) is None

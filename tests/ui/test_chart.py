"""Axes and charts as text."""

from __future__ import annotations

import math
import random

import pytest

from hwtop.ui.widgets.axis import growing, linear, logarithmic, number, robust
from hwtop.ui.widgets.chart import Mark, Stroke, chart
from hwtop.ui.widgets.text import to_ascii


@pytest.mark.parametrize(
    ("low", "high", "most", "labels"),
    [
        (0.0, 0.97, 6, ("0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        (12_350.0, 12_589.0, 6, ("12,350", "12,400", "12,450", "12,500", "12,550", "12,600")),
        (0.0, 6e-4, 4, ("0", "2e-4", "4e-4", "6e-4")),
        (2.9995e-5, 3.0001e-5, 4, ("2.99e-5", "3e-5", "3.01e-5")),
        (0.0, 1_310_000.0, 4, ("0", "500,000", "1.0M", "1.5M")),
        (12_345_000.0, 12_347_000.0, 3, ("12.30M", "12.35M", "12.40M")),
        (-0.5, 0.5, 3, ("-0.5", "0.0", "0.5")),
    ],
)
def test_ticks_are_round_and_told_apart(low: float, high: float, most: int, labels: tuple[str, ...]) -> None:
    axis = linear(low, high, most)
    shown = axis.labels()
    assert len(set(shown)) == len(shown) <= max(3, most)
    assert axis.low <= low
    assert axis.high >= high
    assert [float(each.replace(",", "").replace("M", "e6")) for each in shown] == pytest.approx(
        [float(each.replace(",", "").replace("M", "e6")) for each in labels]
    )


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e-12, 1e15])
def test_a_single_value_has_an_axis_around_it(value: float) -> None:
    axis = linear(value, value, 5)
    assert axis.low <= value <= axis.high
    assert axis.low < axis.high


def test_ends_of_a_growing_axis_lie_near_the_values() -> None:
    axis = growing(0, 12_589, 5)
    assert axis.high < 13_500
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    assert len(axis.ticks) >= 3


@pytest.mark.parametrize(("low", "high"), [(0.02, 300.0), (1e-8, 1e8), (2.1, 2.9), (1.0, 1.0), (7.0, 11.0)])
def test_log_axes_hold_the_values_and_have_labels_at_both_ends(low: float, high: float) -> None:
    for most in (2, 3, 6):
        axis = logarithmic(low, high, most)
        assert axis.low <= low * 1.000001
        assert axis.high >= high * 0.999999
        assert axis.low > 0
        assert (axis.ticks[0], axis.ticks[-1]) == (axis.low, axis.high)
        assert axis.share(axis.low) == 0
        assert axis.share(axis.high) == pytest.approx(1)


def test_few_odd_values_do_not_set_the_range() -> None:
    noise = random.Random(1)
    values = [2.0 + noise.gauss(0, 0.05) for _ in range(500)]
    low, high = robust(sorted([*values, 900.0, 11.0]))
    assert 1.7 < low < 2
    assert 2 < high < 2.4
    assert robust(sorted(values)) == (min(values), max(values))
    assert robust([1.0, 2.0, 3.0]) == (1.0, 3.0)
    assert robust([4.0]) == (4.0, 4.0)


def test_numbers_have_few_digits() -> None:
    shown = [
        number(value) for value in (2.41312, 0.0003, 3.12e-5, 12_400, 1_250_000, 5e12, 1e20, 0, math.nan, -math.inf)
    ]
    assert shown == ["2.413", "3e-4", "3.12e-5", "12,400", "1.25M", "5T", "1.00e+20", "0", "nan", "-inf"]


def drawn(xs: list[float], ys: list[float], width: int = 40, height: int = 8, **more: object) -> list[str]:
    lines = chart([Stroke(xs, ys)], linear(0, 100, 3), linear(0, 10, 3), width, height, **more)  # type: ignore[arg-type]
    assert [line.width for line in lines] == [width] * height
    return [line.text for line in lines]


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right() -> None:
    assert drawn([0, 100], [0, 10], 23, 8) == [
        "10 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⢀⠤⠊",
        "   │             ⣀⠔⠊⠁  ",
        " 5 ┤┈┈┈┈┈┈┈┈┈┈⡠⠔⠊┈┈┈┈┈┈",
        "   │      ⢀⡠⠔⠉         ",
        "   │   ⢀⡠⠒⠁            ",
        " 0 ┤⣀⠤⠊⠁┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈",
        "   └┬────────┬────────┬",
        "    0       50      100",
    ]


def test_the_horizontal_axis_has_its_name_where_it_is_free() -> None:
    assert drawn([0, 100], [0, 10], 40, 8, x_name="step")[7].split() == ["0", "50", "100"]
    lines = chart([Stroke([0, 60], [1, 1])], growing(0, 63, 3), linear(0, 10, 3), 40, 8, x_name="step")
    assert lines[7].text.endswith("step")


def test_steady_values_keep_their_height() -> None:
    top, bottom = drawn([0, 50, 100], [10, 10, 10])[0], drawn([0, 50, 100], [0, 0, 0])[5]
    assert set(top[4:]) <= set("⠉⠁⠈")
    assert set(bottom[4:]) <= set("⣀⡀⢀")


def test_what_lies_beyond_the_axis_is_told_and_not_drawn() -> None:
    rows = drawn([0, 25, 50, 75, 100], [5, 5, 900, 5, -40])
    assert rows[0].count("▲") == 1
    assert rows[5].count("▼") == 1
    assert rows[0].index("▲") == rows[6].index("┬", 6)


def test_marks_stand_on_the_axis_at_their_place() -> None:
    rows = drawn([0, 100], [1, 1], marks=[Mark(0, "✖", "bad"), Mark(100, "R", "info"), Mark(400, "?", "bad")])
    assert rows[6][4] == "✖"
    assert rows[6][39] == "R"
    assert "?" not in rows[6]


def test_many_values_a_column_show_their_span_and_their_median() -> None:
    xs = [number / 50 for number in range(5_000)]
    ys = [5.0 + (4 if number % 2 else -4) for number in range(5_000)]
    lines = chart([Stroke(xs, ys, "accent", "dim")], linear(0, 100, 3), linear(0, 10, 3), 30, 10)
    roles = {role for line in lines for text, role in line.spans if any(ord(char) >= 0x2800 for char in text)}
    assert roles == {"accent", "dim"}


def test_charts_have_a_plain_form() -> None:
    rows = drawn([0, 100], [0, 10], marks=[Mark(50, "✖", "bad")])
    assert all(to_ascii(row).isascii() for row in rows)
    assert "?" not in "".join(to_ascii(row) for row in rows)
    steady = [to_ascii(row)[4:] for row in drawn([0, 100], [5, 5])]
    assert set("".join(steady[:6])) == {".", " ", "_"}  # the line does not look like the rules


def test_tiny_charts_do_not_fail() -> None:
    for width in range(8, 20):
        for height in range(2, 9):
            drawn([1, 2, 3], [1, 2, 3], width, height, has_x=height > 3)


def test_from_zero_there_is_room_for_twice_the_usual() -> None:
    steady = [0.100 + 0.001 * (number % 5) for number in range(100)]
    assert robust(sorted([*steady, 0.19]), from_zero=True) == (0.0, 0.19)
    assert robust(sorted([*steady, 1.9]), from_zero=True) == (0.0, max(steady))
    assert robust(sorted([*steady, 0.19])) == (min(steady), max(steady))

from __future__ import annotations

from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar, stacked
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.trend import blocks, trend


def test_bar_fills_by_half_cells() -> None:
    assert bar(0.5, 8).text == "━━━━────"
    assert bar(0.56, 8).text == "━━━━╸───"
    assert bar(1.7, 4).text == "━━━━"


def test_bar_tells_a_little_from_nothing_and_unknown_from_zero() -> None:
    assert bar(0.001, 4).text == "╸───"
    assert bar(0.0, 4).text == "────"
    assert bar(None, 4).text == "╌╌╌╌"
    assert bar(float("nan"), 4).text == "╌╌╌╌"


def test_trend_has_a_fixed_scale() -> None:
    low, high = trend([0.5] * 8, 4, 1, 100)[0].text, trend([100.0] * 8, 4, 1, 100)[0].text
    assert low == "⣀⣀⣀⣀"
    assert high == "⣿⣿⣿⣿"


def test_trend_puts_the_newest_at_the_right_and_leaves_gaps() -> None:
    assert trend([100.0, None, None, 100.0], 3, 1, 100)[0].text == " ⡇⢸"
    rows = trend([50.0, 50.0], 1, 2, 100)
    assert [row.text for row in rows] == [" ", "⣿"]


def test_blocks_show_one_value_each() -> None:
    assert blocks([0, 50, 100, None], 100, lambda _: "good").text == "▁▄█–"


def test_stacked_shares_end_where_they_must() -> None:
    line = stacked([(0.5, "mix-1", "━"), (0.25, "mix-2", "═")], 8)
    assert line.spans == [("━━━━", "mix-1"), ("══", "mix-2"), ("──", "track")]


def _columns() -> list[Column[int]]:
    return [
        Column("a", 4, lambda item, _: Line(str(item)), align="right"),
        Column("b", 6, lambda item, _: Line("b"), priority=1),
        Column("c", 6, lambda item, width: Line("c" * width), priority=2, grow=1, most=10),
    ]


def test_table_drops_columns_by_priority_and_grows_into_the_room() -> None:
    assert [column.title for column, _ in table.chosen(_columns(), 12)] == ["a", "b"]
    assert [column.title for column, _ in table.chosen(_columns(), 3)] == ["a"]
    wide = table.chosen(_columns(), 40)
    assert [width for _, width in wide] == [4, 6, 10]
    assert table.row(wide, 7).text == "   7  b       cccccccccc"


def test_window_keeps_the_cursor_in_sight() -> None:
    for cursor in range(20):
        assert cursor in table.around(20, 5, cursor)
        assert len(table.around(20, 5, cursor)) == 5
    assert table.around(3, 5, 2) == range(3)


def test_box_is_as_large_as_asked_and_drops_the_note_first() -> None:
    lines = box([Line("content that is far too long")], 16, 4, Line("Title"), Line("a long note"))
    assert [line.width for line in lines] == [16] * 4
    assert lines[0].text == "╭─ Title ──────╮"
    assert lines[1].text == "│ content tha… │"

"""Cells of a browser's tab."""

from __future__ import annotations

from hwtop.ui.browser.sheet import Sheet, look
from hwtop.ui.terminal.diff_writer import pieces

RED = "\x1b[38;2;255;0;16m"
PLAIN = ("", "", "")


def draw(sheet: Sheet, data: str) -> None:
    """What the toolkit sends to a terminal."""
    sheet.draw(pieces(data) or [])


def test_only_rows_that_changed_are_taken_and_each_once() -> None:
    sheet = Sheet(4, 3)
    assert sheet.take() == [(row, [("    ", 4, *PLAIN)]) for row in range(3)]
    draw(sheet, "\x1b[2;1Hab")
    draw(sheet, "\x1b[2;2Hc")
    draw(sheet, "\x1b[3;1H    ")  # as it was
    assert sheet.take() == [(1, [("ac  ", 4, *PLAIN)])]
    assert sheet.take() == []


def test_cells_of_one_look_are_one_run() -> None:
    sheet = Sheet(6, 1)
    draw(sheet, f"\x1b[1;1Ha{RED}bc\x1b[0m\x1b[1md\x1b[0m")
    assert sheet.take() == [
        (0, [("a", 1, *PLAIN), ("bc", 2, "#ff0010", "", ""), ("d", 1, "", "", "b"), ("  ", 2, *PLAIN)])
    ]


def test_what_is_not_one_cell_stands_alone() -> None:
    sheet = Sheet(8, 1)
    draw(sheet, "\x1b[1;1Hx漢e\u0301y")
    runs = [("x", 1, *PLAIN), ("漢", 2, *PLAIN), ("e\u0301", 1, *PLAIN), ("y   ", 4, *PLAIN)]
    assert sheet.take() == [(0, runs)]


def test_nothing_is_drawn_outside_or_by_other_sequences() -> None:
    sheet = Sheet(3, 1)
    sheet.take()
    for data in ("\x1b[9;1Hx", "\x1b[1;4Hx", "\x1b[1;3H漢", "\x1b]52;c;eA==\x07", "no place", "\x1b[2J"):
        draw(sheet, data)
    assert sheet.take() == []


def test_a_new_size_is_blank_and_all_of_it_is_sent() -> None:
    sheet = Sheet(3, 1)
    draw(sheet, "\x1b[1;1Habc")
    sheet.resize(2, 2)
    assert sheet.take() == [(0, [("  ", 2, *PLAIN)]), (1, [("  ", 2, *PLAIN)])]


def test_colours_of_all_forms() -> None:
    assert look((("bg", "48;2;1;2;3"), ("fg", "38;5;196"))) == ("#ff0000", "#010203", "")
    assert look((("fg", "39"), ("bg", "49"))) == PLAIN
    ink, ground, _ = look((("bg", "41"), ("fg", "97")))
    assert ink.startswith("#") and ground.startswith("#") and ink != ground
    assert look((("7", "7"), ("bg", "48;2;0;0;1"), ("fg", "38;2;0;0;2"))) == ("#000001", "#000002", "")

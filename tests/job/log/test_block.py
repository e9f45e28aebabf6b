"""Log block: lines of raw bytes, and what is left out of long ones."""

from __future__ import annotations

from hwtop.job.log.block import LONGEST_CHARS, LogBlock, all_lines, block_of


def texts(block: LogBlock) -> list[tuple[int, str]]:
    return [(line.line_no or 0, line.text) for line in all_lines(block)]


def test_all_lines_carry_their_numbers_and_the_last_state_of_a_bar() -> None:
    block = block_of("a.log", 7, b"one\r\n\n 1%\r 2%\r\n\x1b[31mred\x1b[0m\nlast \xff")
    assert texts(block) == [(7, "one"), (8, ""), (9, " 2%"), (10, "red"), (11, "last \ufffd")]


def test_what_is_beyond_the_longest_line_is_counted() -> None:
    raw = b"short\n" + b"x" * (LONGEST_CHARS + 5) + b"\n" + b"y" * LONGEST_CHARS + b"\n" + b"z" * 100_000
    block = block_of("a.log", 1, raw)
    assert (block.cut_lines, block.cut_bytes) == (2, 5 + 100_000 - LONGEST_CHARS)
    assert [len(text) for _, text in texts(block)] == [5, LONGEST_CHARS, LONGEST_CHARS, LONGEST_CHARS]


def test_characters_count_not_bytes_and_states_of_a_bar_are_no_long_line() -> None:
    assert block_of("a.log", 1, "温".encode() * LONGEST_CHARS + b"\n").cut_lines == 0
    bar = block_of("a.log", 1, b"".join(b"\r%5d/9999" % step for step in range(9999)))
    assert bar.cut_lines == 0
    assert texts(bar) == [(1, " 9998/9999")]


def test_what_the_reader_left_out_is_counted_too() -> None:
    block = block_of("a.log", 1, b"x" * 100 + b"\n", lost_bytes=5000)
    assert (block.cut_lines, block.cut_bytes) == (1, 5000)


def test_a_move_to_another_row_separates_texts() -> None:
    assert block_of("a.log", 1, b"bar one\x1b[Abar two\n").data == b"bar one\rbar two\n"

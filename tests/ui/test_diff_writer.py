"""Fewer bytes, the same picture: what a terminal shows after both, cell by cell."""

from __future__ import annotations

import random
import re

import pytest

from hwtop.ui.terminal.diff_writer import DiffWriter, pieces, styled

Cells = dict[tuple[int, int], tuple[str, object]]
STYLES = (
    "0",
    "38;5;103;48;5;16",
    "1;38;2;1;2;3;48;2;9;9;9",
    "38;2;200;2;3;48;2;9;9;9",
    "31;44",
    "7",
    "4;38;5;1",
    "2;95",
)


def sent(writer: DiffWriter, data: str) -> str:
    """What goes to the terminal where the toolkit writes `data`."""
    drawn = pieces(data)
    assert drawn is not None
    return writer(drawn)


class Terminal:
    """As much of one as the screen makes use of."""

    def __init__(self, *left_over: tuple[str, str]) -> None:
        self.cells: Cells = {}
        self.at = (1, 1)
        self.style = left_over

    def feed(self, data: str) -> None:
        for sgr, row, column, right, character in re.findall(
            r"\x1b\[([0-9;]+)m|\x1b\[(\d+);(\d+)H|\x1b\[(\d*)C|([^\x1b])", data
        ):
            if sgr:
                self.style = styled(self.style, sgr)
            elif row:
                self.at = (int(row), int(column))
            elif character == "\n":
                self.at = (self.at[0] + 1, 1)
            elif character:
                has_line = any(kind in ("4", "7") for kind, _ in self.style)
                bare = tuple(each for each in self.style if each[0] == "bg")
                self.cells[self.at] = (character, self.style if character != " " or has_line else bare)
                self.at = (self.at[0], self.at[1] + 1)
            else:
                self.at = (self.at[0], self.at[1] + int(right or 1))


def update(dice: random.Random) -> str:
    """As the toolkit writes: a style before each piece, a reset after it, a line feed after each row."""
    rows = []
    for row in sorted(dice.sample(range(1, 6), dice.randint(1, 5))):
        pieces = "".join(
            f"\x1b[{dice.choice(STYLES)}m{''.join(dice.choices('ab ⣿', k=dice.randint(1, 12)))}\x1b[0m"
            for _ in range(4)
        )
        rows.append(f"\x1b[{row};{dice.randint(1, 9)}H{pieces}")
    return "\n".join(rows) + "\x1b[1;1H"


@pytest.mark.parametrize("seed", range(20))
def test_the_picture_is_the_same(seed: int) -> None:
    dice = random.Random(seed)
    usual, few, writer = Terminal(), Terminal(("1", "1"), ("bg", "44")), DiffWriter()
    for _ in range(30):
        data = update(dice)
        usual.feed(data)
        few.feed(sent(writer, data))
        assert few.cells == usual.cells
        assert few.style == ()


def test_only_what_changed_is_sent() -> None:
    writer = DiffWriter()
    row = "\x1b[3;1H\x1b[38;5;103;48;5;16mstep \x1b[0m\x1b[38;5;188;48;5;16m{}\x1b[0m"
    first = sent(writer, row.format("12,589 of 99,999"))
    assert first == "\x1b[3;1H\x1b[0;48;5;16;38;5;103mstep \x1b[38;5;188m12,589 of 99,999\x1b[0m"
    assert sent(writer, row.format("12,590 of 99,999")) == "\x1b[3;10H\x1b[0;48;5;16;38;5;188m90\x1b[0m"
    assert sent(writer, row.format("12,590 of 99,999")) == ""
    writer.forget()
    assert sent(writer, row.format("12,589 of 99,999")) == first


@pytest.mark.parametrize(
    "other", ["\x1b[?1049h", "\x1b]52;c;YQ==\x07", "\x1b[2J", "\x1b[?2026$p", "\a", "plain", "\x1b"]
)
def test_what_does_more_than_draw_is_no_picture(other: str) -> None:
    assert pieces(other) is None


def test_behind_a_wide_character_nothing_is_left_out() -> None:
    writer = DiffWriter()
    before = sent(writer, "\x1b[2;1H\x1b[31m数ab\x1b[0m\x1b[31m c\x1b[0m")
    assert before == "\x1b[2;1H\x1b[0;31m数ab\x1b[2;5H c\x1b[0m"
    assert sent(writer, "\x1b[2;1H\x1b[31m数ab\x1b[0m\x1b[31m c\x1b[0m") == before
    assert sent(writer, "\x1b[2;1H\x1b[31mxyab c\x1b[0m") == "\x1b[2;1H\x1b[0;31mxyab\x1b[0m"

"""Random Unicode in every name of a table: whatever a process is called, each row is as wide as the screen and holds no control."""

from __future__ import annotations

import random
import unicodedata

import pytest

from hwtop.model.frame import Frame
from hwtop.ui.pages.layout import picture
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column, chosen, header, row
from hwtop.ui.widgets.text import cells, elide_end, elide_middle, to_ascii
from tests import frames
from tests.parts import replace

PARTS = (
    (0x20, 0x7E),
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0x300, 0x36F),
    (0x590, 0x6FF),
    (0x900, 0x97F),
    (0x1100, 0x11FF),
    (0x200B, 0x202E),
    (0x2060, 0x206F),
    (0x2500, 0x28FF),
    (0x3000, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xD800, 0xDFFF),
    (0xE000, 0xF8FF),
    (0xFE00, 0xFE0F),
    (0xFF01, 0xFF60),
    (0x1F1E6, 0x1F6FF),
    (0x1F900, 0x1F9FF),
    (0xE0100, 0xE01EF),
    (0x10000, 0x10FFFF),
)
"""Ranges that break tables: combining, right to left, wide, format and control characters, halves of pairs, private ones."""
SEEDS = range(6)


def word(dice: random.Random, most: int = 60) -> str:
    return "".join(chr(dice.randint(*dice.choice(PARTS))) for _ in range(dice.randint(0, most)))


def spoiled(seed: int) -> Frame:
    dice = random.Random(seed)  # no secret: the same words in every run
    base = frames.healthy()
    job = base.derived.job
    assert job is not None
    processes = tuple(
        replace(item, command=word(dice), wchan=word(dice), user=word(dice), state=word(dice, 1))
        for item in job.processes
    )
    ranks = tuple(replace(rank, last_line=word(dice), wchan=word(dice)) for rank in job.ranks)
    gpus = tuple(replace(gpu, name=word(dice), reason=word(dice)) for gpu in base.derived.gpus)
    return replace(base, derived=replace(base.derived, gpus=gpus, job=replace(job, processes=processes, ranks=ranks)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("page", ["ranks", "processes", "gpu"])
def test_every_row_is_as_wide_as_the_screen(page: str, seed: int) -> None:
    dice = random.Random(seed)
    frame = spoiled(seed)
    for width in (60, 80, 133):
        for typed in ("", word(dice, 12)):
            view = View(frame=frame, page=page, selected=2, filters={page: typed}, typing=page if typed else "")
            for line in picture(view, width, 24):
                assert line.width == width
                assert line.text.isprintable()
                assert len(to_ascii(line.text)) == width


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_keeps_its_columns_at_any_width(seed: int) -> None:
    dice = random.Random(seed)
    columns: list[Column[str]] = [
        Column("name", 9, lambda text, _: Line(text)),
        Column("number", 6, lambda text, _: Line(str(len(text))), 2, align="right"),
        Column("long", 12, lambda text, _: Line(text), 3, grow=1),
        Column("end", 7, lambda text, width: Line(elide_middle(text, width)), 1),
    ]
    for width in range(9, 90, 7):
        fitting = chosen(columns, width)
        head = header(fitting)
        for _ in range(8):
            line = row(fitting, word(dice))
            assert line.width == sum(size for _, size in fitting) + 2 * (len(fitting) - 1)
            assert line.width <= max(width, 9)
            assert line.text.isprintable()
            assert len(to_ascii(line.text)) == line.width
        assert head.width <= max(width, 9)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_cut_is_never_too_wide(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        text, width = Line(word(dice)).text, dice.randint(0, 30)
        assert cells(elide_end(text, width)) <= width
        assert cells(elide_middle(text, width)) <= width
        assert Line(text).fitted(width).width == width
        assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs") for each in text)

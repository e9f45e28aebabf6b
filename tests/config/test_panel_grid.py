"""The drawing of panels in the settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.config import parse as parse_config
from hwtop.config.panel_grid import NAMES, Cells, no_drawing, parse
from hwtop.errors import UsageError
from hwtop.ui.pages.layout import PANELS
from hwtop.ui.reducers import focus as panel_view


def test_every_panel_has_its_name() -> None:
    assert set(NAMES) == PANELS.keys() - panel_view.FIXED


def test_words_are_columns_lines_are_rows_and_a_panel_covers_all_its_cells() -> None:
    grid = parse(("findings", "gpu gpu cpu", "gpu gpu memory", "ranks logs"))
    assert (grid.lines, grid.columns) == (4, 6)
    assert grid.panels == {
        "findings": Cells(0, 1, 0, 6),
        "gpu": Cells(1, 3, 0, 4),
        "cpu": Cells(1, 2, 4, 6),
        "memory": Cells(2, 3, 4, 6),
        "ranks": Cells(3, 4, 0, 3),
        "logs": Cells(3, 4, 3, 6),
    }


@pytest.mark.parametrize(
    ("drawing", "words"),
    [
        (("findings", "rank"), "no panel 'rank': did you mean 'ranks' or"),
        (("weather",), "no panel 'weather': panels are findings, gpu"),
        (("gpu cpu", "cpu gpu"), "the cells of 'gpu' do not form a rectangle"),
        (("gpu cpu gpu",), "the cells of 'gpu' do not form a rectangle"),
        (("gpu", "cpu", "gpu"), "the cells of 'gpu' do not form a rectangle"),
        (("gpu", ""), "1 to 12 panels"),
        (("gpu " * 13,), "1 to 12 panels"),
        (("gpu",) * 41, "at most 40 rows"),
        (("verdict",), "no panel 'verdict'"),
    ],
    ids=str,
)
def test_what_is_no_drawing_is_told_in_words(drawing: tuple[str, ...], words: str) -> None:
    assert words in (no_drawing(drawing) or "")


def test_the_settings_file_is_checked(tmp_path: Path) -> None:
    config = parse_config(b'[panels]\nhide = ["disk", "network"]\noverview = ["findings cpu", "ranks cpu"]', "file")
    assert config.panels.hide == ("disk", "network")
    assert config.panels.overview == ("findings cpu", "ranks cpu")
    for text, words in (
        (b'[panels]\nhide = ["disc"]', "panels.hide: no panel 'disc': did you mean 'disk'?"),
        (b'[panels]\noverview = ["gpu cpu", "cpu gpu"]', "panels.overview: the cells of 'gpu' do not form a rectangle"),
        (b"[panels]\nhide = 3", "panels.hide: expected a list, not a number"),
    ):
        with pytest.raises(UsageError) as reported:
            parse_config(text, "file")
        assert words in str(reported.value)

"""One rank selected means its GPU, stack, log and process are, on every page, wherever it was selected."""

from __future__ import annotations

import pytest

from hwtop.ui.input.mouse import selected
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.pages.registry import current, turned
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.reducers import gpus
from hwtop.ui.reducers import processes as process_moves
from hwtop.ui.view import View
from tests import frames

SIZE = (200, 60)
TOLD: dict[str, str] = {
    "overview": "▸      3",
    "ranks": "Rank 3  PID",
    "stacks": "Stack of rank 3",
    "flame": "rank 3",
    "logs": "Log of rank 3",
    "gpu": "▸      3",
    "processes": f"▸   {frames.pid_of(3)}",
}
"""Curves, host and symptoms are about the whole job."""


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_the_selected_rank(page: str) -> None:
    view = turned(View(frame=frames.hang(), selected=3), page)
    assert view.selected == 3
    if page in TOLD:
        assert any(TOLD[page] in line.text for line in picture(view, *SIZE))


def check(view: View) -> None:
    """Rank 3 is what every page is about."""
    assert view.selected == 3
    assert current(view).user_focus(view).rank == 3
    gpu = gpu_view.selected(turned(view, "gpu"))
    process = process_view.selected(turned(view, "processes"))
    assert gpu is not None
    assert process is not None
    assert (gpu.index, process.rank) == (3, 3)
    assert {line.path for line in log_view.of_rank(view)} == {"/scratch/runs/42/logs/rank_3.log"}


def test_a_rank_chosen_by_its_gpu_its_process_or_its_row() -> None:
    start = View(frame=frames.hang())
    check(gpus.chosen(turned(start, "gpu"), 3))
    tree = turned(start, "processes")
    row = next(number for number, row in enumerate(process_view.rows(tree)) if row.process.pid == frames.pid_of(3) + 2)
    check(process_moves.chosen(tree, row))


@pytest.mark.parametrize("panel", ["gpu", "ranks"])
def test_a_click_in_the_overview(panel: str) -> None:
    view = View(frame=frames.hang())
    place = arrange(view, *SIZE)[panel]
    after = selected(view, panel, (9, 2 + 3), (place.width, place.height))
    check(after)
    lines = [line.text[place.x : place.x + place.width] for line in picture(after, *SIZE)]
    assert sum("▸" in line for line in lines[place.y + 1 : place.y + place.height]) == 1
    assert selected(view, panel, (9, 0), (place.width, place.height)).selected is None

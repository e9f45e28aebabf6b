"""The row at the bottom: what can be done now, the most useful keys first; each of them can be clicked."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.ui.app import HwtopApp
from hwtop.ui.pages import footer
from hwtop.ui.pages.registry import tabs
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.panels.ranks.state import RanksState
from hwtop.ui.view import View
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SICK = View(frame=frames.hang())
PAGES = [page.name for page in tabs(SICK)]


def row(view: View, width: int = 120) -> str:
    """As it is drawn, in one row."""
    (line,) = footer.draw(view, width, 1)
    assert line.width == width
    return line.text


@pytest.mark.parametrize("page", PAGES)
def test_quit_and_help_are_named_on_every_page_at_80_cells(page: str) -> None:
    drawn = row(replace(SICK, page=page), 80)
    assert "q quit  ? help" in drawn
    assert drawn.rstrip()[-1] != "…"


def test_fewer_cells_leave_out_the_least_useful_keys() -> None:
    wide, narrow = row(SICK, 200), row(SICK, 80)
    assert "p pause" in wide
    assert "p pause" not in narrow
    assert "0 why" in narrow


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [110, 120, 160])
def test_all_pages_are_named_from_110_cells(page: str, width: int) -> None:
    drawn = row(replace(SICK, page=page), width)
    names = re.sub(r"\s+", " ", drawn)
    assert "1 Overview 2 Ranks 3 Stacks 4 Flame 5 Logs 6 Curves 7 GPUs 8 Host 9 Processes 0 Symptoms" in names
    assert "q quit ? help" in names


@pytest.mark.parametrize(
    ("view", "there", "gone"),
    [
        (SICK, "0 why", "Esc"),
        (replace(SICK, selected=2), "Enter its stack", "Esc all"),
        (replace(SICK, selected=2), "Esc clear", "Esc back"),
        (replace(SICK, is_paused=True), "p now", "p pause"),
        (replace(SICK, page="logs").with_state(LogsState(is_following=False)), "F follow", "F hold"),
        (replace(SICK, page="logs").with_state(LogsState(is_following=False)).at_page("curves"), "? help", "Esc"),
        (replace(SICK, page="logs"), "n N flagged", "F follow"),
        (replace(SICK, page="logs", filters={"search": "nan"}), "n N hit", "flagged"),
        (replace(SICK, page="ranks", filters={"ranks": "gpu=3"}), "Esc all", "Esc clear"),
        (replace(SICK, page="processes"), "k signal", "Esc back"),
        (replace(SICK, page="processes", is_readonly=True), "e environment", "k signal"),
        (replace(SICK, page="processes").with_state(ProcessesState(inside="env")), "Esc back", "k signal"),
        (View(frame=frames.picker()), "Enter attach", "1 Overview"),
        (replace(SICK, keymap={"quit": "Z", "ranks": "R"}), "Z quit", "q quit"),
    ],
    ids=lambda value: value.page if isinstance(value, View) else value,
)
def test_what_is_possible_now_is_named(view: View, there: str, gone: str) -> None:
    drawn = row(view, 240)
    assert there in drawn
    assert gone not in drawn


def test_a_key_of_the_persons_own_stands_on_the_tab() -> None:
    assert " R  3 " in row(replace(SICK, keymap={"ranks": "R"}), 80)


def test_each_key_and_tab_can_be_clicked() -> None:
    async def click(app: HwtopApp, pilot: Pilot[None], text: str, within: str = "") -> None:
        drawn = screen_text(app)[-1]
        await pilot.click("#footer", offset=(drawn.index(within or text) + (within or text).index(text), 0))
        await pilot.pause()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await click(app, pilot, "↓", "↓ ↑ rank")
        assert view_of(app).selected == 6  # the one after the blamed rank
        await click(app, pilot, "2", " 2 ")
        assert view_of(app).page == "ranks"
        await click(app, pilot, "O", "o O sort")
        assert view_of(app).state(RanksState).is_reversed
        await click(app, pilot, "filter")
        assert view_of(app).typing
        await pilot.press("escape")
        await click(app, pilot, "help")
        assert any("type to search" in line for line in screen_text(app))
        await pilot.press("escape")
        await click(app, pilot, "quit")
        assert app._exit

    drive(act, frames.hang(), size=(200, 30))


def test_a_key_that_is_gone_cannot_be_clicked() -> None:
    view = replace(SICK, note="copied: something", page="processes")
    assert [footer.clicked(view, x, 120) for x in range(100, 120)] == [""] * 20
    assert footer.clicked(replace(view, note=""), 119, 120) == ""

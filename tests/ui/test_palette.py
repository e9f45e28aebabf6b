"""The palette: everything by name, the closest first; what is chosen happens."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.ui import palette, themes
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions
from hwtop.ui.panels import picker
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.tables.fuzzy import match
from hwtop.ui.view import View
from tests import crowds, frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of


def labels(typed: str, view: View | None = None) -> list[str]:
    """What is found, in its order."""
    entries = palette.entries(view or View(frame=frames.hang()), themes.NAMES)
    return [entry.label for entry, _ in palette.found(entries, typed)]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("rank 3", "rank 3"),
        ("r3", "rank 3"),
        ("3", "rank 3"),
        ("gpu 7", "gpu 7"),
        ("page gpu", "page GPUs"),
        ("nord", "theme nord"),
        ("thcol", "theme colour-blind"),
        ("expl hang", "explain hang"),
        ("signal", "signal"),
        ("F9", "signal"),
        ("PAUSE", "pause"),
        ("back to now", "pause"),
        ("symp", "page symptoms"),
    ],
)
def test_the_closest_name_is_first(typed: str, first: str) -> None:
    assert labels(typed)[0] == first


def test_what_is_not_there_is_not_found() -> None:
    assert labels("xyzzy") == []
    assert labels("rank 99") == []
    assert labels("") == [entry.label for entry in palette.entries(View(frame=frames.hang()), themes.NAMES)]


@pytest.mark.parametrize(
    ("typed", "text", "places"),
    [
        ("ab", "xaab", (2, 3)),
        ("sg", "straggler-rank", (0, 4)),
        ("zz", "straggler-rank", None),
        ("", "anything", ()),
        ("ß", "straße", (4,)),
        ("rank 3", "rank 30", (0, 1, 2, 3, 5)),
    ],
)
def test_letters_are_matched_where_they_stand(typed: str, text: str, places: tuple[int, ...] | None) -> None:
    found = match(typed, text)
    assert (found[1] if found else None) == places


def test_this_page_and_its_findings_come_first() -> None:
    shown = labels("", View(frame=frames.hang(), page="logs"))
    assert shown[0] in ("filter", "search")
    assert shown.index("explain hang") < shown.index("page ranks") < shown.index("rank 0") < shown.index("theme hwtop")


def test_without_a_job_the_jobs_come_first() -> None:
    shown = labels("", View(frame=frames.picker()))
    assert shown[0] == f"attach {frames.LAUNCHER}"
    assert "log scale" not in shown


def test_a_job_is_found_where_it_stands_by_now() -> None:
    view = View(frame=frames.picker())
    entry = next(entry for entry in palette.entries(view, ()) if entry.label == f"attach {frames.LAUNCHER}")
    assert entry.look is not None
    derived = view.frame.derived
    others = tuple(each for each in derived.candidates or () if each.pid != frames.LAUNCHER)
    newer = replace(others[0], pid=1, kind="training"), *(derived.candidates or ())
    moved = entry.look(View(frame=replace(view.frame, derived=replace(derived, candidates=newer))))
    assert picker.candidates(moved)[moved.state(picker.PickerState).cursor].pid == frames.LAUNCHER
    gone = entry.look(View(frame=replace(view.frame, derived=replace(derived, candidates=others))))
    assert gone.note == f"{frames.LAUNCHER} is no longer in the list"


def test_readonly_offers_nothing_that_changes_the_job() -> None:
    shown = labels("", View(frame=frames.hang(), is_readonly=True))
    assert not {"signal", "deep look"} & set(shown)
    assert {"signal", "deep look"} <= set(labels(""))


def test_keys_of_the_persons_own_stand_beside_the_names() -> None:
    entries = palette.entries(View(frame=frames.hang(), keymap={"pause": "Z"}), ())
    assert next(entry for entry in entries if entry.label == "pause").keys == "Z"


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (200, 60), (30, 8), (1, 1)], ids=str)
def test_it_fits_and_does_not_jump(size: tuple[int, int]) -> None:
    entries = palette.entries(View(frame=crowds.sick(512)), themes.NAMES)
    sizes = set()
    for typed in ("", "rank", "xyzzy"):
        shown = palette.found(entries, typed)
        lines, width, height = palette.draw(shown, len(shown) - 1, typed, size)
        sizes.add((width, height))
        assert (width, height) <= size
        assert len(lines) == height
        assert {line.width for line in lines} == {width}
    assert len(sizes) == 1


@pytest.mark.slow
def test_what_is_chosen_happens() -> None:
    async def choose(pilot: Pilot[None], words: str, key: str = "colon") -> None:
        await pilot.press(key, *("space" if letter == " " else letter for letter in words), "enter")
        await pilot.pause()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await choose(pilot, "rank 3")
        assert view_of(app).selected == 3
        await choose(pilot, "gpu 7", "ctrl+p")
        assert (view_of(app).page, view_of(app).state(GpuState).index) == ("gpu", 7)
        await choose(pilot, "explain filesystem")
        assert (view_of(app).page, view_of(app).state(SymptomsState).symptom) == ("symptoms", "filesystem-hang")
        await choose(pilot, "log scale")
        assert view_of(app).page == "curves", "an action leads to the page that it belongs to"
        assert any("log scale" in row for row in screen_text(app)[:-1])
        await choose(pilot, "pause")
        assert view_of(app).is_paused
        await choose(pilot, "help")
        assert any("type to search" in row for row in screen_text(app))
        await pilot.press("escape", "colon", *"xyzzy", "enter")
        assert any("nothing by this name" in row for row in screen_text(app))
        await pilot.press("escape")
        assert isinstance(app.screen, MonitorScreen)
        await choose(pilot, "quit")
        assert app._exit

    drive(act, frames.hang())


def test_a_theme_is_seen_before_it_is_taken() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        themed = app.theme
        await pilot.press("colon", *"theme")
        await pilot.press("down")
        seen = app.theme
        assert seen != themed
        await pilot.press("escape")
        assert app.theme == themed
        await pilot.press("colon", *"nord", "enter")
        assert "nord" in app.theme

    drive(act, frames.healthy(), options=ScreenOptions(theme="hwtop"))


def test_a_click_runs_and_one_beside_leaves() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("colon", *"rank")
        rows = screen_text(app)
        y = next(y for y, row in enumerate(rows) if "rank 2" in row)
        await pilot.click(offset=(rows[y].index("rank 2"), y))
        await pilot.pause()
        assert view_of(app).selected == 2
        await pilot.press("colon")
        await pilot.click(offset=(0, 0))
        assert isinstance(app.screen, MonitorScreen)
        assert view_of(app).selected == 2

    drive(act, frames.hang())

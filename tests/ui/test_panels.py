"""Panels are meant, enlarged, hidden, brought back, and laid out by the person."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from hwtop.config import PanelConfig
from hwtop.config.panel_grid import NAMES
from hwtop.model.frame import Frame
from hwtop.ui.input.keyboard import chosen, cleared, pressed
from hwtop.ui.input.mouse import clicked
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import layout
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.pages.registry import turned
from hwtop.ui.pages.vacancy import without
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place
from tests import crowds, frames, gpu_frames
from tests.ui.cover import assert_covers
from tests.ui.test_app import drive, screen_text, view_of

FULL = (160, 50)
DRAWN = ("findings findings cpu", "gpu gpu memory", "ranks ranks network", "ranks ranks logs")


def after(view: View, *keys: str, size: tuple[int, int] = FULL) -> View:
    for key in keys:
        view = pressed(view, f"panel-{key}" if key not in ("next", "previous") else f"{key}-panel", size)
    return view


def rows(view: View, size: tuple[int, int] = FULL) -> list[str]:
    return [line.text for line in picture(view, *size)]


def focused(view: View) -> str:
    return layout.focused(view, arrange(view, *FULL))


def test_the_panel_that_matters_is_meant_and_marked_once() -> None:
    for make, page, panel, title in (
        (frames.hang, "overview", "findings", "╭▸ What is wrong"),
        (frames.healthy, "overview", "ranks", "╭▸ Ranks"),
        (frames.hang, "stacks", "stack-tree", "╭▸ "),
        (gpu_frames.ill, "gpu", "gpu-card", "╭▸ GPU 3"),
        (frames.hang, "symptoms", "symptom-page", "╭▸ "),
    ):
        view = View(frame=make(), page=page)
        assert focused(view) == panel
        marked = [row for row in rows(view) if "╭▸" in row]
        assert len(marked) == 1
        assert title in marked[0]


def test_w_goes_round_all_panels_and_arrows_go_where_they_point() -> None:
    view = View(frame=frames.healthy())
    panels = arrange(view, *FULL).keys() - {"verdict", "footer"}
    seen = [focused(view := after(view, "next")) for _ in panels]
    assert sorted(seen) == sorted(panels)
    assert focused(after(view, "next", "previous")) == focused(view)

    view = replace(view, panel="gpu")
    assert focused(after(view, "right")) == "cpu"
    assert focused(after(view, "right", "left")) == "gpu"
    assert focused(after(view, "down")) == "ranks"
    assert focused(after(view, "up")) == "findings"
    assert focused(after(view, "left")) == "gpu"


def test_z_gives_the_page_to_a_panel_and_z_or_escape_give_it_back() -> None:
    view = replace(View(frame=frames.hang()), panel="ranks")
    alone = after(view, "alone")
    places = arrange(alone, *FULL)
    assert places.keys() == {"verdict", "footer", "ranks"}
    assert places["ranks"].height == FULL[1] - 3
    assert "z all panels" in rows(alone)[-2]
    assert arrange(after(alone, "alone"), *FULL) == arrange(view, *FULL)
    assert arrange(cleared(alone), *FULL) == arrange(view, *FULL)
    assert not turned(alone, "logs").alone


@pytest.mark.parametrize("page", ["gpu", "symptoms", "curves"])
def test_enter_and_z_enlarge_the_same_panel(page: str) -> None:
    view = View(frame=gpu_frames.ill() if page == "gpu" else frames.hang(), page=page)
    assert arrange(chosen(view, FULL), *FULL) == arrange(after(view, "alone"), *FULL) != arrange(view, *FULL)


def test_a_hidden_panel_gives_its_room_away_and_x_brings_all_back() -> None:
    view = replace(View(frame=frames.healthy()), panel="disk")
    less = after(view, "hide")
    assert "disk" not in arrange(less, *FULL)
    assert "disk is hidden" in less.note
    back = after(less, "all")
    assert arrange(replace(back, note="", panel="disk"), *FULL) == arrange(view, *FULL)
    assert "no panel is hidden" in after(back, "all").note


def test_what_a_page_is_about_stays() -> None:
    ranks = View(frame=frames.healthy(), page="ranks")
    assert "it stays" in after(ranks, "hide").note
    assert "ranks" in arrange(replace(ranks, hidden=frozenset(NAMES)), *FULL)
    for page in PAGES:
        assert len(arrange(replace(ranks, page=page, hidden=frozenset(NAMES)), *FULL)) >= 3
    assert "it stays" in after(replace(ranks, page="logs"), "hide").note


def test_a_click_on_a_title_or_two_on_a_panel_enlarge_it() -> None:
    view = View(frame=frames.hang())
    alone = clicked(view, "ranks", (5, 0), 1, FULL)
    assert alone.alone == "ranks"
    assert not clicked(alone, "ranks", (5, 0), 1, FULL).alone
    once = clicked(view, "ranks", (5, 4), 1, FULL)
    assert (once.alone, once.panel) == ("", "ranks")
    assert clicked(once, "ranks", (5, 4), 2, FULL).alone == "ranks"
    # The first of two clicks on a finding opens its page; the second must not enlarge what has come under it.
    opened = clicked(view, "findings", (5, 1), 1, FULL)
    assert opened.page == "symptoms"
    assert not clicked(opened, "symptom", (5, 4), 2, FULL).alone


def test_the_room_of_a_hidden_panel_goes_to_those_along_one_of_its_sides() -> None:
    places = {"findings": Place(0, 0, 9, 3), "gpu": Place(0, 3, 6, 4), "cpu": Place(6, 3, 3, 4)}
    assert without(places, ["gpu"])["cpu"] == Place(0, 3, 9, 4)
    assert without(places, ["findings"]) == {"gpu": Place(0, 0, 6, 7), "cpu": Place(6, 0, 3, 7)}
    assert without(places, list(places)) == {"cpu": Place(0, 0, 9, 7)}


def test_the_overview_stands_as_it_is_drawn() -> None:
    view = View(frame=frames.healthy(), drawing=DRAWN)
    places = arrange(view, *FULL)
    assert places.keys() == {"verdict", "footer", "findings", "cpu", "gpu", "memory", "ranks", "network", "logs"}
    assert places["gpu"].width == places["ranks"].width == 106
    assert places["ranks"].height == places["network"].height + places["logs"].height
    assert places["gpu"].height >= 11, "a line a device"
    assert arrange(view, 60, 20) == arrange(replace(view, drawing=()), 60, 20), "too small for it: as built in"


def _check(view: View, size: tuple[int, int]) -> None:
    assert_covers(view, size)
    assert [line.width for line in picture(view, *size)] == [size[0]] * size[1]


@pytest.mark.slow
@pytest.mark.parametrize("frame", [frames.healthy(), frames.hang(), gpu_frames.ill()], ids=["healthy", "hang", "ill"])
def test_no_size_and_no_choice_breaks_the_screen(frame: Frame) -> None:
    chance = Random(7)
    keys = ("next", "previous", "left", "right", "up", "down", "alone", "hide", "all", "hide")
    drawings = [(), DRAWN, ("ranks", "cpu memory disk network"), ("curve stack suspects", "logs logs suspects")]
    for _ in range(120):
        size = chance.randint(20, 320), chance.randint(5, 90)
        view = View(frame=frame, page=chance.choice(PAGES), drawing=chance.choice(drawings))
        for _ in range(3):
            view = after(view, chance.choice(keys), size=size)
            places = arrange(view, *size)
            name = chance.choice(list(places))
            at = chance.randrange(places[name].width), chance.randrange(places[name].height)
            view = clicked(view, name, at, chance.choice((1, 2)), size)
        _check(view, size)


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_can_stand_in_the_overview_and_be_alone(name: str) -> None:
    _check(View(frame=frames.hang(), drawing=("findings" if name != "findings" else "ranks", name)), (120, 40))
    _check(View(frame=frames.hang(), alone=name), (80, 24))


def test_keys_and_mouse_in_the_app() -> None:
    async def act(app, pilot, feed) -> None:  # type: ignore[no-untyped-def]
        assert "disk" not in arrange(view_of(app), *FULL), "the settings hide it"
        await pilot.press("X")
        assert "disk" in arrange(view_of(app), *FULL)
        await pilot.press("w", "z")
        assert any("z all panels" in row for row in screen_text(app))
        await pilot.press("escape")
        assert not view_of(app).alone
        await pilot.press("ctrl+right", "M")
        assert view_of(app).alone in ("cpu", "busiest")
        await pilot.press("M", "x")
        assert len(view_of(app).hidden) == 1
        await pilot.click("#ranks", offset=(4, 0))
        assert view_of(app).alone == "ranks"

    drive(act, frames.healthy(), size=FULL, options=ScreenOptions(panels=PanelConfig(hide=("disk",))))


def test_many_gpus_are_a_grid_that_names_the_worst_where_there_is_no_line_for_each() -> None:
    frame = gpu_frames.changed(gpu_frames.training(16), 6, status="lost", reason="fell off the bus")
    screen = rows(View(frame=gpu_frames.changed(frame, 5, util_pct=3.0)), (80, 24))
    start = next(number for number, row in enumerate(screen) if "16 GPUs" in row)
    assert "✖ GPU 6 LOST  ▼GPU 5 at 3%" in screen[start]
    grid = " ".join(screen[start + 1 : start + 3])
    assert all(f" {index} " in grid.replace("▼", " ") for index in range(16))
    assert "✖ 6 LOST" in grid
    assert "▼ 5   3%" in grid


@pytest.mark.parametrize("size", [(120, 40), (200, 60), (300, 80)], ids=str)
def test_a_crowd_is_a_map_with_those_that_differ(size: tuple[int, int]) -> None:
    view = View(frame=crowds.sick(512))
    screen = "\n".join(rows(view, size))
    assert "512 ranks, " in screen
    assert "✖ 1 dead   ■ 1 stuck   ▲ 1 slow   ▼ 1 data-wait   ○ 508 collective-wait" in screen
    assert "261  ■ stuck 50s" in screen
    _check(view, size)


@pytest.mark.parametrize("page", ["stacks", "ranks", "symptoms", "flame"])
def test_rows_that_a_page_does_not_need_answer_more_of_its_question(page: str) -> None:
    view = View(frame=frames.hang(), page=page)
    more = {"stacks": "ranks", "ranks": "logs", "symptoms": "ranks", "flame": "stack"}
    assert more[page] in arrange(view, 300, 80)
    _check(view, (300, 80))


def test_the_last_row_tells_of_hidden_panels_and_the_frame_of_the_way_back() -> None:
    view = View(frame=frames.healthy(), hidden=frozenset({"disk", "network"}))
    assert "X 2 hidden" in rows(view)[-1]
    remapped = replace(view, alone="ranks", keymap={"panel-alone": "f6"})
    assert "╰─ F6 all panels ─" in rows(remapped)[-2]


@pytest.mark.parametrize("make", [frames.healthy, frames.hang, frames.gpu_lost, frames.input_bound])
def test_the_smallest_overview_has_no_frame_without_a_rank(make: Callable[[], Frame]) -> None:
    for height in range(15, 24):
        screen = rows(View(frame=make()), (60, height))
        if start := next((number for number, row in enumerate(screen) if " Ranks ─" in row), None):
            assert not screen[start + 2].startswith("╰")

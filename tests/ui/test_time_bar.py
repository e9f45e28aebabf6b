"""The time bar, and the mouse on it and on every list."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.ui.app import HwtopApp
from hwtop.ui.input import mouse as mouse_moves
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels import time_bar
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.panels.picker import PickerState
from hwtop.ui.panels.stacks.state import FlameState
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.view import View
from hwtop.ui.widgets.text import cells, to_ascii
from tests import crowds, frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

WIDTH = 120


@cache
def _base(name: str) -> Frame:
    return frames.ALL[name]()


def second(number: int, name: str = "healthy", *, asleep_s: float = 0.0) -> Frame:
    """The frame of this second of a watch."""
    base = _base(name)
    derived = replace(base.derived, time_s=frames.T0 + number + asleep_s, at_s=1_000.0 + number)
    return replace(base, number=number, watched_s=float(number), derived=derived, history=(*base.history[:-1], derived))


def story() -> list[Frame]:
    """Two minutes: healthy, starved of data from 60 on, healthy again from 90 on, asleep for a minute after 100."""
    return [
        second(number, "input-bound" if 60 <= number < 90 else "healthy", asleep_s=60.0 if number > 100 else 0.0)
        for number in range(121)
    ]


@cache
def _watched() -> View:
    view = View(frame=story()[0])
    for frame in story():
        view = time_moves.arrived(view, frame)
    return view


def bar(view: View, width: int = WIDTH) -> str:
    (line,) = time_bar.draw(view, width, 1)
    assert line.width == width
    return line.text


def test_it_is_there_only_while_the_picture_is_held_or_a_time_is_typed() -> None:
    live = _watched()
    for view, is_there in (
        (live, False),
        (time_moves.pressed(live, "pause"), True),
        (time_moves.pressed(live, "step-back"), True),
        (time_moves.pressed(live, "ask"), True),
    ):
        assert ("time-bar" in arrange(view, 80, 24)) == is_there


def test_it_shows_the_span_the_findings_the_gap_and_the_place() -> None:
    view = time_moves.sought(_watched(), frames.T0 + 30)
    text = bar(view)
    track = text[text.index("├") + 1 : text.index("┤")]
    third = len(track) / 180
    assert abs(track.index("┃") - 30 * third) <= 1
    assert abs(track.index("▲") - 60 * third) <= 1
    assert abs(track.index("✔") - 90 * third) <= 1
    assert set(track[track.index("▲") + 1 : track.index("✔")]) == {"━"}
    gap = [at for at, glyph in enumerate(track) if glyph == "┈"]
    assert abs(gap[0] - 100 * third) <= 1
    assert abs(gap[-1] - 160 * third) <= 2
    assert text.rstrip().endswith("now ✔ OK")


@pytest.mark.parametrize("width", [60, 80, 100, 200, 300])
def test_it_fits_and_can_be_read_without_unicode(width: int) -> None:
    view = time_moves.sought(_watched(), frames.T0 + 30)
    for shown in (view, time_moves.pressed(view, "ask")):
        text = bar(shown, width)
        assert "?" not in to_ascii(text)
        assert cells(to_ascii(text)) == width


def test_the_top_row_says_that_this_is_the_past_and_how_old_it_is() -> None:
    view = time_moves.sought(_watched(), frames.T0 + 70)
    for width, height in ((60, 15), (80, 24), (120, 40), (200, 60)):
        lines = [line.text for line in picture(view, width, height)]
        assert "110 s ago" in lines[0]
        assert "‖" in lines[0]
        assert "WARNING" in lines[0]
    compact = " ".join(line.text for line in picture(view, 50, 12))
    assert "110 s ago" in compact


def test_it_says_what_is_not_kept() -> None:
    view = _watched()
    assert "trends" not in bar(time_moves.sought(view, frames.T0 + 115), 200)
    cut = replace(_base("healthy"), number=500, watched_s=5_000.0)
    later = View(frame=cut)
    for number in (500, 530, 560):
        derived = replace(cut.derived, interval_s=12.0, at_s=9_000.0 + number, time_s=frames.T0 + number)
        later = time_moves.arrived(
            later, replace(cut, number=number, derived=derived, watched_s=4_500.0 + number, history=(derived,))
        )
    assert "a picture in 30 s, trends not kept" in bar(time_moves.pressed(later, "step-back"), 200)


def test_a_long_watch_is_shown_as_far_as_it_takes_to_reach_the_picture() -> None:
    view = View(frame=second(0))
    for number in (0, 1_000, 9_000, 9_300, 9_600, 9_601):
        view = time_moves.arrived(view, second(number))
    near = time_moves.pressed(view, "step-back")
    assert bar(near)[1] == "‹"
    left = mouse_moves.pulled(near, 1, WIDTH, is_drag=False)
    assert left.frame.number == 9_000
    oldest = time_moves.sought(view, 0.0)
    assert bar(oldest)[1] == " "


def test_a_click_goes_to_the_moment_and_right_of_the_track_to_now() -> None:
    view = time_moves.pressed(_watched(), "pause")
    text = bar(view)
    came = mouse_moves.pulled(view, text.index("▲"), WIDTH, is_drag=False)
    assert came.frame.number == 60
    gone = mouse_moves.pulled(came, bar(came).index("✔"), WIDTH, is_drag=False)
    assert gone.frame.number == 90
    assert mouse_moves.pulled(gone, text.index("├") + 1, WIDTH, is_drag=False).frame.number <= 1
    assert not mouse_moves.pulled(gone, WIDTH - 2, WIDTH, is_drag=False).is_paused
    held = mouse_moves.pulled(gone, WIDTH - 2, WIDTH, is_drag=True)
    assert (held.is_paused, held.frame.number) == (True, 120)


async def watch(app: HwtopApp, pilot: Pilot[None]) -> None:
    """The screen as it is after the whole story."""
    monitor = app.screen
    assert isinstance(monitor, MonitorScreen)
    monitor.view = _watched()
    monitor.redraw()
    await pilot.pause()


async def mouse(pilot: Pilot[None], kind: type[events.MouseEvent], x: int, y: int) -> None:
    """What the terminal reports at this cell of the screen."""
    app: App[None] = pilot.app
    button = int(kind is not events.MouseScrollDown and kind is not events.MouseScrollUp)
    app.screen._forward_event(kind(None, x, y, 0, 0, button, False, False, False, x, y))
    await pilot.pause()


def test_the_bar_is_dragged_in_the_app() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await watch(app, pilot)
        await pilot.press("left_square_bracket")
        row = next(y for y, text in enumerate(screen_text(app)) if "├" in text and "┤" in text)
        start = screen_text(app)[row].index("├") + 1
        await mouse(pilot, events.MouseDown, start + 5, row)
        first = view_of(app).frame.number
        await mouse(pilot, events.MouseMove, start + 30, row - 8)
        second_ = view_of(app).frame.number
        assert 0 < first < second_
        await mouse(pilot, events.MouseMove, app.size.width - 1, row)
        assert view_of(app).frame.number == 120
        await mouse(pilot, events.MouseMove, start + 5, row)
        await mouse(pilot, events.MouseUp, start + 5, row)
        await mouse(pilot, events.MouseMove, start + 40, row)
        assert (view_of(app).frame.number, view_of(app).is_paused) == (first, True)
        await mouse(pilot, events.MouseDown, start + 5, row)
        await pilot.press("escape")
        assert not view_of(app).is_paused
        await mouse(pilot, events.MouseUp, start + 5, row)
        await mouse(pilot, events.MouseScrollDown, *at_of(view_of(app), "ranks", app.size))
        assert view_of(app).selected is not None

    drive(act, second(0))


def test_keys_go_back_and_on_and_a_typed_time_is_found() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await watch(app, pilot)
        await pilot.press("left_curly_bracket")
        assert view_of(app).frame.number == 90
        assert "training normally" in screen_text(app)[0]
        await pilot.press("left_square_bracket")
        assert "WARNING" in screen_text(app)[0]
        for page in PAGES[1::3]:
            app.screen.action_page(page)  # type: ignore[attr-defined]
            await pilot.pause()
            assert "ago" in screen_text(app)[0]
        await pilot.press("right_curly_bracket", "right_square_bracket")
        assert view_of(app).frame.number == 91
        await pilot.press("T", *"-2m", "enter")
        assert view_of(app).frame.number == 60
        await pilot.press("T", *"soonq", "enter")
        assert "soonq is not a valid time: 14:02" in screen_text(app)[-1]
        assert "go to time: soonq" in screen_text(app)[-2]
        await pilot.press("escape", "p")
        assert (view_of(app).is_paused, view_of(app).time_typed) == (False, None)

    drive(act, second(0))


def test_nothing_is_done_to_the_job_from_a_picture_of_the_past() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.publish(second(1))
        await pilot.pause()
        await pilot.press("left_square_bracket", "9")
        for key in ("k", "d"):
            await pilot.press(key)
            assert len(app.screen_stack) == 2
            assert "p goes back to now" in " ".join(screen_text(app)[-3:])
        await pilot.press("p", "k")
        assert len(app.screen_stack) == 3

    options = ScreenOptions(send=lambda _: ())
    drive(act, second(0), options=options)


def test_no_job_is_attached_from_a_list_of_the_past() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.publish(replace(frames.picker(), number=61))
        await pilot.pause()
        await pilot.press("left_square_bracket", "enter")
        assert feed.attached == []
        await pilot.press("p", "enter")
        assert feed.attached == [frames.LAUNCHER]

    drive(act, frames.picker())


def at_of(view: View, panel: str, size: tuple[int, int]) -> tuple[int, int]:
    place = arrange(view, *size)[panel]
    return place.x + 4, place.y + 2


WHEEL = (
    ("overview", "ranks"),
    ("ranks", "ranks"),
    ("stacks", "stack-tree"),
    ("curves", "curve-list"),
    ("gpu", "gpu-list"),
    ("processes", "processes"),
    ("symptoms", "symptom-list"),
    ("flame", "flame"),
)


@pytest.mark.parametrize("text", ["9999999d", "9" * 200 + "s", "²d", "٣m", "24:00", "-", "99999d99999h"])
def test_a_time_that_no_clock_shows_is_no_end_of_the_screen(text: str) -> None:
    view = replace(_watched(), time_typed=text)
    after = time_moves.typed_time(view, "enter", "\r")
    assert "is not a valid time" in after.note or "is closest" in after.note
    assert cells(bar(after, 80)) == 80


@pytest.mark.parametrize(("page", "panel"), WHEEL)
def test_the_wheel_moves_the_list_under_the_pointer(page: str, panel: str) -> None:
    size = (160, 50)
    view = View(frame=_base("hang"), page=page)
    if page == "flame":
        view = View(frame=_base("healthy"), page=page, selected=0)
    down = mouse_moves.wheeled(mouse_moves.wheeled(view, panel, 1, size), panel, 1, size)
    assert (down.selected, down.states) != (view.selected, view.states)
    up = mouse_moves.wheeled(down, panel, -1, size)
    assert (up.selected, up.states) != (down.selected, down.states) or panel == "symptom-list"
    assert mouse_moves.wheeled(view, "verdict", 1, size) == view


def test_the_wheel_in_the_app_goes_by_the_pointer_not_by_the_page() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("3")
        view = view_of(app)
        for panel, changed in (("stack", "scroll"), ("stack-tree", "selected")):
            before = getattr(view_of(app), changed)
            await mouse(pilot, events.MouseScrollDown, *at_of(view, panel, (120, 16)))
            await mouse(pilot, events.MouseScrollDown, *at_of(view, panel, (120, 16)))
            assert getattr(view_of(app), changed) != before

    drive(act, frames.hang(), size=(120, 16))


def click(view: View, panel: str, row: int, size: tuple[int, int], x: int = 4) -> View:
    place = arrange(view, *size)[panel]
    return mouse_moves.selected(view, panel, (x, row), (place.width, place.height))


def row_with(view: View, panel: str, size: tuple[int, int], word: str) -> int:
    place = arrange(view, *size)[panel]
    lines = [line.text for line in picture(view, *size)][place.y : place.y + place.height]
    return next(row for row, text in enumerate(lines) if word in text[place.x : place.x + place.width])


def test_a_click_selects_what_stands_there_on_every_page() -> None:
    size = (160, 50)
    hang = View(frame=_base("hang"))
    tree = View(frame=_base("hang"), page="stacks")
    assert click(tree, "stack-tree", row_with(tree, "stack-tree", size, "write_summary"), size).selected == 5
    devices = click(hang, "gpu", row_with(hang, "gpu", size, "     5  "), size)
    assert (devices.state(GpuState).index, devices.selected) == (5, 5)
    gpus = View(frame=_base("hang"), page="gpu")
    row = row_with(gpus, "gpu-processes", size, str(frames.pid_of(3)))
    assert click(gpus, "gpu-processes", row, size).state(GpuState).index == 3
    burning = View(frame=_base("healthy"), page="flame", selected=0)
    box = click(burning, "flame", row_with(burning, "flame", size, "attention"), size, x=70)
    assert len(box.state(FlameState).way) > 1
    step = click(burning, "flame-path", row_with(burning, "flame-path", size, "_engine_run_backward"), size)
    assert step.state(FlameState).way[-1].startswith("_engine_run_backward")
    assert click(View(frame=_base("healthy")), "logs", 1, (160, 60)).page == "logs"
    crowd = View(frame=crowds.sick(512), page="ranks")
    first, second_ = (click(crowd, "rank-differ", row, size).selected for row in (2, 3))
    assert None not in (first, second_)
    assert first != second_


def test_a_click_chooses_the_job_to_pick() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        row = next(y for y, text in enumerate(screen_text(app)) if "52007" in text)
        assert await pilot.click("#picker", offset=(20, row - app.screen.query_one("#picker").region.y))
        assert view_of(app).state(PickerState).cursor == 1

    drive(act, frames.picker())


def test_the_app_closes_while_the_bar_is_held() -> None:
    async def run() -> None:
        feed = FakeFeed(second(0))
        app = HwtopApp(feed.start)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.pause()
            await pilot.press("p")
            row = next(y for y, text in enumerate(screen_text(app)) if "├" in text and "┤" in text)
            await mouse(pilot, events.MouseDown, 30, row)
            await pilot.press("q")

    asyncio.run(run())

"""A recording on the screen: it plays, at several speeds, and every moment of it can be gone to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec import structs
from msgspec.structs import replace

from hwtop.model.frame import Frame
from hwtop.ui import past
from hwtop.ui.app import HwtopApp
from hwtop.ui.input import keyboard
from hwtop.ui.loader import Loader
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels import time_bar
from hwtop.ui.past import FrameHistory
from hwtop.ui.playback import SPEEDS, Playback
from hwtop.ui.reducers import playback
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.view import View
from tests import frames
from tests.ui.test_app import screen_text, view_of
from tests.ui.test_past import small
from tests.ui.test_time_bar import story

SIZE = (160, 50)
OPTIONS = ScreenOptions(playback=Playback("run.hwtop", frames.T0 + 180.0))


@cache
def loaded() -> FrameHistory:
    """Two minutes: starved of data from 60 s on, healthy again from 90 s on, nothing sampled for a minute after 100 s."""
    kept = FrameHistory(is_recording=True)
    for frame in story():
        kept = past.with_frame(kept, frame)
    return replace(kept, is_whole=True)


@pytest.fixture
def view() -> View:
    return replace(OPTIONS.opened(past.frame_of(loaded(), 0)), past=loaded())


def pressed(view: View, *actions: str) -> View:
    for action in actions:
        view = keyboard.pressed(view, action, SIZE)
    return view


def after(view: View, seconds: float) -> View:
    for _ in range(round(seconds / 0.1)):
        view = playback.passed(view, 0.1)
    return view


def test_it_stands_at_the_start_until_it_is_played(view: View) -> None:
    assert after(view, 10).frame.number == 0
    assert after(pressed(view, "pause"), 10).frame.number == pytest.approx(10, abs=1)
    assert after(pressed(view, "pause", "pause"), 10).frame.number == 0


@pytest.mark.parametrize("speed", SPEEDS)
def test_it_plays_at_each_speed(speed: float, view: View) -> None:
    view = pressed(view, "pause")
    step = 1 if speed > 1 else -1
    while view.playback and view.playback.speed != speed:
        view = playback.faster(view, step)
    assert after(view, 4).frame.number == pytest.approx(4 * speed, abs=1)


def test_there_is_a_highest_and_a_lowest_speed(view: View) -> None:
    for step, word in ((1, "highest"), (-1, "lowest")):
        for _ in SPEEDS:
            view = playback.faster(view, step)
        assert word in view.note


def test_what_was_not_sampled_is_skipped(view: View) -> None:
    view = pressed(time_moves.shown(view, 100), "pause")
    assert after(view, 5).frame.number == pytest.approx(105, abs=1)


def test_it_stops_at_the_end_and_plays_again_from_the_start(view: View) -> None:
    view = after(pressed(time_moves.shown(view, 115), "pause"), 30)
    assert view.frame.number == 120
    assert not playback.is_playing(view)
    assert pressed(view, "pause").frame.number == 0


def test_it_waits_where_the_rest_is_not_loaded_yet(view: View) -> None:
    part = FrameHistory(is_recording=True)
    for frame in story()[:10]:
        part = past.with_frame(part, frame)
    view = after(pressed(replace(view, past=part), "pause"), 30)
    assert view.frame.number == 9
    assert playback.is_playing(view)
    assert after(replace(view, past=loaded()), 5).frame.number == pytest.approx(14, abs=1)


def test_what_is_not_loaded_yet_is_told_from_what_is_not_there(view: View) -> None:
    part = FrameHistory(is_recording=True, is_whole=False)
    for frame in story()[:10]:
        part = past.with_frame(part, frame)
    loading = replace(view, past=part)
    assert (
        pressed(loading, "turn-on").note == "no finding appeared or cleared after this moment, as far as it is loaded"
    )
    asked = pressed(loading, "go-to-time")
    for key in "-60s":
        asked = time_moves.typed_time(asked, key, key)
    there = time_moves.typed_time(asked, "enter", None)
    assert there.frame.number == 9
    assert "is not loaded yet" in there.note


def test_the_keys_of_the_past_go_through_it(view: View) -> None:
    view = pressed(view, "turn-on")
    assert view.frame.number == 60
    assert pressed(view, "step-on").frame.number == 61
    assert pressed(view, "turn-on", "turn-back").frame.number == 60
    last = pressed(view, "turn-on", "turn-on")
    assert last.frame.number == 90
    assert last.note == "no finding appeared or cleared after this moment"
    for key in "-60s":
        view = time_moves.typed_time(view if view.time_typed is not None else pressed(view, "go-to-time"), key, key)
    assert time_moves.typed_time(view, "enter", None).frame.derived.time_s == pytest.approx(frames.T0 + 120, abs=21)


def test_escape_never_leaves_the_frame(view: View) -> None:
    view = time_moves.shown(view, 70)
    assert pressed(view, "clear").frame.number == 70


def test_the_screen_says_what_is_played(view: View) -> None:
    first, second_row = (line.text for line in picture(pressed(view, "pause"), *SIZE)[:2])
    assert "▶ 1x" in first
    assert "run.hwtop" in second_row
    part = replace(view, past=replace(loaded(), is_whole=False))
    assert "loading 100%" in time_bar.draw(part, 160, 1)[0].text
    assert "loading" not in time_bar.draw(view, 160, 1)[0].text


def test_trends_reach_back_from_every_frame_of_a_long_recording() -> None:
    kept = FrameHistory(is_recording=True)
    for number in range(4000):
        frame, before = small(number), small(number - 1)
        kept = past.with_frame(kept, structs.replace(frame, history=(before.derived, frame.derived)))
    assert len(kept.trend) <= 1500
    early = past.frame_of(kept, past.place_of(kept, 900))
    assert past.trends_s(early) == pytest.approx(past.TRENDS_S, abs=5)


def test_a_recording_is_loaded_and_played_on_the_screen() -> None:
    loader = Loader(story())

    async def run() -> None:
        app = HwtopApp(loader.start, options=OPTIONS)
        async with app.run_test(size=SIZE) as pilot:
            while app.last_frame is None or not view_of(app).past.is_whole:
                await pilot.pause(0.01)
            assert view_of(app).frame.number == 60
            await pilot.press("plus", "plus", "plus", "plus", "space")
            while view_of(app).frame.number < 65:
                await pilot.pause(0.01)
            await pilot.press("space")
            assert any("‖" in row for row in screen_text(app))

    asyncio.run(run())


def published(loader: Loader) -> list[FrameHistory]:
    """All that it publishes."""
    found: list[FrameHistory] = []
    is_whole = threading.Event()

    def publish(ready: Frame | FrameHistory) -> None:
        assert isinstance(ready, FrameHistory)
        found.append(ready)
        if ready.is_whole:
            is_whole.set()

    loader.start(publish)
    assert is_whole.wait(60)
    return found


def test_nothing_is_published_before_the_time_that_was_asked_for() -> None:
    first, *_ = published(Loader(story(), frames.T0 + 30))
    assert first.newest is not None
    assert first.newest.number == 30


def test_it_is_opened_at_the_first_warning_of_the_first_minute() -> None:
    first, *_, last = published(Loader(story()))
    assert first.newest is not None
    assert first.newest.number == 60
    assert past.opened_at(last) == 60


def test_without_an_early_warning_it_is_opened_at_the_first_verdict() -> None:
    *_, whole = published(Loader(story()[:50]))
    assert whole.kept[past.opened_at(whole)].number == 11


def test_what_cannot_be_replayed_leaves_the_rest() -> None:
    def broken() -> Iterator[Frame]:
        yield from story()[:3]
        raise ValueError("impossible")

    loader = Loader(broken())
    *_, last = published(loader)
    assert last.newest is not None
    assert last.newest.number == 2
    assert loader.failure == "internal error in the replay: ValueError: impossible"

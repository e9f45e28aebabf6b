"""A screen that nobody uses looks less often, as long as all is well."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.ui.app import HwtopApp
from hwtop.ui.input.idle import IDLE_AFTER_S
from hwtop.ui.options import ScreenOptions
from tests import frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text

OPTIONS = ScreenOptions(idle_interval_s=2.0)


def later(frame: Frame, seconds: float, interval_s: float = 1.0, *, is_calm: bool = True) -> Frame:
    now = replace(frame.derived, at_s=frame.derived.at_s + seconds, interval_s=interval_s)
    return replace(frame, derived=now, is_calm=is_calm, number=frame.number + int(seconds))


CALM = later(frames.healthy(), 0.0)


async def show(pilot: Pilot[None], feed: FakeFeed, frame: Frame) -> None:
    assert feed.publish is not None
    feed.publish(frame)
    await pilot.pause()


def test_a_key_brings_the_usual_interval_back_and_the_screen_says_which_it_is() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await show(pilot, feed, later(CALM, IDLE_AFTER_S - 1))
        assert feed.intervals == []
        await show(pilot, feed, later(CALM, IDLE_AFTER_S))
        assert feed.intervals == [2.0]
        await show(pilot, feed, later(CALM, IDLE_AFTER_S + 2, 2.0))
        assert "every 2 s while idle" in "\n".join(screen_text(app))
        await pilot.press("down")
        assert feed.intervals == [2.0, 1.0]
        await show(pilot, feed, later(CALM, IDLE_AFTER_S + 3))
        assert "every 1 s" in "\n".join(screen_text(app))
        await show(pilot, feed, later(CALM, 2 * IDLE_AFTER_S + 1))
        assert feed.intervals == [2.0, 1.0], "a minute since the key has not passed"
        await show(pilot, feed, later(CALM, 2 * IDLE_AFTER_S + 3))
        assert feed.intervals == [2.0, 1.0, 2.0]

    drive(act, CALM, options=OPTIONS, size=(200, 60))


def test_what_is_about_to_be_raised_brings_the_usual_interval_back() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await show(pilot, feed, later(CALM, IDLE_AFTER_S))
        await show(pilot, feed, later(CALM, IDLE_AFTER_S + 2, 2.0, is_calm=False))
        assert feed.intervals == [2.0, 1.0]

    drive(act, CALM, options=OPTIONS)


@pytest.mark.parametrize(
    ("options", "keys"),
    [(ScreenOptions(idle_interval_s=1.0), ()), (OPTIONS, ("plus", "plus"))],
    ids=["switched off", "the chosen one is longer"],
)
def test_it_never_looks_more_often_while_idle(options: ScreenOptions, keys: tuple[str, ...]) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press(*keys)
        chosen = list(feed.intervals)
        assert len(chosen) == len(keys)
        await show(pilot, feed, later(CALM, 1.0))
        await show(pilot, feed, later(CALM, 2 * IDLE_AFTER_S))
        assert feed.intervals == chosen

    drive(act, CALM, options=options)

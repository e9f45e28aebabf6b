"""Typing a filter while a job is picked."""

from __future__ import annotations

from textual.pilot import Pilot

from hwtop.ui.app import HwtopApp
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text


def test_a_filter_leaves_the_jobs_that_have_its_words() -> None:
    frame = frames.picker()
    wanted = (frame.derived.candidates or ())[-1]

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("slash", *str(wanted.pid))
        text = "\n".join(screen_text(app))
        assert f"1 of {len(frame.derived.candidates or ())}" in text
        await pilot.press("enter")
        shown = [row for row in screen_text(app) if " yes " in row or "▲ no" in row]
        assert len(shown) == 1
        assert str(wanted.pid) in shown[0]
        await pilot.press("escape")
        assert len([row for row in screen_text(app) if " yes " in row or "▲ no" in row]) > 1

    drive(act, frame)


def test_that_no_job_trains_is_not_said_of_what_a_filter_leaves() -> None:
    frame = frames.picker()
    other = next(each for each in frame.derived.candidates or () if each.kind != "training" and not each.framework)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("slash", *str(other.pid), "enter")
        text = "\n".join(screen_text(app))
        assert "1 of" in text
        assert "0 training jobs" not in text

    drive(act, frame)


def test_a_word_that_no_job_has_says_so_and_how_to_go_back() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("slash", *"nosuchjob", "enter")
        text = "\n".join(screen_text(app))
        assert "No process has all these words." in text
        assert "Esc clears the filter" in text
        await pilot.press("down", "enter")  # harmless
        assert feed.attached == []

    drive(act, frames.picker())

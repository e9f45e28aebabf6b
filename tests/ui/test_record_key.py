"""The key that records what is watched."""

from __future__ import annotations

from textual.pilot import Pilot

from hwtop.ui.app import HwtopApp
from hwtop.ui.options import RecordingChanged, ScreenOptions
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text


def test_a_recording_is_started_shown_and_ended_with_one_key() -> None:
    names: list[str] = []

    def record(name: str, changed: RecordingChanged) -> None:
        names.append(name)
        changed(f"{len(names)}: /home/me/run.hwtop", len(names) == 1)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for number, goes_on in ((1, True), (2, False)):
            await pilot.press("R")
            await pilot.pause()
            screen = screen_text(app)
            assert f"{number}: /home/me/run.hwtop" in screen[-1]
            assert ("● recording" in screen[1]) == goes_on

    drive(act, frames.hang(), size=(160, 40), options=ScreenOptions(record=record))
    assert len(names) == 2
    assert names[0].startswith("hwtop-20")


def test_where_nothing_can_be_recorded_the_command_is_told() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("R")
        await pilot.pause()
        assert "hwtop record" in " ".join(screen_text(app)[-2:])

    drive(act, frames.hang())

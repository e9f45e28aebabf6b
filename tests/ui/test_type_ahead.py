"""Keys that came in one piece, as over a slow line: each does what it would have done alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from hwtop.config import Config
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions, SettingsFile
from hwtop.ui.screens.monitor import MonitorScreen
from tests import frames
from tests.ui.test_app import FakeFeed, drive, view_of


def options(folder: Path) -> ScreenOptions:
    return ScreenOptions(settings=SettingsFile(str(folder / "own.toml"), Config(), lambda _, __: None))


def sent(app: HwtopApp, keys: tuple[str, ...]) -> None:
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def settled(pilot: Pilot[None]) -> None:
    """A key may take some messages until it is at the screen it was meant for."""
    for _ in range(10):
        await pilot.pause()


@pytest.mark.parametrize("opening", ["question_mark", "colon", "f2"])
@pytest.mark.parametrize("is_open", [True, False], ids=["dialog open", "all at once"])
def test_the_key_after_the_one_that_closes_a_dialog_is_the_monitors(
    opening: str, is_open: bool, tmp_path: Path
) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], _: FakeFeed) -> None:
        keys: tuple[str, ...] = (opening, "escape", "3")
        if is_open:
            await pilot.press(opening)
            keys = keys[1:]
        sent(app, keys)
        await settled(pilot)
        assert isinstance(app.screen, MonitorScreen)
        assert view_of(app).page == "stacks"

    drive(act, frames.hang(), options=options(tmp_path))


@pytest.mark.parametrize("opening", ["question_mark", "colon", "f2"])
def test_closing_twice_leaves_the_monitor_there(opening: str, tmp_path: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], _: FakeFeed) -> None:
        await pilot.press(opening)
        sent(app, ("escape", "escape", "escape"))
        await settled(pilot)
        assert isinstance(app.screen, MonitorScreen)
        assert app.is_running

    drive(act, frames.hang(), options=options(tmp_path))


def test_what_is_typed_with_the_key_that_opens_the_palette_is_searched() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], _: FakeFeed) -> None:
        sent(app, ("colon", *"rank", "space", "3", "enter"))
        await settled(pilot)
        assert view_of(app).selected == 3

    drive(act, frames.hang())

"""A key held down faster than the screen can be drawn: every one counts, and none waits for the pictures of those before."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from hwtop.ui.app import HwtopApp
from hwtop.ui.pages.registry import tabs
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.view import View
from tests import frames
from tests.ui.test_app import FakeFeed, drive, view_of

PAGES = [page.name for page in tabs(View(frame=frames.healthy()))]


def test_keys_that_wait_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    redraw = MonitorScreen.redraw

    def noted(screen: MonitorScreen) -> None:
        drawn.append(screen.view.page if screen.view is not None else "")
        redraw(screen)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        monkeypatch.setattr(MonitorScreen, "redraw", noted)
        for _ in range(3 * len(PAGES) + 2):
            app.post_message(events.Key("tab", "\t"))
        await pilot.pause()
        assert view_of(app).page == PAGES[2]
        assert len(drawn) < len(PAGES)
        assert drawn[-1] == PAGES[2]

    drive(act, frames.healthy())

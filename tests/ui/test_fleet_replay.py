"""A recording of several nodes on the screen: the fleet page at any moment, and the node that was recorded in full."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from hwtop.commands.saved.replay import frames_of
from hwtop.config import EVERY_SYMPTOM
from hwtop.store.reader import FleetRecording
from hwtop.ui.app import HwtopApp
from hwtop.ui.loader import Loader
from hwtop.ui.options import ScreenOptions
from hwtop.ui.playback import Playback
from tests.fleet.sessions import FOCUSED, LOST_FROM, hang, written
from tests.ui.test_app import screen_text, view_of

pytestmark = pytest.mark.slow
SIZE = (120, 40)
Act = Callable[[HwtopApp, Pilot[None]], Awaitable[None]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("recordings") / "run.hwtop", hang())


def replayed(place: Path, act: Act, open_at: int = 0) -> None:
    """The screen, opened at this reading; `act` begins once all is loaded."""
    recording = FleetRecording(place)
    open_at_s = hang()[open_at].time_s
    loader = Loader(frames_of(recording, EVERY_SYMPTOM), open_at_s)
    options = ScreenOptions(playback=Playback("run.hwtop", recording.last_s, open_at_s), is_readonly=True)

    async def run() -> None:
        app = HwtopApp(loader.start, options=options)
        async with app.run_test(size=SIZE) as pilot:
            while app.last_frame is None or not view_of(app).past.is_whole:
                await pilot.pause(0.01)
            await act(app, pilot)

    asyncio.run(run())
    assert loader.failure is None


async def pressed(app: HwtopApp, pilot: Pilot[None], *keys: str) -> str:
    """What the screen shows after these keys."""
    await pilot.press(*keys)
    await pilot.pause()
    return "\n".join(screen_text(app))


def test_the_fleet_page_of_a_recording_goes_from_finding_to_finding_and_plays(place: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None]) -> None:
        start = await pressed(app, pilot)
        assert all(words in start for words in ("run.hwtop", "2 of 2 nodes", "Table of nodes", "├", "▲", "✖"))
        assert "GPU 0 of node a: SM clock" in await pressed(app, pilot, "right_curly_bracket")
        assert "Rank 5 is missing from the collective" in await pressed(app, pilot, "right_curly_bracket")
        lost = await pressed(app, pilot, "right_curly_bracket")
        assert "node a no longer reports" in lost
        assert "1 of 2 nodes" in lost
        assert view_of(app).frame.number == LOST_FROM + 1
        await pressed(app, pilot, "left_square_bracket")
        assert view_of(app).frame.number == LOST_FROM
        await pressed(app, pilot, "T", *"-1m", "enter")
        assert view_of(app).frame.derived.time_s == pytest.approx(hang()[-1].time_s - 60, abs=2)
        number = view_of(app).frame.number
        await pilot.press("plus", "plus", "plus", "plus", "space")
        while view_of(app).frame.number < number + 3:
            await pilot.pause(0.01)

    replayed(place, act)


def test_a_node_that_was_recorded_in_full_opens_with_its_details_and_trends(place: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None]) -> None:
        overview = await pressed(app, pilot, "down", "enter")
        view = view_of(app)
        assert (view.opened, view.has_details, view.note) == ("b", True, "")
        assert "only its report" not in overview
        assert view.job is not None
        assert view.job.processes
        assert len(view.frame.history) == FOCUSED.index(50) + 1
        assert f" {view.job.ranks[-1].pid} " in await pressed(app, pilot, "9")

    replayed(place, act, open_at=50)


def test_a_node_that_was_not_recorded_in_full_says_so(place: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None]) -> None:
        screen = await pressed(app, pilot, "enter")
        assert view_of(app).opened == "a"
        assert (
            "a was not recorded in full at this time, so there are no log lines, processes and curves of it" in screen
        )
        assert "node a, only its report" in screen
        job = view_of(app).job
        assert job is not None
        assert [rank.rank for rank in job.ranks] == [0, 1, 2, 3]
        assert "node a, only its report" in await pressed(app, pilot, "right_square_bracket")
        assert "was not recorded in full" in await pressed(app, pilot, "escape", "5")

    replayed(place, act, open_at=50)

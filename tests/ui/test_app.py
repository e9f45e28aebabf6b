"""The app as a person drives it, without a terminal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.ui.app import HwtopApp
from hwtop.ui.layout import picture
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.view import View
from hwtop.ui.widgets.panel import Panel
from tests import frames


class FakeFeed:
    """Remembers what the screen asked for."""

    def __init__(self, *given: Frame) -> None:
        self.given = given
        self.attached: list[int] = []
        self.focused: list[int | None] = []
        self.stopped = 0
        self.publish: Publish | None = None

    def start(self, publish: Publish) -> FakeFeed:
        self.publish = publish
        for frame in self.given:
            publish(frame)
        return self

    def attach(self, pid: int) -> None:
        self.attached.append(pid)

    def focus(self, rank: int | None) -> None:
        self.focused.append(rank)

    def stop(self) -> None:
        self.stopped += 1


Act = Callable[[HwtopApp, "Pilot[None]", FakeFeed], Awaitable[None]]


def drive(act: Act, *given: Frame, size: tuple[int, int] = (120, 40), options: ScreenOptions | None = None) -> FakeFeed:
    feed = FakeFeed(*given)

    async def run() -> None:
        app = HwtopApp(feed.start, options=options)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(app, pilot, feed)

    asyncio.run(run())
    return feed


def view_of(app: HwtopApp) -> View:
    monitor = next(screen for screen in app.screen_stack if isinstance(screen, MonitorScreen))
    assert monitor.view is not None
    return monitor.view


def screen_text(app: HwtopApp) -> list[str]:
    """What the widgets draw, put together from their places."""
    width, height = app.size
    rows = [" " * width for _ in range(height)]
    for panel in app.screen.query(Panel):
        if panel.display:
            region = panel.region
            for y in range(region.height):
                row = rows[region.y + y]
                rows[region.y + y] = row[: region.x] + panel.render_line(y).text + row[region.x + region.width :]
    return rows


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
def test_the_terminal_shows_the_picture(size: tuple[int, int]) -> None:
    frame = frames.hang()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert screen_text(app) == [line.text for line in picture(View(frame=frame), *size)]

    drive(act, frame, size=size)


def test_pages_by_digit_and_tab_keep_the_selection() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("j", "j", "down")
        assert view_of(app).selected == 2
        for key, page in (
            ("2", "stacks"),
            ("3", "logs"),
            ("4", "processes"),
            ("1", "overview"),
            ("tab", "stacks"),
            ("shift+tab", "overview"),
        ):
            await pilot.press(key)
            assert (view_of(app).page, view_of(app).selected) == (page, 2)
        await pilot.press("k", "enter")
        assert (view_of(app).page, view_of(app).selected) == ("stacks", 1)
        assert any("Stack of rank 1" in row for row in screen_text(app))

    assert drive(act, frames.hang()).focused == [0, 1, 2, 1]


def test_escape_clears_and_never_quits() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("j", "escape", "escape", "escape")
        assert view_of(app).selected is None
        assert app.is_running

    assert drive(act, frames.healthy()).focused == [0, None]


def test_pause_holds_the_picture_and_resumes_with_the_newest() -> None:
    first, later = frames.healthy(), frames.hang()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("p")
        assert feed.publish is not None
        feed.publish(later)
        await pilot.pause()
        rows = screen_text(app)
        assert "PAUSED" in rows[0]
        assert "OK" in rows[0]
        assert app.last_frame is later
        await pilot.press("p")
        rows = screen_text(app)
        assert "CRITICAL" in rows[0]
        assert "PAUSED" not in rows[0]

    drive(act, first)


def test_frames_from_a_thread_are_collapsed_and_the_last_one_wins() -> None:
    base = frames.healthy()
    drawn: list[int] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        monitor = app.screen
        assert isinstance(monitor, MonitorScreen)
        show = monitor.show

        def remember(frame: Frame) -> None:
            drawn.append(frame.number)
            show(frame)

        monitor.show = remember  # type: ignore[method-assign]
        assert feed.publish is not None
        publish = feed.publish
        thread = threading.Thread(target=lambda: [publish(replace(base, number=number)) for number in range(200)])
        thread.start()
        thread.join()  # the event loop stands still meanwhile, as it does on a busy machine
        await pilot.pause()

    drive(act, base)
    assert drawn[-1] == 199
    assert len(drawn) < 20


def test_resize_to_a_stamp_and_back() -> None:
    frame = frames.hang()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for size in ((20, 5), (60, 15), (200, 60), (1, 1), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert screen_text(app) == [line.text for line in picture(View(frame=frame), *size)]

    drive(act, frame)


def test_picker_attaches_with_enter_and_says_why_it_cannot() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("enter")
        assert any("attaching to 41000" in row for row in screen_text(app))
        await pilot.press("j", "enter")
        assert any("belongs to user bob" in row for row in screen_text(app))

    assert drive(act, frames.picker()).attached == [frames.LAUNCHER]


def test_nothing_to_pick_survives_enter() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("j", "enter", "k")
        assert any("hwtop demo" in row for row in screen_text(app))

    assert drive(act, frames.nothing_to_pick()).attached == []


def test_help_lists_every_key_and_closes() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for key in ("question_mark", "h", "f1"):
            await pilot.press(key)
            text = "\n".join(screen_text(app))
            assert "Hold the picture" in text
            assert "Leave; the last verdict stays" in text
            await pilot.press("escape")
            assert isinstance(app.screen, MonitorScreen)

    drive(act, frames.healthy())


def test_logs_scroll_back_and_follow_again() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("3", "k", "pageup")
        assert view_of(app).scroll == 11
        assert any("11 newer below" in row for row in screen_text(app))
        await pilot.press("end")
        assert any("following" in row for row in screen_text(app))

    drive(act, frames.healthy(), size=(100, 20))


def test_a_click_selects_a_rank_and_a_tab() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert await pilot.click("#ranks", offset=(10, 4))
        assert view_of(app).selected == 2
        assert await pilot.click("#footer", offset=(14, 0))
        assert view_of(app).page == "stacks"

    assert drive(act, frames.healthy()).focused == [2]


def test_quit_stops_the_feed_once_and_keeps_the_last_frame() -> None:
    frame = frames.healthy()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("q")
        assert app.last_frame is frame

    assert drive(act, frame).stopped == 1


def test_before_the_first_frame_every_key_is_harmless() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("j", "enter", "p", "escape", "tab", "3", "pagedown", "home", "end")
        assert "the first look" in screen_text(app)[0]

    drive(act)


@pytest.mark.parametrize("theme", ["hwtop", "textual-light", "nord", "ansi-dark", "no-such-theme"])
def test_themes_give_every_role_a_colour(theme: str) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for line in range(24):
            assert app.screen.query_one("#ranks", Panel).render_line(line)
        assert any("What is wrong" in row for row in screen_text(app))

    drive(act, frames.hang(), options=ScreenOptions(theme=theme))


def test_ascii_screen() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert "".join(screen_text(app)).isascii()
        await pilot.press("h")
        assert "".join(screen_text(app)).isascii()

    drive(act, frames.hang(), options=ScreenOptions(is_ascii=True))


def test_no_colour_means_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert app.no_color

    drive(act, frames.hang(), options=ScreenOptions(no_color=True))


def test_few_style_sheets() -> None:
    """Textual parses everything again for each widget class past 64 sources."""

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert len(app.stylesheet.source) < 20

    drive(act, frames.healthy())

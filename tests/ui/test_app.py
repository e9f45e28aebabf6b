"""The app as a person drives it, without a terminal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from textual import events
from textual._compositor import LayoutUpdate
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.ui.pages.layout import drawn, picture
from hwtop.ui.pages.page import Places
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.panels.ranks.state import RanksState
from hwtop.ui.panels.ranks.view import ordered
from hwtop.ui.panels.stacks.state import FlameState
from hwtop.ui.reducers import ranks
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel
from tests import crowds, frames
from tests.parts import replace


class FakeFeed:
    """Remembers what the screen asked for."""

    def __init__(self, *given: Frame) -> None:
        self.given = given
        self.attached: list[int | None] = []
        self.focused: list[int | None] = []
        self.intervals: list[float] = []
        self.stopped = 0
        self.publish: Publish | None = None

    def start(self, publish: Publish) -> FakeFeed:
        self.publish = publish
        for frame in self.given:
            publish(frame)
        return self

    def attach(self, pid: int | None) -> None:
        self.attached.append(pid)

    def look(self, user_focus: UserFocus) -> None:
        self.focused.append(user_focus.rank)

    def interval(self, seconds: float) -> None:
        self.intervals.append(seconds)

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


def test_a_key_that_does_nothing_says_where_the_keys_are() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("K")
        assert "K is not bound to anything; ? lists all keys" in screen_text(app)[-1]
        await pilot.press("ä")
        assert "ä is not bound to anything; ? lists all keys" in screen_text(app)[-1]
        await pilot.press("f7")
        assert "F7 is not bound to anything; ? lists all keys" in screen_text(app)[-1]
        await pilot.press("2")
        assert "F7 is not" not in screen_text(app)[-1]

    drive(act, frames.healthy())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
def test_the_terminal_shows_the_picture(size: tuple[int, int]) -> None:
    frame = frames.hang()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert screen_text(app) == [line.text for line in picture(View(frame=frame), *size)]

    drive(act, frame, size=size)


def test_pages_by_digit_and_tab_keep_the_selection() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("up", "up", "up")  # from the blamed rank, 5
        assert view_of(app).selected == 2
        for key, page in (
            ("2", "ranks"),
            ("3", "stacks"),
            ("f", "flame"),
            ("5", "logs"),
            ("6", "curves"),
            ("8", "host"),
            ("9", "processes"),
            ("0", "symptoms"),
            ("1", "overview"),
            ("tab", "ranks"),
            ("shift+tab", "overview"),
            ("shift+tab", "symptoms"),
            ("tab", "overview"),
        ):
            await pilot.press(key)
            assert (view_of(app).page, view_of(app).selected) == (page, 2)
        await pilot.press("up", "enter")
        assert (view_of(app).page, view_of(app).selected) == ("stacks", 1)
        assert any("Stack of rank 1" in row for row in screen_text(app))

    assert drive(act, frames.hang()).focused == [4, 3, 2, 1]


def test_escape_clears_and_never_quits() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("down", "escape", "escape", "escape")
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


def test_while_the_picture_is_held_only_what_says_how_far_back_it_is_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *later = [replace(frames.healthy(), number=number) for number in (1, 2, 3)]
    done: list[str] = []

    def noted(view: View, name: str, places: Places) -> list[Line]:
        done.append(name)
        return drawn(view, name, places)

    monkeypatch.setattr("hwtop.ui.screens.picture.drawn", noted)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert feed.publish is not None
        await pilot.press("p")
        held = screen_text(app)
        for frame in later:
            done.clear()
            feed.publish(frame)
            await pilot.pause()
            assert set(done) == {"verdict", "time-bar"}
        assert screen_text(app) == [line.text for line in picture(view_of(app), *app.size)]
        assert screen_text(app)[2:-2] == held[2:-2]
        done.clear()
        await pilot.press("p")
        assert {"ranks", "gpu", "verdict"} <= set(done)

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
        await pilot.press("down", "enter")
        assert any("belongs to user bob" in row for row in screen_text(app))

    assert drive(act, frames.picker()).attached == [frames.LAUNCHER]


def test_the_list_of_jobs_is_a_key_away_from_a_job() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("4", "J")
        assert feed.publish is not None
        feed.publish(replace(frames.picker(), number=0))
        await pilot.pause()
        assert any("Pick a job" in row for row in screen_text(app))
        await pilot.press("J", "enter")
        assert view_of(app).attaching == frames.LAUNCHER

    assert drive(act, frames.hang()).attached == [None, frames.LAUNCHER]


def test_enter_on_the_ranks_page_opens_the_rank_that_is_shown() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("2", "enter")
        assert (view_of(app).page, view_of(app).selected) == ("stacks", 5)

    drive(act, frames.hang())


def test_a_filter_is_that_of_the_panel_in_focus() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        while "▸ Ranks" not in " ".join(screen_text(app)):
            await pilot.press("w")
        await pilot.press("slash", *"state=stuck")
        assert (view_of(app).page, view_of(app).typed) == ("ranks", "state=stuck")
        await pilot.press("enter", "1", "W", "slash")
        assert view_of(app).page != "overview"

    drive(act, frames.hang())


def test_nothing_to_pick_survives_enter() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("down", "enter", "up")
        assert any("hwtop demo" in row for row in screen_text(app))

    assert drive(act, frames.nothing_to_pick()).attached == []


def test_letters_and_function_keys_open_pages() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for key, page in (("b", "stacks"), ("l", "logs"), ("f4", "logs"), ("escape", "logs")):
            await pilot.press(key)
            assert view_of(app).page == page
        assert not view_of(app).typing

    drive(act, frames.healthy())


def test_a_filter_takes_all_keys_until_enter() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5", "slash", *"qp1", "tab", "shift+tab", "f1", "backspace", "backspace", "backspace")
        assert (view_of(app).page, view_of(app).filter_of("logs"), view_of(app).is_paused) == ("logs", "", False)
        await pilot.press(*"Iter", "space", *"12589")
        rows = screen_text(app)
        assert "filter: Iter 12589, 8 of" in rows[2]
        assert rows[-1].startswith(" / Iter 12589▏")
        await pilot.press("enter", "down", "9")
        assert (view_of(app).page, view_of(app).filter_of("processes")) == ("processes", "")
        await pilot.press("slash", *"loader", "enter", "5")
        assert view_of(app).filter_of("logs") == "Iter 12589"
        await pilot.press("escape")
        assert (view_of(app).filter_of("logs"), app.is_running) == ("", True)
        await pilot.press("slash", *"x", "escape", "p")
        assert (view_of(app).filter_of("logs"), view_of(app).typing, view_of(app).is_paused) == ("", "", True)

    drive(act, frames.healthy())


def test_what_is_typed_takes_the_place_of_the_old_filter_and_backspace_edits_it() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5", "slash", *"Iter", "enter", "slash")
        assert view_of(app).filter_of("logs") == "Iter", "it holds until something else is typed"
        await pilot.press("backspace", *"m")
        assert view_of(app).filter_of("logs") == "Item"
        await pilot.press("enter", "slash", *"loss")
        assert view_of(app).filter_of("logs") == "loss"

    drive(act, frames.healthy())


def test_a_pasted_filter_is_data() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.post_message(events.Paste("ignored"))
        await pilot.press("5", "slash")
        app.post_message(events.Paste("\x1b[2Jq[red]\nsecond"))
        await pilot.pause()
        assert view_of(app).filter_of("logs") == "[2Jq[red]"
        assert "[2Jq[red]" in screen_text(app)[-1]

    drive(act, frames.healthy())


def with_lines(frame: Frame, count: int) -> Frame:
    job = frame.derived.job
    assert job is not None
    more = tuple(replace(job.logs.lines[-1], text=f"new line {number}", line_no=None) for number in range(count))
    return replace(frame, derived=replace(frame.derived, job=replace(job, lines=(*job.logs.lines, *more)[-500:])))


def test_lines_that_are_read_stay_while_new_ones_come() -> None:
    frame = frames.healthy()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert feed.publish is not None
        await pilot.press("5", "F")
        held = screen_text(app)[3:-2]
        feed.publish(with_lines(frame, 7))
        await pilot.pause()
        rows = screen_text(app)
        assert rows[3:-2] == held
        assert "7 newer below" in rows[2]
        await pilot.press("F")
        rows = screen_text(app)
        assert "new line 6" in rows[-3]
        assert "following" in rows[2]
        feed.publish(with_lines(frame, 9))
        await pilot.pause()
        assert "new line 8" in screen_text(app)[-3]

    drive(act, frame, size=(100, 20))


def test_flagged_lines_are_visited_in_turn() -> None:
    frame = frames.hang()
    job = frame.derived.job
    assert job is not None
    flagged = {event.text for event in job.logs.events} & {line.text for line in job.logs.lines}
    assert flagged

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        seen = []
        for key in ("N", *"n" * len(flagged), "N"):
            await pilot.press(key)
            mark = view_of(app).state(LogsState).mark
            assert mark is not None
            seen.append(mark.text)
            assert any(mark.text[:30] in row for row in screen_text(app)[3:-2])
            assert f" of {len(flagged)}" in screen_text(app)[-1]
        assert set(seen) == flagged
        assert view_of(app).page == "logs"

    drive(act, frame, size=(100, 20))


def test_no_flagged_line_is_said() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("n")
        assert "no flagged line" in screen_text(app)[-1]
        await pilot.press("up")
        assert "no flagged line" not in screen_text(app)[-1]

    drive(act, frames.healthy())


def test_the_interval_goes_to_the_feed_and_into_the_header() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert "every 1 s" in screen_text(app)[1]
        await pilot.press("plus", "plus", "equals_sign", "plus", "plus", "plus")
        rows = screen_text(app)
        assert "every 60 s" in rows[1]
        assert "60 s is the longest interval" in rows[-1]
        await pilot.press(*["minus"] * 7)
        assert "every 0.2 s" in screen_text(app)[1]

    assert drive(act, frames.healthy()).intervals == [2, 5, 10, 30, 60, 30, 10, 5, 2, 1, 0.5, 0.2]


@pytest.mark.parametrize("key", ["r", "ctrl+l"])
def test_redraw_sends_every_cell(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("escape")
        monkeypatch.setattr(app, "_display", lambda _screen, update: sent.append(update))
        await pilot.press(key)
        await pilot.pause()

    drive(act, frames.healthy())
    assert any(isinstance(update, LayoutUpdate) for update in sent)


@pytest.mark.parametrize("page", ["stacks", "processes", "logs"])
def test_the_end_of_a_page_is_where_scrolling_stops(page: str) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        away, back = ("home", "pagedown") if page == "logs" else ("end", "pageup")
        await pilot.press({"stacks": "3", "processes": "9", "logs": "5"}[page], away)
        end = screen_text(app)
        await pilot.press(away, away)
        assert screen_text(app) == end
        await pilot.press(back)
        assert screen_text(app) != end

    drive(act, frames.hang(), size=(100, 16))


def test_logs_scroll_back_and_follow_again() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5", "up", "pageup")
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
        assert view_of(app).page == "ranks"

    assert drive(act, frames.healthy()).focused == [2]


def test_opening_stacks_or_flame_looks_closely_at_the_rank_that_tells_most() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("2")
        assert view_of(app).selected is None
        await pilot.press("f", "escape", "escape", "3")
        assert "Stack of rank 5" in "\n".join(line.text for line in picture(view_of(app), 120, 40))
        await pilot.press("5")
        assert view_of(app).selected is None, "nobody has chosen a rank: the log is that of all"

    assert drive(act, frames.hang()).focused[0] == 5
    assert drive(press("f"), frames.healthy()).focused == [0]


def press(*pressed: str) -> Act:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press(*pressed)

    return act


def test_the_conclusion_is_copied_and_shown_whole() -> None:
    copied: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.copy_to_clipboard = copied.append  # type: ignore[assignment, method-assign]
        await pilot.press("3", "y")
        reported = " ".join(" ".join(row.split()) for row in screen_text(app)[-2:])
        assert reported == f"sent to the terminal's clipboard: {copied[0]}"
        assert copied[0].endswith("rank 5 is in write_summary (metrics.py:77)")
        await pilot.press("1", "y", "escape")
        first, job, *evidence = copied[1].splitlines()
        assert first.startswith(f"critical: {frames.hang().verdict.text} (hang, ")
        assert (job.startswith("gpu-node-07, torchrun PID "), len(evidence)) == (True, 4)
        await pilot.press("Y", "escape")
        assert copied[2].startswith("gpu-node-07, PID ")
        assert f": {first[:160]}" in copied[2]
        assert "1 Overview" in screen_text(app)[-1]

    drive(act, frames.hang(), size=(80, 24))


def test_arrows_move_in_the_map_and_stay_at_its_edge() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert view_of(app).blamed == (261,)
        await pilot.press("2")
        for key, rank in (
            ("right", 262),
            ("down", 326),
            ("left", 325),
            ("up", 261),
            ("up", 197),
            ("up", 133),
            ("up", 69),
            ("up", 5),
            ("up", 5),
            ("greater_than_sign", 6),
            ("less_than_sign", 5),
        ):
            await pilot.press(key)
            assert view_of(app).selected == rank
        assert any("Rank 5  PID" in row for row in screen_text(app))

    drive(act, crowds.sick(512), size=(80, 24))


def test_a_blamed_rank_at_the_edge_of_the_map_stays_as_a_selected_one_does() -> None:
    view = View(frame=frames.hang())
    assert view.blamed == (5,)
    assert ranks.moved(view, 0, -1, 8).selected is None
    assert ranks.moved(view, 1, 0, 8).selected == 6


def test_order_of_the_ranks_goes_round() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("o")
        assert view_of(app).state(RanksState).order == "rank"
        await pilot.press("2")
        for order in ("state", "step", "wait", "s/step", "cpu", "mem", "rank"):
            await pilot.press("o")
            assert view_of(app).state(RanksState).order == order
        await pilot.press("o", "greater_than_sign")
        view = view_of(app)
        shown = [rank.rank for rank in ordered(view)]
        assert view.selected == shown[shown.index(view.blamed[0]) + 1]

    drive(act, crowds.sick(64))


def test_sideways_on_the_stacks_page_leads_from_group_to_group() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("3")
        for key, rank in (("left", 42), ("left", 17), ("left", 0), ("left", 0), ("right", 17), ("down", 18)):
            await pilot.press(key)
            assert view_of(app).selected == rank

    drive(act, crowds.sick(64))


def test_the_flame_zooms_with_enter_and_back_with_escape() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f", "down", "right", "enter")
        assert any("zoomed into forward" in row for row in screen_text(app))
        await pilot.press("escape")
        assert not any("zoomed into" in row for row in screen_text(app))
        assert any("30% (36 of 120 samples) in model.py:190" in row for row in screen_text(app))
        await pilot.press("escape", "escape")
        assert (view_of(app).state(FlameState).way, view_of(app).selected, app.is_running) == ((), None, True)

    drive(act, frames.healthy())


def test_a_click_on_the_map_selects_a_rank_and_between_cells_none() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("2")
        for offset, rank in (((7, 1), 0), ((6 + 3 * 8 + 2, 2), 40), ((6 + 3 * 8, 2), 40), ((3, 3), 40), ((7, 16), 480)):
            assert await pilot.click("#rank-map", offset=offset)
            assert view_of(app).selected == rank, offset

    drive(act, crowds.sick(512), size=(200, 60))


def test_quit_stops_the_feed_once_and_keeps_the_last_frame() -> None:
    frame = frames.healthy()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("q")
        assert app.last_frame is frame

    assert drive(act, frame).stopped == 1


def test_before_the_first_frame_every_key_is_harmless() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press(
            "down",
            "right",
            "less_than_sign",
            "y",
            "o",
            "f",
            "s",
            "enter",
            "p",
            "escape",
            "tab",
            "3",
            "pagedown",
            "home",
            "end",
            "n",
            "slash",
            "F",
            "plus",
            "r",
        )
        assert any("the first look" in row for row in screen_text(app))

    drive(act)


@pytest.mark.parametrize("theme", ["hwtop", "textual-light", "16-colours", "no-colour"])
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

"""The processes page, and what a person may do to the job from it: every key, and the whole way to a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from hwtop.collectors.process.files import read_stat
from hwtop.collectors.process.signals import send
from hwtop.model.frame import Frame
from hwtop.model.member import JobProcess
from hwtop.model.plan import FlightTarget, Request, UserFocus
from hwtop.model.process import OpenFile, ProcessDetail
from hwtop.model.signal import SignalAnswer, SignalOrder
from hwtop.model.stack import DeepDump, Refusal
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.screens.dialog import ConfirmScreen, MenuScreen, TextScreen
from hwtop.ui.screens.monitor import MonitorScreen
from tests import frames
from tests.parts import replace
from tests.ui.test_app import screen_text, view_of

LAUNCHER, RANK_0, RANK_1 = frames.LAUNCHER, frames.pid_of(0), frames.pid_of(1)


class Feed:
    """Remembers what the screen wished for, and publishes what a test gives it."""

    def __init__(self) -> None:
        self.wishes: list[UserFocus] = []
        self.publish: Publish = lambda _: None

    def start(self, publish: Publish) -> Feed:
        self.publish = publish
        return self

    def attach(self, pid: int | None) -> None: ...

    def look(self, user_focus: UserFocus) -> None:
        self.wishes.append(user_focus)

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


class Post:
    """Takes orders instead of the kernel."""

    def __init__(self, error: str | None = None) -> None:
        self.orders: list[SignalOrder] = []
        self.error = error

    def __call__(self, order: SignalOrder) -> tuple[SignalAnswer, ...]:
        self.orders.append(order)
        advice = "sudo kill -TERM 1" if self.error else None
        return tuple(SignalAnswer(pid=each.pid, error=self.error, advice=advice) for each in order.targets)


def frame(**fields: Any) -> Frame:
    """A healthy job whose processes tell which signals they handle."""
    base = frames.healthy()
    job = base.derived.job
    assert job is not None
    ints = 1 << (signal.SIGINT - 1)
    rows = tuple(replace(item, start_ticks=item.pid, caught_signals=ints, ignored_signals=0) for item in job.processes)
    return with_job(base, processes=rows, **fields)


def with_job(base: Frame, **fields: Any) -> Frame:
    assert base.derived.job is not None
    return replace(base, derived=replace(base.derived, job=replace(base.derived.job, **fields)))


Act = Callable[[HwtopApp, "Pilot[None]", Feed], Awaitable[None]]


def drive(act: Act, given: Frame, *, size: tuple[int, int] = (120, 40), **options: Any) -> Feed:
    import asyncio

    feed = Feed()

    async def run() -> None:
        app = HwtopApp(feed.start, options=ScreenOptions(**options))
        async with app.run_test(size=size) as pilot:
            feed.publish(given)
            await pilot.pause()
            await act(app, pilot, feed)

    asyncio.run(run())
    return feed


def text_of(app: HwtopApp) -> str:
    return "\n".join(screen_text(app))


def cursor_row(app: HwtopApp) -> str:
    return next(row for row in screen_text(app) if "▸" in row)


def test_the_cursor_selects_the_rank_of_its_process() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9")
        assert str(LAUNCHER) in cursor_row(app)
        await pilot.press("down")
        assert str(RANK_0) in cursor_row(app)
        assert view_of(app).selected == 0
        await pilot.press("down")
        assert "loader-worker" in cursor_row(app)
        assert view_of(app).selected == 0
        await pilot.press("greater_than_sign")
        assert str(RANK_1) in cursor_row(app)
        await pilot.press("home", "up")
        assert str(LAUNCHER) in cursor_row(app)
        assert view_of(app).selected is None
        await pilot.press("end", "down", "pagedown")
        assert view_of(app).selected == 7
        await pilot.press("enter")
        assert view_of(app).page == "stacks"

    drive(act, frame())


def test_a_rank_selected_elsewhere_is_under_the_cursor_and_stays_as_processes_come_and_go() -> None:
    given = frame()
    job = given.derived.job
    assert job is not None

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("greater_than_sign", "greater_than_sign", "9", "down")
        pid = view_of(app).state(ProcessesState).pid
        assert pid is not None
        feed.publish(with_job(given, processes=job.processes[3:]))
        await pilot.pause()
        assert str(pid) in cursor_row(app)
        feed.publish(with_job(given, processes=tuple(item for item in job.processes if item.pid != pid)))
        await pilot.pause()
        assert str(RANK_1) in cursor_row(app)

    drive(act, given)


def test_a_click_chooses_a_process() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9")
        row = next(y for y, text in enumerate(screen_text(app)) if str(RANK_1) in text)
        top = app.screen.query_one("#processes").region.y
        assert await pilot.click("#processes", offset=(20, row - top))
        assert str(RANK_1) in cursor_row(app)
        assert view_of(app).selected == 1
        assert await pilot.click("#processes", offset=(20, 33))
        assert view_of(app).selected == 1

    drive(act, frame())


DETAIL = ProcessDetail(
    pid=RANK_0,
    at_s=1.0,
    env=(("HF_TOKEN", "****"), ("HOME", "/home/ada"), ("NCCL_DEBUG", "INFO"), ("ODD", "a\x1b[2Jb\nc"), ("RANK", "0")),
    files=(
        OpenFile(fd=0, target="/dev/null", mode="r"),
        OpenFile(
            fd=1,
            target="/scratch/runs/42/logs/rank_0.log",
            is_writable=True,
            mode="w",
            size_bytes=900,
            offset_bytes=900,
        ),
        OpenFile(fd=9, target="/data/train.bin", mode="r", size_bytes=3 << 30, offset_bytes=1 << 30),
        OpenFile(fd=10, target="socket:[77]", is_writable=True, mode="rw"),
    ),
    file_count=900,
    limits={"Max open files": "1024 files", "Max core file size": "0 bytes"},
)


def test_environment() -> None:
    given = frame()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "e")
        assert "reading" in text_of(app)
        feed.publish(with_job(given, detail=replace(DETAIL, pid=RANK_1)))
        await pilot.pause()
        assert "reading" in text_of(app)  # that was another process
        feed.publish(with_job(given, detail=DETAIL))
        await pilot.pause()
        text = text_of(app)
        assert f"Environment at start of rank 0 · PID {RANK_0}" in text
        order = [text.index(word) for word in ("HF_TOKEN", "NCCL_DEBUG", "RANK ", "Everything else", "HOME", "ODD")]
        assert order == sorted(order)
        assert "a␛[2Jb␊c" in text
        await pilot.press("slash", *"nccl", "enter")
        text = text_of(app)
        assert "NCCL_DEBUG" in text
        assert "/home/ada" not in text
        await pilot.press("y")
        assert app.clipboard == "NCCL_DEBUG=INFO"
        await pilot.press("escape")
        assert "/home/ada" in text_of(app)
        await pilot.press("escape")
        assert "╭─ Processes " in text_of(app)

    feed = drive(act, given)
    assert [user_focus.detail_pid for user_focus in feed.wishes] == [None, RANK_0, None]


def test_environment_of_the_next_rank_and_of_another_page() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("greater_than_sign", "e")
        assert view_of(app).page == "processes"
        assert feed.wishes[-1] == UserFocus(rank=0, detail_pid=RANK_0)
        await pilot.press("greater_than_sign")
        assert feed.wishes[-1] == UserFocus(rank=1, detail_pid=RANK_1)
        await pilot.press("1")
        assert feed.wishes[-1] == UserFocus(rank=1)

    drive(act, frame())


def test_the_environment_of_the_rank_that_another_page_shows() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("2", "e")
        shown = view_of(app).shown_rank
        assert shown is not None
        assert feed.wishes[-1] == UserFocus(rank=shown.rank, detail_pid=shown.pid)

    drive(act, frame())


def test_what_was_opened_from_another_page_closes_to_it() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("3", "e", "escape")
        assert view_of(app).page == "stacks"
        await pilot.press("9", "e", "escape")
        assert view_of(app).page == "processes", "it was opened here"

    drive(act, frame())


def test_open_files() -> None:
    given = with_job(frame(), detail=DETAIL)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "l")
        text = text_of(app)
        assert "▲ 900 of 1,024" in text
        assert "● followed /scratch/runs/42/logs/rank_0.log" in text
        assert "1.0G     3.0G  /data/train.bin" in text
        await pilot.press("slash", *"socket", "enter")
        assert "train.bin" not in text_of(app)
        await pilot.press("e")
        assert "HOME" in text_of(app)
        await pilot.press("l", "l")
        assert "╭─ Processes " in text_of(app)

    drive(act, given)


@pytest.mark.parametrize("size", [(60, 15), (120, 40)], ids=str)
def test_a_reason_where_it_cannot_be_read(size: tuple[int, int]) -> None:
    reason = "the process belongs to uid 7: run hwtop as that user or as root"
    blind = ProcessDetail(pid=RANK_0, at_s=1.0, missing={"env": reason, "files": reason})

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for key in ("e", "l"):
            await pilot.press("9", "down", key)
            assert "belongs to uid 7" in text_of(app)
            await pilot.press("escape", "up")

    drive(act, with_job(frame(), detail=blind), size=size)


def test_from_k_to_the_signal_takes_two_more_keys() -> None:
    post = Post()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "k")
        text = text_of(app)
        assert f"to rank 0 · PID {RANK_0}" in text
        assert "SIGUSR1  no handler: kills it" in text
        assert "SIGINT   same as Ctrl-C" in text
        await pilot.press("enter")
        assert isinstance(app.screen, ConfirmScreen)
        text = text_of(app)
        assert "torchrun terminates the other 7 ranks" in text
        assert "python train.py" in text
        assert "▸ No" in text
        await pilot.press("y")
        assert f"SIGTERM sent to PID {RANK_0}" in text_of(app)

    drive(act, frame(), send=post)
    assert [(order.signal, [each.pid for each in order.targets]) for order in post.orders] == [("SIGTERM", [RANK_0])]
    assert post.orders[0].targets[0].start_ticks == RANK_0


LEAVING = (
    ("k", "escape"),
    ("k", "q"),
    ("k", "k", "k"),
    ("k", "enter", "enter"),
    ("k", "enter", "escape"),
    ("k", "enter", "n"),
    ("k", "enter", "q"),
    ("k", "enter", "k", "x", "9", "tab", "shift+tab", "up", "enter"),
    ("f9", "end", "enter", "enter"),
    ("k", "y"),
)
"""What does not send a signal."""


@pytest.mark.slow
def test_everything_else_sends_nothing_and_stays() -> None:
    post = Post()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for keys in LEAVING:
            await pilot.press("9", "home", "down", *keys)
            assert app.is_running, keys
            await pilot.press("escape", "escape")
            assert isinstance(app.screen, MonitorScreen), keys
            assert post.orders == [], keys

    drive(act, frame(), send=post)


def test_other_targets_and_signals() -> None:
    post = Post()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("greater_than_sign", "k", "left")
        assert "to all " in text_of(app)
        await pilot.press("left")
        assert "the whole job, through its launcher" in text_of(app)
        await pilot.press("down", "enter", "down", "enter")
        await pilot.press("k", "left", "end", "enter", "y")
        await pilot.press("k", "up", "enter", "escape")  # behind the first one is the last
        await pilot.press("k", "up", "down", "enter", "y")

    given = frame()
    assert given.derived.job is not None
    everyone = [item.pid for item in given.derived.job.processes]
    drive(act, given, send=post)
    sent = [(order.signal, [each.pid for each in order.targets]) for order in post.orders]
    assert sent[:2] == [("SIGINT", [LAUNCHER]), ("SIGKILL", everyone)]
    assert [name for name, _ in sent[2:]] == ["SIGTERM"], "up and down again: the first one"


def test_a_refusal_is_told_with_what_would_do_it() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "k", "enter", "y")
        assert "no right: sudo kill -TERM 1" in text_of(app)

    drive(act, frame(), send=Post("no right"))


def test_readonly_has_no_menus_no_keys_and_no_lines_about_them() -> None:
    post = Post()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for page in ("1", "2", "3", "f", "5", "9"):
            await pilot.press(page, "k", "f9", "d", "enter", "y")
            assert isinstance(app.screen, MonitorScreen)
            text = text_of(app)
            assert "k signal" not in text
            assert "d deep look" not in text
        await pilot.press("question_mark")
        text = text_of(app)
        assert "F9" not in text
        assert "signal" not in text.lower()
        assert "deeper" not in text
        assert "Environment of the process" in text

    feed = drive(act, frame(), size=(200, 60), is_readonly=True, send=post)
    assert post.orders == []
    assert all(user_focus.request is None for user_focus in feed.wishes)


def test_nothing_to_signal() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("k")
        assert "nothing to signal" in text_of(app)
        await pilot.press("d")
        assert "nothing to inspect" in text_of(app)
        await pilot.press("9", "e", "l", "down", "up", "enter")
        assert isinstance(app.screen, MonitorScreen)

    drive(act, with_job(frame(), processes=(), ranks=()), send=Post())


def test_keys_do_no_harm_where_a_job_is_picked() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for key in ("k", "d", "e", "l"):
            await pilot.press(key)
            assert isinstance(app.screen, MonitorScreen), key

    drive(act, frames.picker(), send=Post())


def answered(given: Frame, **fields: Any) -> Frame:
    dump = DeepDump(
        **{"request": 1, "pid": RANK_0, "at_s": 1.0, "kind": "native", "text": "main ()\n  \x1bX\n", **fields}
    )
    return with_job(given, deep=(dump,))


def test_a_deep_look_is_confirmed_and_its_answer_opens() -> None:
    given = frame()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "d")
        assert "pystack is not installed" in text_of(app)
        await pilot.press("enter")
        assert "pauses all threads" in text_of(app)
        assert feed.wishes[-1].request is None
        await pilot.press("y")
        assert feed.wishes[-1].request == Request(number=1, kind="native", pid=RANK_0)
        assert f"reading PID {RANK_0}" in text_of(app)
        feed.publish(given)
        await pilot.pause()
        assert f"reading PID {RANK_0}" in text_of(app)
        feed.publish(answered(given))
        await pilot.pause()
        assert isinstance(app.screen, TextScreen)
        assert "main ()" in text_of(app)
        assert "␛X" in text_of(app)
        await pilot.press("y", "down", "end", "home", "right", "left", "pagedown")
        assert app.clipboard == "main ()\n  ␛X"
        await pilot.press("q")
        assert isinstance(app.screen, MonitorScreen)
        await pilot.press("d", "end", "enter")
        assert isinstance(app.screen, TextScreen)
        await pilot.press("escape", "d", "enter", "y")
        assert feed.wishes[-1].request == Request(number=2, kind="native", pid=RANK_0)

    drive(act, given)


def test_a_deep_look_that_was_not_confirmed() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for keys in (("escape",), ("enter", "enter"), ("enter", "n"), ("down", "enter")):
            await pilot.press("9", "home", "down", "d", *keys)
            assert all(user_focus.request is None for user_focus in feed.wishes), keys
            await pilot.press("escape", "escape")

    drive(act, frame())


def test_a_refused_deep_look_says_why() -> None:
    given = frame()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "d", "enter", "y")
        feed.publish(answered(given, text="", error="permission denied", advice="sudo -E hwtop 41000"))
        await pilot.pause()
        assert "▲ permission denied" in text_of(app)
        assert "→ sudo -E hwtop 41000" in text_of(app)

    drive(act, given)


def test_an_answer_does_not_push_itself_over_another_dialog() -> None:
    given = frame()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "d", "enter", "y", "k")
        feed.publish(answered(given))
        await pilot.pause()
        assert isinstance(app.screen, MenuScreen)
        await pilot.press("escape")
        assert "d lists it" in text_of(app)

    drive(act, given, send=Post())


def test_a_deep_look_that_is_never_answered() -> None:
    given = frame()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "d", "enter", "y")
        feed.publish(replace(given, derived=replace(given.derived, at_s=given.derived.at_s + 100)))
        await pilot.pause()
        assert "no answer" in text_of(app)

    drive(act, given)


def refused() -> Frame:
    """Stacks that root could read."""
    given = frame()
    why = "no permission to read the memory of the process"
    job = given.derived.job
    assert job is not None
    ranks = tuple(replace(rank, stack=None) for rank in job.ranks)
    return with_job(given, ranks=ranks, refusals=(NEEDS_CONSENT,), stack_errors=((why, "sudo hwtop"),))


NEEDS_CONSENT = Refusal(rung="sudo", reason="not used without --sudo", needs_consent=True)
OFFER = "d asks whether to read them as root with sudo -n"


def test_sudo_is_allowed_by_a_confirmed_key_only() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        assert OFFER in text_of(app)
        await pilot.press("3")
        assert OFFER in text_of(app)
        await pilot.press("d", "end", "enter")
        assert isinstance(app.screen, ConfirmScreen)
        assert "runs py-spy as root with sudo -n" in text_of(app)
        assert all(user_focus.request is None for user_focus in feed.wishes)
        await pilot.press("y")
        assert feed.wishes[-1].request == Request(number=1, kind="sudo", pid=RANK_0)
        assert OFFER not in text_of(app)
        await pilot.press("d", "end")
        assert "as root" not in text_of(app)

    drive(act, refused())


@pytest.mark.parametrize("no", ["n", "escape", "enter"])
def test_sudo_that_was_refused_once_is_not_asked_for_again(no: str) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("3", "d", "escape")
        assert OFFER in text_of(app), "to leave the menu is no answer"
        await pilot.press("d", "end", "enter", no)
        for page in ("1", "3", "f", "9"):
            await pilot.press(page)
            assert OFFER not in text_of(app)
        await pilot.press("d", "end")
        assert "as root" not in text_of(app)
        assert all(user_focus.request is None for user_focus in feed.wishes)

    drive(act, refused())


def test_sudo_is_not_offered_where_it_is_known_not_to_help() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for page in ("1", "3", "f"):
            await pilot.press(page)
            assert OFFER not in text_of(app)

    drive(act, refused(), is_readonly=True)
    drive(act, with_job(refused(), refusals=(replace(NEEDS_CONSENT, needs_consent=False),)))


def test_flight_recorder_dump_through_the_pipe() -> None:
    given = frame(flight_targets=(FlightTarget(rank=0, pid=RANK_0, pipe="/tmp/fr_0.pipe"),))

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("3", "d", "end", "enter")
        assert "Flight Recorder" in text_of(app)
        await pilot.press("y")
        assert feed.wishes[-1].request == Request(number=1, kind="flight-pipe", pid=RANK_0)
        assert "stacks page" in text_of(app)

    drive(act, given)


CHILD = """
import signal, sys
signal.signal(signal.SIGUSR2, lambda *_: sys.exit(4))
print(flush=True)
while True:
    signal.pause()
"""


def test_a_real_process_gets_what_was_confirmed() -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        row: JobProcess = replace(
            frame().derived.job.processes[1],  # type: ignore[union-attr]
            pid=child.pid,
            start_ticks=read_stat(f"/proc/{child.pid}").start_ticks,
            caught_signals=1 << (signal.SIGUSR2 - 1),
        )

        async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
            await pilot.press("9", "k", *["down"] * 5)
            assert "SIGUSR2  its own handler runs" in text_of(app)
            await pilot.press("enter")
            os.kill(child.pid, 0)
            await pilot.press("y")

        drive(act, with_job(frame(), processes=(row,)), send=send)
        assert child.wait(60) == 4


@pytest.mark.parametrize("size", [(20, 8), (60, 15), (80, 24)], ids=str)
def test_menus_fit_small_terminals(size: tuple[int, int]) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        for key in ("k", "d"):
            await pilot.press("9", "down", key)
            for _ in range(9):
                assert all(len(row) == size[0] for row in screen_text(app))
                assert "▸" in text_of(app)
                await pilot.press("down")
            await pilot.press("escape")

    drive(act, frame(), size=size, send=Post())


def test_dialogs_in_ascii() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "down", "k")
        assert text_of(app).isascii()
        await pilot.press("enter")
        assert text_of(app).isascii()

    drive(act, frame(), send=Post(), is_ascii=True)

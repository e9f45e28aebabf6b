"""Between the screen and a terminal that is slow or asleep: never a wait, never a backlog, in the end the newest picture."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.app import App
from textual.drivers._writer_thread import WriterThread

from hwtop.ui.messages import LineFree
from hwtop.ui.terminal import driver
from hwtop.ui.terminal.driver import DiffDriver, Outlet

WIDTH = 30_000
"""Cells; more bytes than a pseudo-terminal takes while nobody reads."""


class Line:
    """A driver at one end of a pseudo-terminal. The test is the terminal at the other, and the screen."""

    def __init__(self) -> None:
        self.ours, theirs = pty.openpty()
        self.reported: list[object] = []
        app: App[Any] = App()
        app.post_message = self._tell  # type: ignore[method-assign]
        self.driver = DiffDriver(app)
        self.driver._file = Outlet(theirs, self.driver._flushed)  # type: ignore[assignment]
        self.driver._writer_thread = WriterThread(self.driver._file)  # type: ignore[arg-type]
        self.driver._writer_thread.start()

    def _tell(self, message: object) -> bool:
        self.reported.append(message)
        return True

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def draw(self, letter: str) -> None:
        self.driver.write(f"\x1b[1;1H{letter * WIDTH}")

    async def read(self, until: str) -> str:
        """What comes, up to this."""
        text = ""
        while until not in text:
            text += (await asyncio.to_thread(os.read, self.ours, 1 << 16)).decode()
        return text

    async def quiet(self) -> None:
        """The line is free."""
        deadline = time.monotonic() + 20
        while self.driver._waiting:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.005)

    async def wait_until_told(self) -> None:
        await self.quiet()
        assert isinstance(self.reported.pop(), LineFree)
        assert self.reported == []


OnALine = Callable[[Callable[[Line], Awaitable[None]]], None]


@pytest.fixture
def on_a_line() -> Iterator[OnALine]:
    """Runs a coroutine with a line."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}

    async def begin(act: Callable[[Line], Awaitable[None]]) -> None:
        line = Line()
        await act(line)
        os.close(line.ours)

    yield lambda act: asyncio.run(begin(act))
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_terminal_that_sleeps_stops_nothing_and_gets_the_newest_picture(on_a_line: OnALine) -> None:
    async def act(line: Line) -> None:
        for letter in "abcdefghij" * 100:
            line.draw(letter)
        assert not line.reported
        first = ""
        while first.count("a") < WIDTH:
            first += await line.read("a")
        assert not set(first) & set("bcdefghij")
        await line.wait_until_told()
        line.draw("z")
        assert "a" not in await line.read("z")

    on_a_line(act)


def test_while_a_terminal_sleeps_few_bells_wait_and_the_screen_can_be_left(
    on_a_line: OnALine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_LEAVE_S", 0.05)

    async def act(line: Line) -> None:
        line.draw("a")
        for _ in range(100):
            line.driver.write("\a")
        line.driver.write("\x1b[?1049l")
        line.driver.close()
        assert (await line.read("\x1b[?1049l")).count("\a") < 10

    on_a_line(act)


def test_a_picture_is_synchronized_and_one_that_changes_nothing_sends_nothing(on_a_line: OnALine) -> None:
    async def act(line: Line) -> None:
        for what in (SYNC_START, "\x1b[1;1Hx", SYNC_END):
            line.driver.write(what)
        assert await line.read(SYNC_END) == f"{SYNC_START}\x1b[1;1H\x1b[0mx{SYNC_END}"
        for what in (SYNC_START, "\x1b[1;1Hx", SYNC_END, "\a", "\x1b[?1004l"):
            line.driver.write(what)
        assert await line.read("\x1b[?1004l") == "\a\x1b[?1004l"

    on_a_line(act)


def test_a_terminal_that_has_become_smaller_gets_no_row_that_would_wrap(on_a_line: OnALine) -> None:
    async def act(line: Line) -> None:
        line.resize(10, 40)
        line.driver.write("\x1b[1;1H" + "a" * 40)
        assert (await line.read("a" * 40)).count("a") == 40
        await line.quiet()
        line.resize(5, 20)
        line.driver.write("\x1b[1;11H" + "b" * 30 + "\x1b[8;1H" + "c" * 40)
        assert (await line.read("b" * 10)).count("b") == 10
        await line.quiet()
        line.driver.write("\x1b[1;1H" + "a" * 20 + "\x1b[5;1Hd")
        assert "a" * 20 in await line.read("d"), "the terminal may have moved what was there"

    on_a_line(act)


def test_after_what_does_more_than_draw_all_is_sent(on_a_line: OnALine) -> None:
    async def act(line: Line) -> None:
        for _ in range(2):
            line.driver.write("\x1b[1;1Hx")
            assert "x" in await line.read("x")
            await line.quiet()
            line.driver.write("\x1b[2J")
            await line.read("\x1b[2J")
            await line.quiet()

    on_a_line(act)

"""The way to the terminal: one picture at a time, no faster than a slow line carries them.

The toolkit queues whatever it draws and waits where the queue is full. A terminal that takes nothing (a laptop asleep at the
other end of ssh) would so stop the screen and pile up frames, and keys held down would fill the buffers of a slow line with
pictures of the past. Here a picture that cannot go at once is not drawn; as soon as the line is free, the newest one is.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from io import TextIOWrapper
from typing import Protocol, cast, runtime_checkable

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from hwtop.ui.messages import LineFree
from hwtop.ui.terminal.diff_writer import DiffWriter, Piece, pieces
from hwtop.ui.terminal.key_reader import WakingEvent, read_keys
from hwtop.ui.widgets.text import cropped

LINE_BYTES_S = 125_000
"""1 Mbit/s. So long as pictures take on such a line the next one waits, also where the line is faster."""
_MOST_WAITING = 8
"""Writes that may wait behind a terminal that takes nothing; the toolkit's queue holds 30, and some are needed to leave."""
_LEAVE_S = 2.0
"""So long is waited for a terminal that takes nothing when the screen closes."""


class Outlet:
    """The file that the toolkit's writer thread writes to. Tells `flushed` how many writes and bytes the terminal has taken."""

    def __init__(self, descriptor: int, flushed: Callable[[int, int], None]) -> None:
        self._descriptor = descriptor
        self._flushed = flushed
        self._texts: list[str] = []

    def fileno(self) -> int:
        """Where it goes."""
        return self._descriptor

    def write(self, text: str) -> None:
        """Keep `text` for the next flush."""
        self._texts.append(text)

    def flush(self) -> None:
        """Send what was written; waits for the terminal. One that is gone takes everything."""
        texts, self._texts = self._texts, []
        data = memoryview("".join(texts).encode(errors="replace"))
        rest = data
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        self._flushed(len(texts), len(data))


@runtime_checkable
class DrawsPieces(Protocol):
    """A driver that draws cells without the toolkit working out sequences for them."""

    def draw(self, drawn: list[Piece]) -> None:
        """Show these; all other cells stay."""


class DiffDriver(LinuxDriver):
    """The toolkit's driver, with fewer bytes and without a backlog."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._diff = DiffWriter()
        self._closing = self.exit_event = WakingEvent()
        self._can_synchronize = False
        self._waiting = 0
        self._is_left_out = False
        self._drawn_size: tuple[int, int] | None = None
        if self._file is not None:
            self._file = cast("TextIOWrapper", Outlet(self._file.fileno(), self._flushed))

    def run_input_thread(self) -> None:
        """Read keys in a thread that sleeps while nobody types."""
        read_keys(self.fileno, self._closing, self.process_message)

    def write(self, data: str) -> None:
        """Send `data`. Never waits: a picture is left out while the line is not free."""
        if data in (SYNC_START, SYNC_END):  # `draw` sends them with a picture
            self._can_synchronize = True
            return
        if (drawn := pieces(data)) is not None:
            self.draw(drawn)
            return
        self._diff.forget()
        if self._waiting < _MOST_WAITING or not data.startswith(("\a", "\x1b]")):
            self._send(data)

    def draw(self, drawn: list[Piece]) -> None:
        """Send a picture, in one go where the terminal can, or leave it out while the line is not free."""
        if self._waiting:
            self._is_left_out = True
        elif text := self._diff(self._inside(drawn)):
            self._send(f"{SYNC_START}{text}{SYNC_END}" if self._can_synchronize else text)

    def _inside(self, drawn: list[Piece]) -> list[Piece]:
        """What of it the terminal has room for. One that has just become smaller would wrap a row of the old picture into the next."""
        size = self._columns_and_rows()
        if size != self._drawn_size:
            self._drawn_size = size
            self.forget()
        if size is None:
            return drawn
        columns, rows = size
        return [
            (row, column, cropped(text, columns - column + 1), style)
            for row, column, text, style in drawn
            if row <= rows and column <= columns
        ]

    def _columns_and_rows(self) -> tuple[int, int] | None:
        """None where the terminal does not say."""
        if self._file is None:
            return None
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(self._file.fileno())
            return (columns, rows) if columns > 0 and rows > 0 else None
        return None

    def forget(self) -> None:
        """Something else may have written to the terminal: send all cells from now on."""
        self._diff.forget()

    def stop_application_mode(self) -> None:
        """Give the terminal back, empty where it has one screen only, as the Linux console does."""
        self.write("\x1b[0m\x1b[2J\x1b[H")
        super().stop_application_mode()

    def close(self) -> None:
        """Let the rest go out, but do not wait for a terminal that takes nothing."""
        closing = threading.Thread(target=super().close, name="hwtop-closing", daemon=True)
        closing.start()
        closing.join(_LEAVE_S)

    def _send(self, text: str) -> None:
        self._waiting += 1
        super().write(text)

    def _flushed(self, count: int, size: int) -> None:
        """In the writer's thread: on with it in the screen's, when a slow line has taken as much."""
        with contextlib.suppress(RuntimeError):  # the screen has closed
            self._loop.call_soon_threadsafe(self._loop.call_later, size / LINE_BYTES_S, self._gone, count)

    def _gone(self, count: int) -> None:
        self._waiting -= count
        if self._is_left_out and not self._waiting:
            self._is_left_out = False
            self._app.post_message(LineFree())

"""Terminals that are not as one would like them: it works, or one line says what is wrong and what mends it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from fcntl import ioctl
from types import TracebackType

import pytest

from tests.terminal.tmux import REPO

pytestmark = pytest.mark.real

ANSWER = b"\x1b[?62;22c"
"""What every terminal answers when it is asked what it is."""
CLEAN = ("TERM", "COLORTERM", "COLORFGBG", "LANG", "LC_ALL", "LC_CTYPE", "TMUX", "NO_COLOR", "COLUMNS", "LINES")
UTF8 = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


class Terminal:
    """A bare line with hwtop at its other end. Keeps what comes, answers questions, can fall asleep."""

    def __init__(self, pid: int, environ: Mapping[str, str], size: tuple[int, int] = (100, 30)) -> None:
        self.text, self._is_answered = "", False
        self._line, theirs = pty.openpty()
        self.resize(*size)
        usual = {name: value for name, value in os.environ.items() if name not in CLEAN}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hwtop", str(pid)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**usual, "PYTHONPATH": str(REPO), **environ},
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def resize(self, width: int, height: int) -> None:
        """Of this many cells and rows from now on."""
        ioctl(self._line, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def hit(self, keys: str) -> None:
        """Hit these keys."""
        os.write(self._line, keys.encode())

    def wait_for(self, regex: str, timeout_s: float = 60.0) -> None:
        """Until this has come."""
        deadline = time.monotonic() + timeout_s
        while not re.search(regex, self.text):
            assert time.monotonic() < deadline, (regex, self.text[-3000:])
            self._read()

    def code(self, timeout_s: float = 60.0) -> int:
        """What hwtop exits with; reads on meanwhile."""
        deadline = time.monotonic() + timeout_s
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.text[-3000:]
            self._read()
        while self._read():
            pass
        return self.process.returncode

    def _read(self) -> bool:
        if not select.select([self._line], [], [], 0.1)[0]:
            return False
        try:
            self.text += os.read(self._line, 1 << 16).decode(errors="replace")
        except OSError:  # hwtop has closed its end
            return False
        if "\x1b[c" in self.text and not self._is_answered:
            self._is_answered = True
            os.write(self._line, ANSWER)
        return True

    def __enter__(self) -> Terminal:  # noqa: PYI034  # not made to be subclassed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._line)


@pytest.fixture(scope="module")
def sleeper() -> Iterator[int]:
    """PID of a process to watch."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process.pid
    process.kill()
    process.wait()


def drawn(terminal: Terminal) -> str:
    """All text since the screen was opened, without sequences."""
    return re.sub(r"\x1b\[[?>]?[\d;]*\$?[A-Za-z]", " ", terminal.text.partition("\x1b[?1049h")[2])


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}])
def test_without_a_known_terminal_it_is_one_line_and_exit_2(environ: dict[str, str], sleeper: int) -> None:
    with Terminal(sleeper, {**environ, "LANG": "C.UTF-8"}) as terminal:
        assert terminal.code() == 2
        assert terminal.text.startswith("hwtop: TERM is ")
        assert "export TERM=xterm-256color" in terminal.text
        assert terminal.text.count("\n") == 1


def test_the_linux_console_gets_ascii_in_sixteen_colours_and_is_told(sleeper: int) -> None:
    with Terminal(sleeper, {"TERM": "linux", "LANG": "C.UTF-8"}) as terminal:
        terminal.wait_for("Findings")
        terminal.wait_for("few")
        terminal.hit("q")
        assert terminal.code() == 0
        before, _, after = terminal.text.partition("\x1b[2J\x1b[H")  # it has one screen only
        assert "Findings" in before and "Findings" not in after and "hwtop: " in after
        screen = drawn(terminal)
        assert screen.isascii(), re.findall(r"[^\x00-\x7f]", screen)
        assert not re.search(r"[34]8;[25];", terminal.text)


def test_without_utf8_and_without_a_size_it_starts(sleeper: int) -> None:
    with Terminal(sleeper, {"TERM": "vt100", "LC_ALL": "C"}, size=(0, 0)) as terminal:
        terminal.wait_for("Findings")
        terminal.wait_for("locale")
        terminal.hit("q")
        assert terminal.code() == 0
        assert drawn(terminal).isascii()


def test_a_light_ground_gets_the_light_theme(sleeper: int) -> None:
    with Terminal(sleeper, {**UTF8, "COLORTERM": "truecolor", "COLORFGBG": "0;15"}) as terminal:
        terminal.wait_for(r"48;2;248;249;251.*Findings|Findings.*48;2;248;249;251")


def test_a_terminal_that_sleeps_does_not_keep_it_from_being_ended(sleeper: int) -> None:
    with Terminal(sleeper, UTF8) as terminal:
        terminal.wait_for("Findings")
        for _ in range(12):  # more than the line takes unread
            terminal.hit("\t")
            time.sleep(0.2)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(timeout=60) == 0

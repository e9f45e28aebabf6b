"""A real terminal that a test can read: a shell in a tmux server of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from tests.training import raw_environment

REPO = Path(__file__).parents[2]
PROMPT = "prompt>"
MARK = "HWTOP_TEST_TERMINAL"
POLL_S = 0.1
DEADLINE_S = 60.0
"""Long enough for a machine that is busy with something else: a wait ends as soon as it may."""
_SETTINGS = """
set -g default-terminal "tmux-256color"
set -g status off
set -s escape-time 0
set -g remain-on-exit on
"""


def hwtop(*arguments: object) -> str:
    """The command line that runs this checkout's hwtop."""
    return " ".join([sys.executable, "-m", "hwtop", *map(str, arguments)])


class Tmux:
    """A shell of `width` x `height` characters. Leaving the context ends it and everything that runs in it.

    Every wait polls with a deadline and fails with what the screen shows instead.
    """

    def __init__(self, folder: Path, width: int = 120, height: int = 40, env: Mapping[str, str] | None = None) -> None:
        """Start the shell.

        Args:
            folder: where the server's settings are written.
            width: in characters.
            height: in rows.
            env: the environment; by default that of this process.
        """
        self._calls = 0
        self._socket = f"hwtop-test-{uuid.uuid4().hex[:12]}"
        settings = folder / "tmux.conf"
        settings.write_text(_SETTINGS)
        start_up = folder / "shrc"
        start_up.write_text(f"PS1='{PROMPT} '\n")
        environment = {
            **(os.environ if env is None else env),
            "ENV": str(start_up),
            "PYTHONPATH": str(REPO),
            MARK: self._socket,
        }
        for name in ("TMUX", "NO_COLOR", "COLUMNS", "LINES"):
            environment.pop(name, None)
        size = ["-x", str(width), "-y", str(height)]
        subprocess.run(
            ["tmux", "-L", self._socket, "-f", str(settings), "new-session", "-d", *size, "-s", "s", "sh"],
            env=environment,
            cwd=folder,
            check=True,
        )
        self._server_pid = int(self._tmux("display-message", "-p", "#{pid}"))
        try:
            self.wait_for(PROMPT)
        except AssertionError:
            self.kill()
            raise

    def run(self, command: str) -> None:
        """Type a command line and Enter."""
        self._tmux("send-keys", "-t", "s", "-l", command)
        self._tmux("send-keys", "-t", "s", "Enter")

    def answer(self, command: str) -> str:
        """What the command prints on an empty screen, read when the shell asks for more.

        Its end is marked with what stands neither in the line that is typed nor on the screen of an earlier call: the line may
        be typed before the shell is ready, and the screen still be that of before.
        """
        self._calls += 1
        mark = f"said {40 + self._calls}"
        self.run(f"clear; {command}; echo said $((40 + {self._calls}))")
        return self.wait_for(rf"^{mark}\n{PROMPT}").partition(f"\n{mark}\n")[0]

    def send(self, *keys: str) -> None:
        """Press keys, by tmux's names: q, F2, Enter, C-c."""
        self._tmux("send-keys", "-t", "s", *keys)

    def resize(self, width: int, height: int) -> None:
        """Make the terminal another size. tmux tells its programs up to a quarter of a second later."""
        self._tmux("resize-window", "-t", "s", "-x", str(width), "-y", str(height))
        self.wait_until(lambda _: self._told_size() == (width, height), f"programs told of {width}x{height}")

    def _told_size(self) -> tuple[int, int]:
        tty = os.open(self._tmux("display-message", "-p", "-t", "s", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
        try:
            columns, rows = os.get_terminal_size(tty)
            return columns, rows
        finally:
            os.close(tty)

    def screen(self) -> str:
        """What is on the screen, row by row."""
        return self._tmux("capture-pane", "-p", "-t", "s")

    def is_alternate(self) -> bool:
        """Whether a program draws on the alternate screen now."""
        return self._tmux("display-message", "-p", "-t", "s", "#{alternate_on}").strip() == "1"

    def flags(self) -> str:
        """What programs have switched on in the terminal: the cursor, the mouse."""
        return self._tmux("display-message", "-p", "-t", "s", "cursor #{cursor_flag} mouse #{mouse_any_flag}").strip()

    def buffer(self) -> str:
        """What `prefix ]` would paste; "" before anything was copied."""
        return self._tmux("show-buffer") if self._tmux("list-buffers") else ""

    def pids(self) -> set[int]:
        """The shell and every process that was started from it, directly or not, and still runs."""
        mark = self._socket.encode()
        every = map(int, filter(str.isdigit, os.listdir("/proc")))
        return {pid for pid in every if mark in raw_environment(pid) and pid != self._server_pid}

    def pane_pid(self) -> int:
        """PID of the shell."""
        return int(self._tmux("display-message", "-p", "-t", "s", "#{pane_pid}"))

    def wait_for(self, regex: str, timeout_s: float = DEADLINE_S) -> str:
        """The screen, once the expression matches somewhere on it (^ and $ at its rows)."""
        return self.wait_until(lambda screen: re.search(regex, screen, re.MULTILINE), f"{regex!r}", timeout_s)

    def wait_until(self, is_right: Callable[[str], object], what: str, timeout_s: float = DEADLINE_S) -> str:
        """The screen, once `is_right` says yes to it.

        Raises:
            AssertionError: it did not within `timeout_s`; shows the last screen.
        """
        deadline = time.monotonic() + timeout_s
        while not is_right(screen := self.screen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what} within {timeout_s:.0f} s on the screen:\n{screen}")
            time.sleep(POLL_S)
        return screen

    def kill(self) -> None:
        """Close the terminal: what runs in it gets SIGHUP. Does nothing the second time."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True, check=False)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._socket, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout

    def __enter__(self) -> Tmux:  # noqa: PYI034  # not made to be subclassed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

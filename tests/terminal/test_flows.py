"""The ways through hwtop in a real terminal: from the first start to the prompt, which is as it was."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hwtop.ui.pages.layout import COMPACT_BELOW
from tests.terminal.conftest import Open, Start, wait_for_ticks
from tests.terminal.test_target import settings
from tests.terminal.tmux import PROMPT, Tmux, hwtop

pytestmark = pytest.mark.real

LAST_WORDS = r"^hwtop: \S.*"
"""The verdict, in the scrollback."""


def open_new(open_terminal: Open, folder: Path, *size: int) -> Tmux:
    """A terminal of a person who has never used hwtop."""
    return open_terminal(*size, env={**os.environ, "XDG_STATE_HOME": str(folder / "state")})


def assert_as_before(terminal: Tmux, before: tuple[str, str]) -> None:
    """The normal screen with a cursor, no mouse, the line settings of the shell."""
    terminal.wait_until(lambda _: not terminal.is_alternate(), "normal screen")
    terminal.wait_for(LAST_WORDS)
    terminal.wait_for(rf"^{PROMPT}$")
    assert (settings(terminal), terminal.flags()) == before


def test_from_the_first_start_to_the_end(open_terminal: Open, start: Start, tmp_path: Path) -> None:
    job = start()
    terminal = open_new(open_terminal, tmp_path, 80, 24)
    before = settings(terminal), terminal.flags()

    terminal.run(hwtop())
    terminal.wait_for("─ Pick a job ")
    terminal.wait_for("New here?.*q quit")
    terminal.send(":")
    terminal.wait_for("─ Commands ─")
    assert "New here?" not in terminal.screen()
    terminal.send(*f"attach {job.launcher_pid}")
    terminal.wait_for(rf"▸ attach {job.launcher_pid}")
    terminal.send("Enter")
    terminal.wait_for(r"2 ranks")

    for key, expected in (
        ("2", "─ Rank 0 |Ranks  by"),
        ("3", "Where the ranks are"),
        ("f", "4 Flame"),
        ("5", "Log"),
        ("6", "6 Curves"),
        ("8", "8 Host"),
        ("0", "0 Symptoms"),
        ("9", "─ Processes "),
    ):
        terminal.send(key)
        terminal.wait_for(expected)

    terminal.send("/", *"rank=1")
    terminal.wait_for(r"filter: rank=1, \d of \d processes")
    terminal.send("Enter")
    terminal.wait_for("Esc all")
    terminal.send("k")
    terminal.wait_for("Send a signal")
    terminal.send("Enter")
    terminal.wait_for(r"No, leave the job alone")
    terminal.send("Enter")
    terminal.wait_until(lambda screen: "leave the job alone" not in screen, "monitor again")
    terminal.send("Escape")
    terminal.wait_until(lambda screen: "filter: rank=1" not in screen, "all processes")

    for size in ((59, 14), (200, 60), (80, 24)):
        terminal.resize(*size)
        terminal.wait_until(lambda screen, size=size: fills(screen, size), f"picture of {size}")  # type: ignore[misc]
    assert len(job.members(job.launcher_pid)) >= 3, "nothing was sent: launcher and ranks go on"
    terminal.send("q")
    assert_as_before(terminal, before)

    terminal.run(f"clear; {hwtop(job.launcher_pid)}")
    wait_for_ticks(terminal, 1)
    assert "New here?" not in terminal.screen()
    terminal.send("q")
    assert_as_before(terminal, before)


def fills(screen: str, size: tuple[int, int]) -> bool:
    """Is this a picture for so many cells and rows? Panels reach from edge to edge; the lines of a small screen end where they end."""
    rows, (width, height) = screen.splitlines(), size
    widest = max(map(len, rows))
    return len(rows) == height and (widest == width if width >= COMPACT_BELOW[0] else widest <= width)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
def test_ended_from_outside_the_verdict_stays(name: str, open_terminal: Open, tmp_path: Path) -> None:
    terminal = open_new(open_terminal, tmp_path, 80, 24)
    before = settings(terminal), terminal.flags()
    terminal.run(hwtop(terminal.pane_pid()))
    wait_for_ticks(terminal, 1)
    (screen,) = (pid for pid in terminal.pids() if "\0hwtop\0" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(screen, getattr(signal, name))
    assert_as_before(terminal, before)


def test_after_a_pause_in_the_shell_the_verdict_is_the_newest(open_terminal: Open, tmp_path: Path) -> None:
    terminal = open_new(open_terminal, tmp_path, 80, 24)
    before = settings(terminal), terminal.flags()
    terminal.run(hwtop(terminal.pane_pid()))
    wait_for_ticks(terminal, 1)
    terminal.send("C-z")
    terminal.wait_for("Stopped|Suspended")
    terminal.run("fg")
    terminal.wait_until(lambda _: terminal.is_alternate(), "alternate screen")
    wait_for_ticks(terminal, 1)
    terminal.send("?", *"ctrl")  # in one piece, as over a slow line
    terminal.wait_for("search: ctrl")
    terminal.send("Escape")
    terminal.wait_for("type to search")
    terminal.send("Escape")
    terminal.wait_until(lambda screen: "type to search" not in screen, "monitor")
    terminal.send("q")
    assert_as_before(terminal, before)


def test_what_is_copied_arrives_in_tmux_with_its_default_settings(open_terminal: Open, start: Start) -> None:
    job = start()
    terminal = open_terminal(120, 40)
    terminal.run(hwtop(job.launcher_pid))
    wait_for_ticks(terminal)
    terminal.send("Y")
    terminal.wait_for(r"sent to the terminal's clipboard and tmux \(prefix \] pastes\)")
    terminal.wait_until(lambda _: f"PID {job.launcher_pid}, " in terminal.buffer(), "the copied line")
    terminal.send("q")
    terminal.wait_for(LAST_WORDS)

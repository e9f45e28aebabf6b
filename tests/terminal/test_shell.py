"""hwtop as a guest of a shell: suspended and resumed, and in a terminal of any size."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.terminal.conftest import Open, wait_for_ticks
from tests.terminal.test_target import settings
from tests.terminal.tmux import hwtop

pytestmark = pytest.mark.real


@pytest.fixture
def watched() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    yield process.pid
    process.kill()
    process.wait()


def test_suspended_and_left_the_terminal_is_as_it_was(open_terminal: Open, watched: int) -> None:
    terminal = open_terminal(100, 30)
    before, flags = settings(terminal), terminal.flags()
    terminal.run(hwtop(watched))
    wait_for_ticks(terminal)
    assert terminal.is_alternate()
    assert terminal.flags() != flags

    terminal.send("C-z")
    terminal.wait_until(lambda _: not terminal.is_alternate(), "normal screen")
    terminal.wait_for("Stopped|Suspended")
    assert (settings(terminal), terminal.flags()) == (before, flags)

    terminal.run("fg")
    terminal.wait_until(lambda _: terminal.is_alternate(), "alternate screen")
    wait_for_ticks(terminal)
    screen = terminal.screen()
    assert f"PID {watched}" in screen
    assert "Findings" in screen
    assert screen.rstrip().splitlines()[-1].lstrip().startswith("1 Overview")

    terminal.send("q")
    terminal.wait_until(lambda _: not terminal.is_alternate(), "normal screen")
    terminal.wait_for("^hwtop: (?:Too early for a verdict|No progress seen)")
    assert (settings(terminal), terminal.flags()) == (before, flags)


def test_after_any_sizes_the_picture_is_whole(open_terminal: Open, watched: int) -> None:
    terminal = open_terminal(80, 24)
    terminal.run(hwtop(watched))
    wait_for_ticks(terminal)
    terminal.resize(59, 14)
    terminal.wait_for("panels from 60x15 on")
    for _ in range(2):
        for size in ((200, 50), (1, 1), (20, 5), (2, 40), (300, 80)):
            terminal.resize(*size)
    terminal.resize(80, 24)
    wait_for_ticks(terminal)
    rows = terminal.screen().splitlines()
    assert len(rows) == 24
    assert all(row.strip() for row in rows), rows
    assert f"PID {watched}" in rows[1]
    assert rows[-1].startswith(" 1 Overview")
    terminal.send("q")
    terminal.wait_until(lambda _: not terminal.is_alternate(), "normal screen")
    assert "Traceback" not in terminal.screen()

"""A terminal that vanishes takes hwtop with it, also where nobody sends SIGHUP."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.real


def test_a_screen_without_its_terminal_ends() -> None:
    ours, theirs = pty.openpty()
    target = subprocess.Popen(["sleep", "300"])
    screen = subprocess.Popen(
        [sys.executable, "-m", "hwtop", str(target.pid)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,  # the terminal is not its controlling one: no SIGHUP
    )
    os.close(theirs)
    try:
        drawn = 0
        while drawn < 4000:  # a screen full: its reader and its writer run
            drawn += len(os.read(ours, 65536))
        os.close(ours)
        assert screen.wait(timeout=60) in (0, 128 + signal.SIGHUP)
    finally:
        screen.kill()
        target.kill()
        target.wait()

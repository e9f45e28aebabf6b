"""A signal from a real terminal to a real job: two keys after `k`, none with --readonly; and what came of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.conftest import Open
from tests.terminal.tmux import hwtop

pytestmark = pytest.mark.real

CODE = """
import signal, sys
signal.signal(signal.SIGUSR1, lambda *_: open(sys.argv[1], "a").write("caught\\n"))
print(flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", CODE, str(tmp_path / "caught"), "--api-key", "planted"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_signal_after_a_confirmation_and_none_with_readonly(
    job: subprocess.Popen[bytes], tmp_path: Path, open_terminal: Open
) -> None:
    caught = tmp_path / "caught"
    terminal = open_terminal(100, 30)
    terminal.run(hwtop(job.pid, "--readonly"))
    terminal.wait_for("watched")
    terminal.send("9", "k")
    terminal.wait_for(f"▸ .*{job.pid}")
    terminal.send("Down", "Down", "Down", "Down", "Enter", "y")
    terminal.send("e")
    screen = terminal.wait_for("Everything else")
    assert "signal" not in screen
    terminal.send("q")
    terminal.wait_until(lambda _: not terminal.is_alternate(), "normal screen")
    assert not caught.exists()

    terminal.run("clear; " + hwtop(job.pid))
    terminal.wait_for("watched")
    terminal.send("9")
    screen = terminal.wait_for("--api-key")
    assert "planted" not in screen
    terminal.send("k")
    terminal.wait_for(r"SIGUSR1 +its own handler runs")
    terminal.send("Down", "Down", "Down", "Down", "Enter")
    terminal.wait_for("Yes, send SIGUSR1")
    assert not caught.exists()
    terminal.send("y")
    terminal.wait_for(f"SIGUSR1 sent to PID {job.pid}")
    terminal.wait_until(lambda _: caught.exists() and caught.read_text() == "caught\n", "signal that was caught")
    assert job.poll() is None

    terminal.send("Space", "F")
    terminal.wait_for(f"• 1 tagged +follows PID {job.pid}")
    terminal.send("k")
    terminal.wait_for("SIGKILL +kills it immediately")
    terminal.send("End", "Enter")
    terminal.wait_for(f"Job: .*{job.pid}")
    terminal.send("y")
    assert job.wait(60) == -signal.SIGKILL
    terminal.wait_for(f"SIGKILL sent to PID {job.pid}: it has ended")

"""Who holds the other end of what a process waits at: real processes and a real kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.process.source import ProcessSource
from hwtop.model.process import SystemCall
from tests.collectors.process.test_process import STARTUP_S, until

WAITS = """
import fcntl, os, select, socket, sys, time

kind = sys.argv[1]
if kind == "tcp":
    server = socket.create_server(("127.0.0.1", 0))
elif kind == "unix":
    mine, its = socket.socketpair()
elif kind == "loop":
    mine, its = socket.socketpair()
    wake, wakes = socket.socketpair()
elif kind == "lock":
    r, w = os.pipe()
    file = open(sys.argv[2], "w")
else:
    r, w = os.pipe()
if kind != "alone" and os.fork() == 0:
    if kind == "tcp":
        kept = socket.create_connection(server.getsockname())
    elif kind in ("unix", "loop"):
        mine.close()
    elif kind == "lock":
        kept = open(sys.argv[2])
        fcntl.flock(kept, fcntl.LOCK_EX)
        os.write(w, b"1")
    else:
        os.close(r)
    time.sleep(600)
if kind == "tcp":
    connection, _ = server.accept()
    connection.settimeout(600)  # so that it polls
    connection.recv(1)
elif kind == "unix":
    its.close()
    mine.recv(1)
elif kind == "loop":
    its.close()
    events = select.epoll()
    events.register(mine, select.EPOLLIN)
    events.register(wake, select.EPOLLIN)  # which only this process itself can write to
    events.poll()
elif kind == "lock":
    os.read(r, 1)
    fcntl.flock(file, fcntl.LOCK_EX)
else:
    if kind == "pipe":
        os.close(w)
    os.read(r, 1)
"""


@pytest.fixture
def waiting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    process = subprocess.Popen(
        [sys.executable, str(script), request.param, str(tmp_path / "lock")], start_new_session=True
    )
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("waiting", ["pipe", "tcp", "unix", "loop", "lock", "alone"], indirect=True)
def test_the_process_at_the_other_end(waiting: subprocess.Popen[bytes], request: pytest.FixtureRequest) -> None:
    source = ProcessSource(waiting.pid)

    def look() -> tuple[SystemCall | None, set[int]]:
        processes = {process.pid: process for process in source.read().processes}
        return processes[waiting.pid].call, set(processes) - {waiting.pid}

    name = "flock" if "lock" in request.node.name else ""  # it waits for its child in a pipe first
    call, others = until(
        look, lambda seen: seen[0] is not None and seen[0].peer_pids is not None and name in seen[0].name, STARTUP_S
    )
    assert call is not None
    assert set(call.peer_pids or ()) == others
    assert len(others) == (0 if "alone" in request.node.name else 1)
    assert call.has_both_ends == ("alone" in request.node.name)
    assert (call.peer is not None) == (request.node.name.endswith(("[tcp]", "[lock]")))
    source.close()

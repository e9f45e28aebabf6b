"""Signals reach the confirmed process and no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from hwtop.collectors.process.files import read_stat
from hwtop.collectors.process.held import HeldProcess
from hwtop.collectors.process.signals import send
from hwtop.model.signal import SignalOrder, SignalTarget
from tests.terminal.test_permissions import UNPRIVILEGED, foreign_pid

__all__ = ["foreign_pid"]

CODE = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: (os.write(1, b"caught\\n"), sys.exit(3)))  # it may interrupt a print
print("ready", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def order(name: str, pid: int, start_ticks: int | None = None) -> SignalOrder:
    ticks = read_stat(f"/proc/{pid}").start_ticks if start_ticks is None else start_ticks
    return SignalOrder(signal=name, targets=(SignalTarget(pid=pid, start_ticks=ticks),))


def test_it_arrives(child: subprocess.Popen[str]) -> None:
    assert [answer.error for answer in send(order("SIGUSR1", child.pid))] == [None]
    assert child.stdout is not None and child.stdout.readline() == "caught\n"
    assert child.wait(60) == 3


def test_a_reused_pid_gets_nothing(child: subprocess.Popen[str]) -> None:
    (answer,) = send(order("SIGKILL", child.pid, start_ticks=1))
    assert "another process" in (answer.error or "")
    send(order("SIGUSR1", child.pid))
    assert child.wait(60) == 3  # the other one never came


def test_without_descriptors_of_processes(child: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    (answer,) = send(order("SIGKILL", child.pid, start_ticks=1))
    assert answer.error is not None
    assert send(order("SIGTERM", child.pid))[0].error is None
    assert child.wait(60) == -signal.SIGTERM


def test_one_that_has_ended(child: subprocess.Popen[str]) -> None:
    wanted = order("SIGTERM", child.pid)
    child.kill()
    child.wait()
    assert send(wanted)[0].error == f"PID {child.pid} has ended already"


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_one_that_ends_while_it_is_held(
    child: subprocess.Popen[str], has_descriptors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as old_kernel:
        if not has_descriptors:
            old_kernel.delattr(os, "pidfd_open", raising=False)
        held = HeldProcess(child.pid)
    with held as process:
        assert process.start_ticks == read_stat(f"/proc/{child.pid}").start_ticks
        child.kill()
        gone, alive = psutil.wait_procs([psutil.Process(child.pid)], timeout=60)
        assert (len(gone), alive) == (1, [])
        with pytest.raises(ProcessLookupError):
            process.send(signal.SIGTERM)


@pytest.mark.parametrize("pid", [-1, 0, 1, os.getpid()], ids=["all", "group", "init", "oneself"])
def test_never_a_group_the_first_process_or_oneself(pid: int) -> None:
    (answer,) = send(order("SIGKILL", pid, start_ticks=0))
    assert "not one of the job's processes" in (answer.error or "")


def test_no_right_says_what_would_do_it(foreign_pid: int) -> None:
    pid = foreign_pid if foreign_pid > 1 else next(iter(_others()))
    code = (
        "from hwtop.collectors.process.files import read_stat\nfrom hwtop.collectors.process.signals import send\n"
        "from hwtop.model.signal import *\n"
        f"target = SignalTarget(pid={pid}, start_ticks=read_stat('/proc/{pid}').start_ticks)\n"
        "print(send(SignalOrder(signal='SIGCONT', targets=(target,)))[0].advice)"
    )
    done = subprocess.run([*UNPRIVILEGED, sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == f"sudo kill -CONT {pid}", done


def _others() -> Iterator[int]:
    """Processes of other users besides the first."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(name) > 1 and os.stat(f"/proc/{name}").st_uid != os.getuid():
                yield int(name)
        except FileNotFoundError:
            continue

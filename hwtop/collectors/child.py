"""Child processes that inspect other processes: with a deadline, and abandoned where they cannot be killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO

from msgspec import Struct

_POLL_S = 0.004
_LONGEST_POLL_S = 0.1
OUTPUT = "{output}"
"""Stands in a command for the file that the child shall write its result to."""


class Ended(Struct, frozen=True):
    """How a child ended."""

    status: int | None
    """Exit status; None: killed at the deadline."""
    out: bytes
    """What it wrote to `OUTPUT`; to its standard output where the command names none."""
    err: str
    cpu_s: float
    """CPU time of the child and of those it waited for."""


class Children:
    """Runs children, one at a time for each thread that calls. Safe to use from several threads at once."""

    def __init__(self, *, end_at_exit: bool = False) -> None:
        """`end_at_exit`: kill those that are out when the program leaves. Not those that hold another process stopped."""
        self.abandoned: list[subprocess.Popen[bytes]] = []
        """Killed at their deadline and not gone yet: one in uninterruptible sleep dies later, and is not waited for."""
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        if end_at_exit:
            atexit.register(self.close)

    def run(self, command: Sequence[str], deadline_s: float) -> Ended:
        """Its output goes to files in memory: no pipe that could fill and no reader that could block.

        Raises:
            OSError: it cannot be started.
        """
        self._reap()
        with _memory_file() as out, _memory_file() as err:
            child = self._start(command, out, err)
            status, cpu_s = self._await(child, time.monotonic() + deadline_s)
            out.seek(0)
            err.seek(0)
            return Ended(status, out.read(), err.read().decode(errors="replace"), cpu_s)

    def close(self) -> None:
        """Kill those that are out. Does not wait.

        Nobody does so when hwtop is killed by SIGKILL: start nothing that would go on for long.
        """
        with self._lock:
            self._is_closed = True
            for child in self._running:
                _kill(child)
        atexit.unregister(self.close)  # not before: the program may leave while another thread is at this line

    def _start(self, command: Sequence[str], out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
        has_file = any(OUTPUT in word for word in command)
        with self._lock:
            child = subprocess.Popen(
                [word.replace(OUTPUT, _path_of(out)) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=err if has_file else out,
                stderr=err,
                pass_fds=(out.fileno(),) if has_file else (),
                start_new_session=True,
                env={**os.environ, "RUST_BACKTRACE": "0"},  # py-spy: an error is a line, not a page
            )
            self._running.add(child)
            if self._is_closed:
                _kill(child)
        return child

    def _await(self, child: subprocess.Popen[bytes], ends_s: float) -> tuple[int | None, float]:
        """(exit status, CPU seconds); at the deadline its process group is killed and abandoned."""
        _sleep_until_end(child.pid, ends_s)
        pause_s = _POLL_S
        while (cpu_s := _reaped(child)) is None and time.monotonic() < ends_s:
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_POLL_S)
        with self._lock:
            self._running.discard(child)
            if cpu_s is None:
                _kill(child)
                self.abandoned.append(child)
        return child.returncode, cpu_s or 0.0

    def _reap(self) -> None:
        with self._lock:
            self.abandoned = [child for child in self.abandoned if child.poll() is None]


def _sleep_until_end(pid: int, ends_s: float) -> None:
    """Until the child has ended or its time is over; at once where the kernel (before Linux 5.3) cannot report it."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return
    try:
        select.select([handle], [], [], max(0.0, ends_s - time.monotonic()))
    except ValueError:  # more than 1024 files are open
        return
    finally:
        os.close(handle)


def _reaped(child: subprocess.Popen[bytes]) -> float | None:
    """CPU seconds of a child that has ended; None while it runs."""
    try:
        done, status, usage = os.wait4(child.pid, os.WNOHANG)
    except ChildProcessError:  # whoever started hwtop ignores SIGCHLD, so the kernel reaps
        child.returncode = 0
        return 0.0
    if not done:
        return None
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.returncode is None:
        with contextlib.suppress(PermissionError, ProcessLookupError):  # one that runs as root; one that has just ended
            os.killpg(child.pid, signal.SIGKILL)


def _path_of(file: IO[bytes]) -> str:
    """A path by which a child that inherits the file can open it."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    return f"{folder}/{file.fileno()}"


def _memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("hwtop-child"), "w+b")
    return tempfile.TemporaryFile()

"""One look at the Python stacks of one process: `py-spy dump --json --nonblocking` in a child with a deadline.

Never the blocking form: it stops every thread of the target, and a job with hundreds of threads crawls under it. The
price of not stopping: now and then a stack is torn or cut short, so such a look is repeated at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

import msgspec
from msgspec import Struct

from hwtop.collectors.pyspy_errors import Explained, circumstance, explain, no_binary
from hwtop.job.frames import short_name
from hwtop.model.stack import StackDump, StackFrame, ThreadStack

DEADLINE_S = 5.0
"""A dump takes 10 ms of CPU; on a box with a hundred runnable threads a core it may wait seconds for that."""
_TRIES = 3
_PAUSE_S = 0.02
"""Between two tries, as py-spy itself pauses when it starts."""
_POLL_S = 0.004
_ROOTS = frozenset({"<module>", "_run_module_as_main", "_bootstrap", "_run_code"})
"""Outermost functions of a whole main-thread stack."""


class _Frame(Struct):
    name: str
    filename: str
    line: int
    short_filename: str | None = None


class _Thread(Struct):
    frames: list[_Frame]
    active: bool = False
    owns_gil: bool = False
    thread_name: str | None = None
    os_thread_id: int | None = None


class Look(Struct, frozen=True):
    """One finished dump and what it took."""

    dump: StackDump
    cpu_s: float
    """CPU time of the children."""
    is_lasting: bool = False
    """It failed for a reason that will stay."""


class _Ended(Struct, frozen=True):
    status: int | None
    """Exit status; None: killed at the deadline."""
    out: bytes
    err: str
    cpu_s: float


def find_pyspy() -> str | None:
    """The binary beside this Python (a virtual environment that is not activated), else in PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy")


class PySpy:
    """Runs py-spy. Safe to use from several threads at once."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        proc: str = "/proc",
        deadline_s: float = DEADLINE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`command` replaces the binary; it is called with "dump --json --nonblocking -p PID" appended."""
        found = find_pyspy() if command is None else None
        self._command = list(command) if command is not None else [found] if found else []
        self._proc = proc
        self._deadline_s = deadline_s
        self._now = now
        self._abandoned: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def probe(self) -> str | None:
        """Why it cannot run at all, or None."""
        if self._command:
            return None
        missing = no_binary()
        return f"{missing.error}: {missing.advice}"

    def look(self, pid: int) -> Look:
        """Dump the stacks of `pid`; takes at most three deadlines. Never raises for what the target or py-spy does."""
        if not self._command:
            return self._failed(pid, no_binary(), 0.0)
        self._reap()
        cpu_s = 0.0
        was_stopped = self._is_stopped(pid)
        for attempt in range(1, _TRIES + 1):
            try:
                ended = self._run(pid)
            except OSError as error:
                return self._failed(
                    pid, Explained(f"py-spy cannot be started: {error}", "pip install -U py-spy"), cpu_s
                )
            cpu_s += ended.cpu_s
            threads, failure = self._result(pid, ended)
            is_last = attempt == _TRIES or ended.status is None or (failure is not None and failure.is_lasting)
            if (failure is None and is_whole(threads)) or is_last:
                return self._look(pid, threads, failure, cpu_s, was_stopped)
            time.sleep(_PAUSE_S)
        raise AssertionError("the last try returns")

    def _result(self, pid: int, ended: _Ended) -> tuple[tuple[ThreadStack, ...], Explained | None]:
        if ended.status is None:
            text = f"py-spy did not answer within {self._deadline_s:g} s for pid {pid}"
            return (), Explained(text, f"the process may be in uninterruptible sleep: cat /proc/{pid}/wchan")
        if ended.status != 0:
            return (), explain(ended.err, circumstance(pid, self._command[0], self._proc))
        try:
            return parse(ended.out, pid), None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return (), Explained(f"py-spy's answer for pid {pid} cannot be read: {error}", "pip install -U py-spy")

    def _look(
        self, pid: int, threads: tuple[ThreadStack, ...], failure: Explained | None, cpu_s: float, was_stopped: bool
    ) -> Look:
        if failure is None and not any(thread.frames for thread in threads):
            failure = Explained(
                f"pid {pid} shows no Python frame: it is starting or ending", "hwtop tries again", False
            )
        if not was_stopped and self._is_stopped(pid):
            failure = Explained(
                f"pid {pid} was stopped while its stack was read",
                f"if nobody stopped it on purpose: kill -CONT {pid}",
                False,
            )
        if failure is not None:
            return self._failed(pid, failure, cpu_s, threads)
        return Look(StackDump(pid=pid, at_s=self._now(), threads=threads), cpu_s)

    def _failed(self, pid: int, why: Explained, cpu_s: float, threads: tuple[ThreadStack, ...] = ()) -> Look:
        dump = StackDump(pid=pid, at_s=self._now(), threads=threads, error=why.error, advice=why.advice)
        return Look(dump, cpu_s, why.is_lasting)

    def _is_stopped(self, pid: int) -> bool:
        """State T or t, or a tracer, in /proc/PID/status."""
        try:
            with open(f"{self._proc}/{pid}/status") as file:
                fields = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:
            return False
        return fields.get("State", "").strip()[:1] in ("T", "t") or fields.get("TracerPid", "0").strip() != "0"

    def _run(self, pid: int) -> _Ended:
        """One child. Its output goes to files in memory: no pipe that could fill and no reader that could block."""
        with _memory_file() as out, _memory_file() as err:
            child = subprocess.Popen(
                [*self._command, "dump", "--json", "--nonblocking", "-p", str(pid)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                env={**os.environ, "RUST_BACKTRACE": "0"},
            )
            status, cpu_s = self._await(child)
            out.seek(0)
            err.seek(0)
            return _Ended(status, out.read(), err.read().decode(errors="replace"), cpu_s)

    def _await(self, child: subprocess.Popen[bytes]) -> tuple[int | None, float]:
        """(exit status, CPU seconds); at the deadline its process group is killed and left behind."""
        ends_s = time.monotonic() + self._deadline_s
        pause_s = _POLL_S
        while True:
            try:
                done, status, usage = os.wait4(child.pid, os.WNOHANG)
            except ChildProcessError:  # whoever started hwtop ignores SIGCHLD, so the kernel reaps
                child.returncode = 0
                return 0, 0.0
            if done:
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode, usage.ru_utime + usage.ru_stime
            if time.monotonic() >= ends_s:
                os.killpg(child.pid, signal.SIGKILL)
                with self._lock:
                    self._abandoned.append(child)
                return None, 0.0
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.1)

    def _reap(self) -> None:
        """Children killed earlier: one in uninterruptible sleep dies later, and nobody waits for it."""
        with self._lock:
            self._abandoned = [child for child in self._abandoned if child.poll() is None]


def parse(text: bytes, pid: int) -> tuple[ThreadStack, ...]:
    """The JSON of `py-spy dump`, main thread first: the one called MainThread, else whose id is the pid, else the oldest.

    Raises:
        msgspec.MsgspecError: it is not that JSON.
    """
    found = msgspec.json.decode(text, type=list[_Thread])
    threads = [
        ThreadStack(
            name=thread.thread_name,
            os_thread_id=thread.os_thread_id,
            is_active=thread.active,
            owns_gil=thread.owns_gil,
            frames=tuple(
                StackFrame(
                    name=frame.name,
                    filename=frame.filename,
                    short_filename=frame.short_filename or frame.filename,
                    line=frame.line,
                )
                for frame in thread.frames
            ),
        )
        for thread in found
    ]
    if not threads:
        return ()
    by_id = next((thread for thread in threads if thread.os_thread_id == pid), threads[-1])
    main = next((thread for thread in threads if thread.name == "MainThread"), by_id)
    return (main, *(thread for thread in threads if thread is not main))


def is_whole(threads: Sequence[ThreadStack]) -> bool:
    """The main thread's stack reaches down to where Python began.

    One look in eight or so at a busy process ends in the middle: its frames changed hands while they were copied.
    """
    return bool(threads) and bool(threads[0].frames) and short_name(threads[0].frames[-1].name) in _ROOTS


def _memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("hwtop-py-spy"), "w+b")
    return tempfile.TemporaryFile()

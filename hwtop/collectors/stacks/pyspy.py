"""One sample of the Python stacks of one process: `py-spy dump --json --nonblocking` in a child with a deadline.

Never the blocking form: it stops every thread of the target, and a job with hundreds of threads crawls under it. The
price of not stopping: now and then a stack is torn or cut short, so such a look is repeated at once.

The non-blocking form traces nothing and stops nothing, so a target that is found stopped after a look was stopped by
somebody else, on purpose: that is reported, never undone.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hwtop.collectors.child import Children, Ended
from hwtop.collectors.process.target_state import read_state
from hwtop.collectors.stacks.pyspy_errors import Explained, circumstance, explain, no_binary
from hwtop.job.stacks.frames import short_name
from hwtop.model.stack import StackDump, StackFrame, ThreadStack

DEADLINE_S = 5.0
"""A dump takes 10 ms of CPU; on a box with a hundred runnable threads a core it may wait seconds for that."""
_TRIES = 3
_PAUSE_S = 0.02
"""Between two tries, as py-spy itself pauses when it starts."""
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


class DumpResult(Struct, frozen=True):
    """One finished dump and what it took."""

    dump: StackDump
    cpu_s: float
    """CPU time that it took."""
    failure: Explained | None = None

    @property
    def is_lasting(self) -> bool:
        """It failed for a reason that will stay."""
        return self.failure is not None and self.failure.is_lasting


class StackReader(Protocol):
    """One way to sample a process."""

    def look(self, pid: int) -> DumpResult:
        """Dump the stacks of `pid`. Never raises for what the target does."""


def find_pyspy() -> str | None:
    """The binary next to this Python (a virtual environment that is not activated), else in PATH, else beside its package (a zipapp
    of shiv or pex)."""
    own = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return own if os.access(own, os.X_OK) else shutil.which("py-spy") or _of_package()


def _of_package() -> str | None:
    """`pip install --target` puts scripts beside the packages, whatever their record says."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        path = str(distribution("py-spy").locate_file("bin/py-spy"))
    except PackageNotFoundError:
        return None
    return path if os.access(path, os.X_OK) else None


class PySpy:
    """Runs py-spy. Safe to use from several threads at once."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        prefix: Sequence[str] = (),
        proc: str = "/proc",
        deadline_s: float = DEADLINE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`command` replaces the binary; it is called with "dump --json --nonblocking -p PID" appended. `prefix` is what
        gives it the rights of root: "sudo -n".
        """
        found = find_pyspy() if command is None else None
        self._command = list(command) if command is not None else [found] if found else []
        self._prefix = list(prefix)
        self._proc = proc
        self._deadline_s = deadline_s
        self._now = now
        self._children = Children()

    def probe(self) -> str | None:
        """Why it cannot run at all, or None."""
        if self._command:
            return None
        missing = no_binary()
        return f"{missing.error}: {missing.advice}"

    def look(self, pid: int) -> DumpResult:
        """Dump the stacks of `pid`; takes at most three deadlines. Never raises for what the target or py-spy does."""
        if not self._command:
            return self._failed(pid, no_binary(), 0.0)
        cpu_s = 0.0
        was_held = self._is_held(pid)
        for attempt in range(1, _TRIES + 1):
            try:
                ended = self._children.run(self._arguments(pid), self._deadline_s)
            except OSError as error:
                return self._failed(
                    pid, Explained(f"py-spy cannot be started: {error}", "pip install -U py-spy"), cpu_s
                )
            cpu_s += ended.cpu_s
            threads, failure = self._result(pid, ended)
            is_last = attempt == _TRIES or ended.status is None or (failure is not None and failure.is_lasting)
            if (failure is None and is_whole(threads)) or is_last:
                return self._look(pid, threads, failure, cpu_s, was_held)
            time.sleep(_PAUSE_S)
        raise AssertionError("the last try returns")

    def _arguments(self, pid: int) -> list[str]:
        return [*self._prefix, *self._command, "dump", "--json", "--nonblocking", "-p", str(pid)]

    def _result(self, pid: int, ended: Ended) -> tuple[tuple[ThreadStack, ...], Explained | None]:
        if ended.status is None:
            text = f"py-spy did not answer within {self._deadline_s:g} s for pid {pid}"
            return (), Explained(text, f"the process may be in uninterruptible sleep: cat /proc/{pid}/wchan")
        if ended.status != 0:
            case = circumstance(pid, self._command[0], self._proc)
            return (), explain(ended.err, replace(case, own_uid=0) if self._prefix else case)
        try:
            return parse(ended.out, pid), None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return (), Explained(f"py-spy's answer for pid {pid} cannot be read: {error}", "pip install -U py-spy")

    def _look(
        self, pid: int, threads: tuple[ThreadStack, ...], failure: Explained | None, cpu_s: float, was_held: bool
    ) -> DumpResult:
        if failure is None and not any(thread.frames for thread in threads):
            failure = Explained(
                f"pid {pid} shows no Python frame: it is starting or ending", "hwtop tries again", False
            )
        if not was_held and self._is_held(pid):
            failure = Explained(
                f"pid {pid} was stopped while its stack was read",
                f"if nobody stopped it on purpose: kill -CONT {pid}",
                False,
            )
        if failure is not None:
            return self._failed(pid, failure, cpu_s, threads)
        return DumpResult(StackDump(pid=pid, at_s=self._now(), threads=threads), cpu_s)

    def _failed(self, pid: int, why: Explained, cpu_s: float, threads: tuple[ThreadStack, ...] = ()) -> DumpResult:
        dump = StackDump(pid=pid, at_s=self._now(), threads=threads, error=why.error, advice=why.advice)
        return DumpResult(dump, cpu_s, why)

    def _is_held(self, pid: int) -> bool:
        state = read_state(pid, self._proc)
        return state is not None and state.is_held


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

"""Makes a process write its own Python stacks: the signal for which its script has registered faulthandler.

Needs no rights but those to signal it, and answers even where the interpreter lock is held for ever. The text goes where the
script said, as a rule to standard error: where that is a file, what was added to it is the answer.
"""

from __future__ import annotations

import os
import signal
import stat
import time

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.process.files import read_cmdline
from hwtop.collectors.process.held import HeldProcess
from hwtop.collectors.process.target_state import TargetState, read_state
from hwtop.collectors.stacks.pyspy_errors import Explained
from hwtop.job.stacks.deep_looks import faulthandler_signal, no_signal

_ANSWERS_WITHIN_S = 2.0
_QUIET_S = 0.1
"""Nothing more was added for so long: it has said all."""
_POLL_S = 0.02
_BLOCKED_S = 5.0
"""A file on a dead mount, or a process in uninterruptible sleep."""
_MOST_BYTES = 1 << 20
_MARK = b"(most recent call first)"


def ask_faulthandler(pid: int, proc: str = "/proc") -> tuple[str, Explained | None]:
    """(what it wrote or where it writes, why no signal was sent or what came of it)."""
    call = Abandonable(f"faulthandler-{pid}", lambda: _ask(pid, proc), time.monotonic)
    try:
        return call.poll(_BLOCKED_S)
    except TimeoutError as error:
        return "", Explained(f"/proc/{pid} or the file that pid {pid} writes to is {error}", "")
    except OSError as error:
        return "", Explained(f"pid {pid}: {error}", "")


def _ask(pid: int, proc: str) -> tuple[str, Explained | None]:
    before = read_state(pid, proc)
    if before is None:
        return "", Explained(f"no process {pid}", "")
    number = faulthandler_signal(before.caught_signals)
    reason = no_signal(pid, before.state, before.caught_signals, " ".join(read_cmdline(f"{proc}/{pid}")))
    if number is None or reason is not None:
        return "", Explained(f"no signal was sent to pid {pid}: {reason}", "")
    path = f"{proc}/{pid}/fd/2"
    target = os.readlink(path)
    begins = _size(path)
    failure = _send(pid, number, before, proc)
    if failure is not None:
        return "", failure
    text = _added(path, begins) if begins is not None else ""
    after = read_state(pid, proc)
    if after is None or after.start_ticks != before.start_ticks or after.state in ("Z", "X"):
        return text, Explained(f"pid {pid} has ended after {number.name}: its handler is not faulthandler's", "")
    if text:
        return f"{number.name} sent to PID {pid}; it has written to {target}:\n\n{text}", None
    where = f"standard error of PID {pid} is {target}"
    if begins is not None:
        where += ", to which it has added no stack: faulthandler.register(file=...) may name another file"
    return f"{number.name} sent to PID {pid}; {where}", None


def _send(pid: int, number: signal.Signals, before: TargetState, proc: str) -> Explained | None:
    """To this process only, and only while it catches the signal."""
    try:
        with HeldProcess(pid) as process:
            now = read_state(pid, proc)
            if now is None or now.start_ticks != before.start_ticks or now.caught_signals != before.caught_signals:
                return Explained(f"pid {pid} has changed meanwhile: no signal was sent", "")
            process.send(number)
    except PermissionError:
        return Explained(f"pid {pid} belongs to another user", f"sudo kill -{number.name.removeprefix('SIG')} {pid}")
    except ProcessLookupError:
        return Explained(f"pid {pid} has ended", "")
    return None


def _size(path: str) -> int | None:
    """Of a regular file; None of a pipe, a terminal, or what may not be read."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _added(path: str, begins: int) -> str:
    """What the file has got since it was `begins` bytes long, once it holds a stack; else nothing."""
    ends_s = time.monotonic() + _ANSWERS_WITHIN_S
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        seen, quiet_since_s = b"", time.monotonic()
        while time.monotonic() < ends_s:
            now = os.pread(descriptor, _MOST_BYTES, begins)
            if now != seen:
                seen, quiet_since_s = now, time.monotonic()
            elif _MARK in seen and time.monotonic() - quiet_since_s >= _QUIET_S:
                break
            time.sleep(_POLL_S)
        return seen.decode(errors="replace") if _MARK in seen else ""
    finally:
        os.close(descriptor)

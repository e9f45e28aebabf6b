"""Continues a process that a stack dump has left stopped."""

from __future__ import annotations

import os
import signal
import time

from hwtop.collectors.process.files import read_bytes
from hwtop.collectors.process.held import HeldProcess
from hwtop.collectors.process.target_state import TargetState, read_state
from hwtop.collectors.stacks.pyspy_errors import Explained

_SETTLES_S = 1.0
"""A tracer that exits releases its threads at once; one that was killed takes as long as the kernel needs."""
_POLL_S = 0.01


def repaired(pid: int, before: TargetState, proc: str = "/proc") -> tuple[str, Explained | None]:
    """After a dump that may have stopped `pid`, which was running `before`: (what was done about it, what is still wrong).

    Both empty where nothing had to be done. A process that was stopped or traced before is left as it is.
    """
    if not _stays_held(pid, before, proc):
        return _gone(pid, before, proc)
    state = read_state(pid, proc)
    if state is not None and state.tracer_pid:
        return "", Explained(
            f"pid {pid} is still held by its tracer, pid {state.tracer_pid}", f"kill -9 {state.tracer_pid}"
        )
    try:
        with HeldProcess(pid) as process:
            if process.start_ticks != before.start_ticks:
                return _gone(pid, before, proc)
            process.send(signal.SIGCONT)
    except PermissionError:
        return "", Explained(
            f"pid {pid} was left stopped, and hwtop is not permitted to continue it", f"sudo kill -CONT {pid}"
        )
    except ProcessLookupError:
        return _gone(pid, before, proc)
    if _stays_held(pid, before, proc):
        return "", Explained(f"pid {pid} was left stopped and does not continue", f"kill -CONT {pid}")
    return f"note: the dump left PID {pid} stopped; hwtop continued it (SIGCONT)", None


def _gone(pid: int, before: TargetState, proc: str) -> tuple[str, Explained | None]:
    state = read_state(pid, proc)
    if state is not None and state.start_ticks == before.start_ticks and state.state not in ("Z", "X"):
        return "", None
    return "", Explained(f"pid {pid} ended during the dump", "")


def _stays_held(pid: int, before: TargetState, proc: str) -> bool:
    """Whether the same process, or a thread of it, is still held when the time to settle is over."""
    ends_s = time.monotonic() + _SETTLES_S
    while _is_held(pid, before, proc):
        if time.monotonic() >= ends_s:
            return True
        time.sleep(_POLL_S)
    return False


def _is_held(pid: int, before: TargetState, proc: str) -> bool:
    state = read_state(pid, proc)
    if state is None or state.start_ticks != before.start_ticks:
        return False
    try:
        tids = os.listdir(f"{proc}/{pid}/task")
    except OSError:
        tids = []
    return state.is_held or any(_thread_is_held(f"{proc}/{pid}/task/{tid}") for tid in tids)


def _thread_is_held(directory: str) -> bool:
    """Stopped, or about to be: on a busy machine a stop waits until the thread gets a core."""
    try:
        lines = read_bytes(f"{directory}/status").decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    pending = int(fields.get("SigPnd", "0"), 16) | int(fields.get("ShdPnd", "0"), 16)
    return fields.get("State", "")[:1] in ("T", "t") or bool(pending >> (signal.SIGSTOP - 1) & 1)

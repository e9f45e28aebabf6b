"""What the main thread of a process waits for, with the state of the children that may be the reason. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.kernel.wait import wait_kind, waits_for
from hwtop.model.process import ProcessInfo

_STOPPED = ("T", "t")
_COMMAND_CHARS = 60


def waits_on(process: ProcessInfo, children: Sequence[ProcessInfo]) -> str | None:
    """ "bytes from a pipe (descriptor 5); its child PID 77 (tar -c run) is stopped (state T)"; None while it runs, and where nothing
    tells it."""
    kind = wait_kind(process.state, process.wchan, process.call)
    meaning = waits_for(process.wchan, process.call) if process.state in ("S", "D") else None
    if meaning is None:
        return None
    stopped = next((child for child in children if child.state in _STOPPED), None)
    if kind in ("child", "pipe", "lock", "events") and stopped is not None:
        return f"{meaning}; its child PID {stopped.pid} ({_command(stopped)}) is stopped (state {stopped.state})"
    if kind == "child" and len(children) == 1:
        return f"{meaning}: PID {children[0].pid} ({_command(children[0])}), state {children[0].state}"
    return meaning


def _command(process: ProcessInfo) -> str:
    return " ".join(process.cmdline or (process.comm,))[:_COMMAND_CHARS]

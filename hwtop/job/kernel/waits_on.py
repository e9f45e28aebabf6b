"""What the main thread of a process waits for, with the state of the processes that may be the reason. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hwtop.job.kernel.wait import wait_kind, waits_for
from hwtop.job.launch.launcher import program_shown
from hwtop.model.process import ProcessInfo
from hwtop.model.rank import Awaited

_STOPPED = ("T", "t")
_COMMAND_CHARS = 60


def waits_on(
    process: ProcessInfo, children: Sequence[ProcessInfo], by_pid: Mapping[int, ProcessInfo] | None = None
) -> str | None:
    """ "bytes from a pipe (descriptor 5); its child PID 77 (tar -c run) is stopped (state T)"; None while it runs, and where nothing
    tells it. `by_pid`: all processes of the job, one of which may hold the other end.
    """
    kind = wait_kind(process.state, process.wchan, process.call)
    meaning = waits_for(process.wchan, process.call) if process.state in ("S", "D") else None
    if meaning is None:
        return None
    stopped = next((child for child in children if child.state in _STOPPED), None)
    if kind in ("child", "pipe", "lock", "events") and stopped is not None:
        return f"{meaning}; its child PID {stopped.pid} ({_command(stopped)}) is stopped (state {stopped.state})"
    if kind == "child" and len(children) == 1:
        return f"{meaning}: PID {children[0].pid} ({_command(children[0])}), state {children[0].state}"
    return meaning + _whose(process, by_pid or {}, "it" if kind == "file lock" else None)


def awaited(process: ProcessInfo, by_pid: Mapping[int, ProcessInfo]) -> Awaited | None:
    """The one process that it waits for, where the kernel shows one that is part of the job."""
    pids = process.call.peer_pids if process.call is not None and process.state in ("S", "D") else None
    other = by_pid.get(pids[0]) if pids is not None and len(pids) == 1 else None
    return None if other is None else Awaited(pid=other.pid, program=program_shown(other))


def _whose(process: ProcessInfo, by_pid: Mapping[int, ProcessInfo], known_as: str | None) -> str:
    """Who has the other end, and what that one does. `known_as`: where it was named before."""
    pids = process.call.peer_pids if process.call is not None else None
    if pids is None:
        return ""
    others = [by_pid[pid] for pid in pids if pid in by_pid]
    if len(others) == 1:
        other = others[0]
        named = known_as or f"PID {other.pid} ({program_shown(other)}) has the other end,"
        awaited = waits_for(other.wchan, other.call) if other.state in ("S", "D") else None
        return f"; {named} is in state {other.state}{f' and waits for {awaited}' if awaited else ''}"
    if known_as is not None:
        return ""
    if process.call is not None and process.call.has_both_ends:
        return "; it holds both ends itself: only another one of its threads could answer"
    many = f"the other end is open in {len(others)} processes of the job"
    return f"; {many if others else 'no other process of the job has the other end open'}"


def _command(process: ProcessInfo) -> str:
    return " ".join(process.cmdline or (process.comm,))[:_COMMAND_CHARS]

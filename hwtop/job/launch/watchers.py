"""hwtop itself, other monitors of its kind, and the shells and coding agents above them: inside the same Slurm step, cgroup or process
tree as the ranks, and never part of the job. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hwtop.job.launch.launcher import is_agent_server, is_monitor, is_session, is_slurmstepd, is_wrapper
from hwtop.model.process import ProcessInfo


def without_watchers(
    processes: Sequence[ProcessInfo], watchers: Collection[int], target_pid: int
) -> tuple[ProcessInfo, ...]:
    """`processes` without monitors, what those started, and the shells that run nothing else. An agent that has started a server
    for itself, next to the job, is left out with all that it started.

    `watchers` are the PIDs of hwtop and its ancestors. A monitor or a shell that is the target itself stays.
    """
    by_pid = {process.pid: process for process in processes}
    monitors = {process.pid for process in processes if is_monitor(process) and process.pid != target_pid}
    if not monitors and by_pid.keys().isdisjoint(watchers):
        return tuple(processes)
    if target_pid in by_pid:
        servers = [pid for pid in monitors if is_agent_server(by_pid[pid])]
        monitors |= {above for pid in servers for above in _line(pid, by_pid)} - set(_line(target_pid, by_pid))
    above = {pid for monitor in monitors for pid in _line(monitor, by_pid)} | set(watchers)
    kept = [process for process in processes if monitors.isdisjoint(_line(process.pid, by_pid))]
    of_job = [process for process in kept if process.pid not in above or not _only_watches(process, target_pid)]
    needed = {pid for process in of_job for pid in _line(process.pid, by_pid)}
    return tuple(process for process in kept if process.pid in needed)


def _line(pid: int, by_pid: dict[int, ProcessInfo]) -> list[int]:
    """A process and its ancestors, as far as they are known."""
    line: list[int] = []
    while pid in by_pid and pid not in line:
        line.append(pid)
        pid = by_pid[pid].ppid
    return line


def _only_watches(process: ProcessInfo, target_pid: int) -> bool:
    """Above a monitor a shell, or Slurm's parent of one, is of the job only where something of the job is below it as well."""
    is_shell = is_wrapper(process) or is_session(process)
    return is_slurmstepd(process) or (is_shell and process.pid != target_pid)

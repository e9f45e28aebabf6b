"""From any process of a job to the top of its tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hwtop.job.launch.environment import job_key, rank_of, slurm_step_of
from hwtop.job.launch.launcher import (
    helper_kind,
    is_fork_server,
    is_python,
    is_python_server,
    is_session,
    is_side_program,
    is_slurmstepd,
    is_spawned,
    is_wrapper,
    launcher_kind,
    local_rank_argument,
    program_identity,
    program_name,
)
from hwtop.job.launch.ray import ray_job_of
from hwtop.model.process import ProcessInfo

Processes = Mapping[int, ProcessInfo]


def rank_number(process: ProcessInfo, processes: Processes) -> int | None:
    """Rank by environment, else by `--local_rank`; None where neither tells."""
    number = rank_of(process.env or {}, is_slurm_task(process, processes))
    return number if number is not None else local_rank_argument(process.cmdline or ())


def is_slurm_task(process: ProcessInfo, processes: Processes) -> bool:
    """Whether srun started it, at most wrappers in between. What a batch script starts itself is no task: it has no step."""
    if slurm_step_of(process.env or {}) is None:
        return False
    parent = processes.get(process.ppid)
    while parent is not None and is_wrapper(parent):
        parent = processes.get(parent.ppid)
    return is_slurmstepd(parent)


def unread_ranks(parent: ProcessInfo, children: Sequence[ProcessInfo]) -> tuple[ProcessInfo, ...]:
    """Ranks among the `children` of a Python program whose environments may not be read.

    Root in a container without CAP_SYS_PTRACE may see command lines only: two or more children that run the same script,
    another one than the parent's, are its ranks. Empty wherever some environment was read.
    """
    if not is_python(parent) or "env" not in parent.missing:
        return ()
    unread = [child for child in children if "env" in child.missing and is_python(child) and helper_kind(child) is None]
    count_of = Counter(program_identity(child) for child in unread)
    alone = (None, program_identity(parent))
    return tuple(child for child in unread if (ran := program_identity(child)) not in alone and count_of[ran] > 1)


def is_multiprocessing_child(child: ProcessInfo, parent: ProcessInfo) -> bool:
    """Whether `parent` started `child` through multiprocessing: spawned, by a fork server, or forked (same command line)."""
    if is_spawned(child) or is_fork_server(child):
        return True
    return bool(child.cmdline) and child.cmdline == parent.cmdline


def find_root(processes: Processes, target_pid: int, watchers: Sequence[int] = ()) -> int:
    """PID of the top of the job that `target_pid` belongs to; the same from each process of the job.

    `processes` holds the target, its ancestors and, to tell a job's script from a session's, the children of those.
    `watchers` are hwtop itself, first, and its ancestors: a script that started the monitor too is a session.

    Going up from child to parent, the parent belongs to the job when it is
    - a known launcher;
    - Python, and the child came from it through multiprocessing, or is a tool that it started;
    - Python, and the child's rank differs from its own: an own launcher. Test runners, notebook servers and programs that
      start known launchers as well count only when they start two or more ranks themselves. Any other Python parent (a server that merely started a launcher or a
      script) is unrelated, and the job ends below it;
    - a wrapper (shell script, timeout, ...) that runs nothing else, or that starts two or more ranks;
    - anything that starts two or more ranks.
    Wrappers and unknown programs in between belong when something above them does. Sessions end the way up.
    """
    climb = _Climb(processes, watchers)
    top = current = processes[target_pid]
    below = None if is_wrapper(current) else current
    seen = {target_pid}
    while (parent := processes.get(current.ppid)) is not None and parent.pid not in seen:
        seen.add(parent.pid)
        belongs = climb.belongs(parent, current, below)
        if belongs is False:
            break
        if belongs:
            top = parent
        if is_slurmstepd(parent):
            break
        current = parent
        below = below if is_wrapper(parent) else parent
    return top.pid


def orphaned_tops(processes: Processes, root_pid: int) -> tuple[int, ...]:
    """Tops of all trees of a job that has no common launcher here, the oldest first; only `root_pid` where it has one.

    Ranks outlive a launcher that was killed, each alone under init. They still carry what tells their job from others.
    Workers of Ray are children of its raylet, which serves other jobs, too.
    """
    root = processes[root_pid]
    ray_job = ray_job_of(root)
    if ray_job is not None:
        return _oldest_first(process for process in processes.values() if ray_job_of(process) == ray_job)
    key = job_key(root.env or {}, None)
    if key is None or launcher_kind(root) is not None or rank_number(root, processes) is None:
        return (root_pid,)
    return _oldest_first(
        process
        for process in processes.values()
        if process.ppid == root.ppid
        and job_key(process.env or {}, None) == key
        and launcher_kind(process) is None
        and rank_number(process, processes) is not None
    )


def _oldest_first(processes: Iterable[ProcessInfo]) -> tuple[int, ...]:
    return tuple(process.pid for process in sorted(processes, key=lambda p: (p.start_ticks, p.pid)))


class _Climb:
    """The question asked at each step on the way up."""

    def __init__(self, processes: Processes, watchers: Sequence[int]) -> None:
        self._processes = processes
        self._watchers = watchers
        self._children: dict[int, list[ProcessInfo]] = {}
        for process in processes.values():
            self._children.setdefault(process.ppid, []).append(process)

    def belongs(self, parent: ProcessInfo, child: ProcessInfo, below: ProcessInfo | None) -> bool | None:
        """True: part of the job; False: outside, stop; None: only if something above it is.

        `child` stands directly under `parent`, `below` is the nearest process that is no wrapper.
        """
        if is_slurmstepd(parent):
            return True
        if is_session(parent) or parent.pid == next(iter(self._watchers), None):
            return False
        if program_name(parent) == "raylet":
            return None  # it serves all jobs of a cluster, or only that of the driver above it
        if launcher_kind(parent) is not None or len(self._ranks_below(parent)) > 1:
            return True
        if program_name(child) == "raylet":  # a driver that called ray.init() starts its own; several are a cluster's
            raylets = [other for other in self._children[parent.pid] if program_name(other) == "raylet"]
            return is_python(parent) and not is_python_server(parent) and len(raylets) == 1
        if is_wrapper(parent):
            if parent.pid in self._watchers:
                return False
            return True if self._runs_only(parent, child) else None
        if is_python(parent):
            return self._belongs_to_python(parent, child, below)
        is_tool = below is not None and not is_python(below) and launcher_kind(below) is None
        return None if is_tool else False

    def _belongs_to_python(self, parent: ProcessInfo, child: ProcessInfo, below: ProcessInfo | None) -> bool:
        if below is None:
            return bool(self._ranks_below(child)) and not is_python_server(parent)
        if is_multiprocessing_child(below, parent) or helper_kind(below) is not None:
            return True
        number = rank_number(below, self._processes)
        if number is not None and launcher_kind(below) is None:
            is_own = not is_python_server(parent) and not self._starts_launchers(parent)
            return number == rank_number(parent, self._processes) or is_own
        if any(rank.pid == child.pid for rank in unread_ranks(parent, self._children.get(parent.pid, ()))):
            return not is_python_server(parent)
        is_tool = not is_python(below) and launcher_kind(below) is None
        return is_tool and not is_python_server(parent) and parent.pid not in self._watchers

    def _starts_launchers(self, process: ProcessInfo) -> bool:
        """A program that starts known launchers beside a rank serves several jobs: it is the launcher of none."""
        return any(launcher_kind(child) is not None for child in self._children.get(process.pid, ()))

    def _runs_only(self, wrapper: ProcessInfo, child: ProcessInfo) -> bool:
        others = (other for other in self._children.get(wrapper.pid, ()) if other.pid != child.pid)
        return all(is_side_program(other) or other.pid in self._watchers or other.state == "Z" for other in others)

    def _ranks_below(self, process: ProcessInfo) -> set[int]:
        """Rank numbers that its children (through wrappers) carry and it does not, if it is not a rank's own helpers."""
        numbers: set[int] = set()
        for child in self._children.get(process.pid, ()):
            if is_wrapper(child):
                numbers |= self._ranks_below(child)
            elif (number := rank_number(child, self._processes)) is not None and launcher_kind(child) is None:
                numbers.add(number)
        return numbers

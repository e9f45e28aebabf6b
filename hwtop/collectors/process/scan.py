"""All processes of this machine at one time, grouped into programs and jobs."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hwtop.collectors.host.user_names import user_name
from hwtop.collectors.process.files import read_bytes
from hwtop.collectors.process.roster import SCAN_LIMIT, Roster, watchers_of
from hwtop.job.launch.facts import of_tree
from hwtop.job.launch.launcher import (
    helper_kind,
    is_python,
    is_python_server,
    is_session,
    is_side_program,
    is_wrapper,
    launcher_kind,
    program_name,
    python_program,
)
from hwtop.job.launch.programs import SHELLS
from hwtop.job.launch.root import find_root, orphaned_tops
from hwtop.job.launch.tree import members
from hwtop.model.member import Member
from hwtop.model.process import JobCandidate, ProcessInfo, ProgramReading

_OTHER_LIMIT = 20
"""Programs that are neither Python nor a launcher: only those with the most CPU time are worth listing."""
_TITLE_LIMIT = 200
_NAME_LIMIT = 40
_READ_PROCESSES = 64
"""Of a job, whose files are looked at."""


class Tops:
    """Top of the tree that each process is in, found again only when a process has come, gone or become another one: it takes most of
    a scan, and most scans find nothing new."""

    def __init__(self) -> None:
        self._made_of: tuple[object, ...] | None = None
        self._tops: Mapping[int, int] = {}

    def of(self, processes: Mapping[int, ProcessInfo], watchers: Sequence[int]) -> Mapping[int, int]:
        """By PID; those that are in no tree, as sessions are, have none. None of `processes` is a zombie."""
        made_of = (watchers, tuple(map(of_tree, processes.values())))
        if made_of != self._made_of:
            self._tops, self._made_of = dict(_found_tops(processes, watchers)), made_of
        return self._tops


def _found_tops(processes: Mapping[int, ProcessInfo], watchers: Sequence[int]) -> Iterator[tuple[int, int]]:
    for pid, process in processes.items():
        if not is_session(process) and pid not in watchers:
            yield pid, orphaned_tops(processes, find_root(processes, pid, watchers))[0]


class Scan:
    """One scan of all processes, grouped into jobs."""

    def __init__(self, roster: Roster, own_pid: int, tops: Tops) -> None:
        pids = roster.pids()
        self.is_truncated = len(pids) > SCAN_LIMIT
        pids = pids[-SCAN_LIMIT:]
        roster.keep(pids)
        self.scanned = len(pids)
        self._tops = tops
        self._ticks_per_s = roster.ticks_per_s
        self._proc = roster.proc
        everything = roster.read(pids)
        self._watchers = watchers_of(own_pid, roster.proc)
        self._own = _descendants(everything, own_pid)
        self._processes = {
            pid: info
            for pid, info in everything.items()
            if pid not in self._own and not roster.is_kernel_thread(pid) and info.state != "Z"
        }

    def trees(self) -> dict[int, tuple[ProcessInfo, ...]]:
        """Root -> processes of its tree, without sessions."""
        groups: dict[int, list[ProcessInfo]] = {}
        for pid, top in self._tops.of(self._processes, self._watchers).items():
            groups.setdefault(top, []).append(self._processes[pid])
        return {root: tuple(group) for root, group in groups.items()}

    def jobs(
        self, trees: Mapping[int, tuple[ProcessInfo, ...]], other_limit: int = _OTHER_LIMIT
    ) -> dict[int, tuple[ProcessInfo, ...]]:
        """Those of the trees that are jobs: shells and what only runs next to a job are none."""
        jobs = {root: group for root, group in trees.items() if any(map(_is_program, group))}
        others = [root for root, group in jobs.items() if not any(map(_is_candidate, group))]
        others.sort(key=lambda root: -sum(p.user_ticks + p.system_ticks for p in jobs[root]))
        for root in others[other_limit:]:
            del jobs[root]
        return jobs

    def log_ages(self, jobs: Mapping[int, tuple[ProcessInfo, ...]]) -> dict[int, float]:
        """Root -> seconds since its newest log was written; of those that have one."""
        now_s, found = time.time(), {}
        for root, group in jobs.items():
            links = (f"{self._proc}/{each.pid}/fd/{number}" for each in group[:_READ_PROCESSES] for number in (1, 2))
            written = [at_s for link in links if (at_s := _written_s(link)) is not None]
            if written:
                found[root] = max(0.0, now_s - max(written))
        return found

    def program(self, root_pid: int, group: tuple[ProcessInfo, ...]) -> ProgramReading:
        """What a tree uses."""
        uid = _owner(self._proc, root_pid)
        held = [each.rss_bytes for each in group if each.rss_bytes is not None]
        return ProgramReading(
            pid=root_pid,
            name=_name(group),
            user="?" if uid is None else user_name(uid),
            cpu_ticks=sum(each.user_ticks + each.system_ticks for each in group),
            rss_bytes=sum(held) if held else None,
            pids=tuple(each.pid for each in group),
        )

    def candidate(self, root_pid: int, group: tuple[ProcessInfo, ...], up_s: float | None) -> JobCandidate:
        """What the list shows of one job."""
        root = self._processes[root_pid]
        of_job = members(group)
        ranks = [member for member in of_job if member.role == "rank"]
        uid = _owner(self._proc, root_pid)
        user = "?" if uid is None else user_name(uid)
        can_attach = os.geteuid() in (0, uid)
        return JobCandidate(
            pid=root_pid,
            kind=_kind(group, of_job),
            title=_title(root, group, of_job),
            user=user,
            ranks=len(ranks),
            age_s=None if up_s is None else max(0.0, up_s - root.start_ticks / self._ticks_per_s),
            can_attach=can_attach,
            folder=root.cwd,
            reason=None if can_attach else f"belongs to {user}: run hwtop as {user} or as root",
        )


def _kind(group: Iterable[ProcessInfo], of_job: Iterable[Member]) -> str:
    """ "training" needs a sign of it: a known or own launcher, a rank in the environment, or torch's process names."""
    processes = tuple(group)
    has_launcher = any(member.role == "launcher" for member in of_job)
    has_sign = any(_has_training_sign(process) for process in processes)
    if has_launcher or has_sign:
        return "training"
    return "python" if any(map(is_python, processes)) else "other"


def _has_training_sign(process: ProcessInfo) -> bool:
    env = process.env or {}
    if process.comm.startswith("pt_") or (is_python(process) and ("RANK" in env or "LOCAL_RANK" in env)):
        return True
    return helper_kind(process) == "compile-worker" and is_python(process)


def _is_candidate(process: ProcessInfo) -> bool:
    return is_python(process) or launcher_kind(process) is not None


def _is_program(process: ProcessInfo) -> bool:
    if helper_kind(process) in ("resource-tracker", "logger"):
        return False
    return not is_wrapper(process) and not is_side_program(process) and program_name(process) not in SHELLS


def _title(root: ProcessInfo, group: tuple[ProcessInfo, ...], of_job: tuple[Member, ...]) -> str:
    """Command of what matters most: the launcher, else the first rank, else the root; interpreter and its options left out."""
    by_pid = {process.pid: process for process in group}
    chosen = next((m.pid for m in of_job if m.role == "launcher"), None)
    chosen = chosen or next((m.pid for m in of_job if m.role == "rank"), None)
    process = by_pid[chosen] if chosen is not None else root
    argv = process.cmdline or (process.comm,)
    if is_python(process) and not is_python_server(process):
        program = python_program(argv)
        if program.kind in ("script", "module"):
            first = os.path.basename(program.name) if program.name.endswith("/torchrun") else program.name
            argv = (first, *program.arguments)
    return " ".join(argv)[:_TITLE_LIMIT]


def _name(group: Iterable[ProcessInfo]) -> str:
    """Of the process of a tree that has used most: its script or module, else its program."""
    busiest = max(group, key=lambda each: each.user_ticks + each.system_ticks)
    argv = busiest.cmdline or (busiest.comm,)
    if is_python(busiest) and not is_python_server(busiest):
        program = python_program(argv)
        if program.kind in ("script", "module"):
            return os.path.basename(program.name)[:_NAME_LIMIT]
    return program_name(busiest)[:_NAME_LIMIT]


def _written_s(link: str) -> float | None:
    """When the regular file behind it was written last, seconds after the epoch."""
    try:
        found = os.stat(link)
    except OSError:
        return None
    return found.st_mtime if stat.S_ISREG(found.st_mode) else None


def _descendants(processes: Mapping[int, ProcessInfo], pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.ppid, []).append(process.pid)
    found, pending = {pid}, [pid]
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


def _owner(proc: str, pid: int) -> int | None:
    try:
        return os.stat(f"{proc}/{pid}").st_uid
    except OSError:
        return None


def uptime_s(proc: str) -> float | None:
    """psutil has the boot time only: whole seconds of a clock that may be set meanwhile."""
    try:
        return float(read_bytes(f"{proc}/uptime").split()[0])
    except (OSError, ValueError, IndexError):
        return None

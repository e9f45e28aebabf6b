"""The kernel's log over time: which of its lines concern the job, and which of them still hold."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hwtop.derive.host.oom_count import OomCounter
from hwtop.job.kernel.event import (
    CLOCKS_S,
    CRASHES,
    GONE_S,
    PATH,
    Owner,
    Surroundings,
    lapses_after_s,
    of_job,
    of_kill,
    still_counts,
    takes_back,
)
from hwtop.job.kernel.mount_use import mounts_of
from hwtop.job.kernel.oom_report import OomKill, OomReports
from hwtop.job.patterns.kernel import kernel_registry
from hwtop.job.patterns.match import Matcher
from hwtop.model.host.kernel import LOG_KERN, KernelReading
from hwtop.model.job import Job
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.reported.log import LogEvent, LogLine
from hwtop.model.snapshot import Snapshot

SETTLE_S = 5.0
"""For so long after an event it is asked again whom it concerns: the end of a process, the GPUs and the mounts may be read
later than the kernel's line. Engineering default."""
_KEPT_EVENTS = 200
_KEPT_LINES = 100
_SHOWN_LEVEL = 3
"""Errors and worse (syslog(2)) are shown among the lines of the logs, and what matched a pattern; a warning of the kernel has a
page of registers and calls behind it."""
_KEPT_READINGS = 3
"""Thread ids are looked up in the newest readings: a thread that crashed was in the one before."""
_Timed = TypeVar("_Timed", bound=LogEvent | LogLine)
_PATH_IN_WORD = re.compile(r"(?:^|=)(/[^\s,:;]+)")


class _Reported(Struct):
    """Something that the kernel said, and what it means for the job."""

    source: LogEvent | OomKill
    is_past: bool
    event: LogEvent | None = None
    asked_at_s: float | None = None
    """When it was first asked whom it concerns."""
    is_settled: bool = False
    is_over: bool = False


class KernelBook:
    """Takes each snapshot in order (`advance`); `complete` adds the kernel's events and lines to the job."""

    def __init__(self) -> None:
        self._matcher = Matcher(kernel_registry(), repeat_limit=None)
        self._reports = OomReports()
        self._counter = OomCounter()
        self._reported: deque[_Reported] = deque(maxlen=_KEPT_EVENTS)
        self._lines: deque[LogLine] = deque(maxlen=_KEPT_LINES)
        self._readings: deque[ProcessReading] = deque(maxlen=_KEPT_READINGS)
        self._owners: dict[int, Owner] = {}
        self._crashed: dict[int, float] = {}
        self._began_at_s: float | None = None
        self._since_s: float | None = None
        self._newest: KernelReading | None = None
        self._lost = 0

    def advance(self, snapshot: Snapshot) -> None:
        """Take in the new lines, also before anything is known of the job."""
        self._counter.advance(snapshot)
        reading = snapshot.kernel
        if reading is None:
            return
        self._newest = reading
        self._lost += reading.lost_lines
        kernel = [line for line in reading.lines if line.facility == LOG_KERN]
        lines = [LogLine(path=PATH, line_no=None, text=e.text, at_s=e.at_s, is_past=e.is_past) for e in kernel]
        matched = set()
        for event in self._matcher.match(lines):
            matched.add((event.at_s, event.text))
            if "cleared" in event.groups:
                self._clear(event)
            elif event.pattern != "host-oom-kill":  # a whole report tells more than each of its lines
                self._reported.append(_Reported(event, event.is_past))
        for line, record in zip(lines, kernel, strict=True):
            if (kill := self._reports.add(line.text, line.at_s)) is not None:
                self._reported.append(_Reported(kill, line.is_past))
            if record.level <= _SHOWN_LEVEL or (line.at_s, line.text) in matched:
                self._lines.append(line)

    def complete(self, job: Job, snapshot: Snapshot, members: Sequence[Member]) -> Job:
        """The job with what the kernel's log tells of it, in order of time."""
        self._see(snapshot, members)
        if self._began_at_s is None:
            self._began_at_s = snapshot.at_s
        for rank in job.ranks:
            if not rank.is_alive and rank.exit_code in CRASHES:
                self._crashed.setdefault(rank.pid, snapshot.at_s)
        if any(self._is_open(reported) for reported in self._reported):
            around = self._surroundings(job, snapshot)
            for reported in self._reported:
                self._settle(reported, around, snapshot.at_s)
        events = [
            reported.event
            for reported in self._reported
            if reported.event is not None and _counts(reported, snapshot.at_s)
        ]
        if self._newest is None:  # the log may not be read
            events += self._counter.events(job, snapshot.at_s)
        lines = [line for line in self._lines if self._since_s is None or line.at_s >= self._since_s - CLOCKS_S]
        logs = replace(
            job.logs,
            events=_in_time(job.logs.events, events),
            lines=_in_time(job.logs.lines, lines),
            kernel_lost_lines=self._lost,
        )
        return replace(job, logs=logs)

    def _see(self, snapshot: Snapshot, members: Sequence[Member]) -> None:
        """Who belongs to the job; those that are gone stay known for a while, as their PIDs may come up a moment later."""
        reading = snapshot.process
        if reading is None or (self._readings and self._readings[-1].at_s == reading.at_s):
            return
        self._readings.append(reading)
        processes = {process.pid: process for process in reading.processes}
        self._owners = {
            pid: owner for pid, owner in self._owners.items() if reading.at_s - owner.to_s <= GONE_S + SETTLE_S
        }
        here = [
            Owner(
                pid=member.pid,
                role=member.role,
                rank=member.rank,
                from_s=_started_s(processes[member.pid], reading, snapshot),
                to_s=reading.at_s,
            )
            for member in members
            if member.pid in processes
        ]
        self._owners |= {owner.pid: owner for owner in here}
        ranks = [owner.from_s for owner in here if owner.role == "rank"]
        if ranks or self._since_s is None:
            self._since_s = min(ranks or [owner.from_s for owner in here], default=None)

    def _clear(self, clearing: LogEvent) -> None:
        for reported in self._reported:
            if isinstance(reported.source, LogEvent) and takes_back(clearing, reported.source):
                reported.is_over = True

    def _is_open(self, reported: _Reported) -> bool:
        return not reported.is_settled or (reported.event is not None and reported.event.pattern == "network-link")

    def _settle(self, reported: _Reported, around: Surroundings, at_s: float) -> None:
        if not reported.is_settled:
            source = reported.source
            reported.asked_at_s = at_s if reported.asked_at_s is None else reported.asked_at_s
            reported.is_settled = at_s - reported.asked_at_s >= SETTLE_S
            if source.at_s < around.since_s - CLOCKS_S:
                reported.event = None  # another run's
            elif isinstance(source, OomKill):
                reported.event = of_kill(source, reported.is_past, around)
            else:
                reported.event = of_job(source, around)
        if reported.event is not None and not still_counts(reported.event, around):
            reported.is_over = True

    def _surroundings(self, job: Job, snapshot: Snapshot) -> Surroundings:
        kernel, disk, network = self._newest, snapshot.disk, snapshot.network
        processes = self._readings[-1].processes if self._readings else ()
        is_early = self._began_at_s is None or snapshot.at_s - self._began_at_s < SETTLE_S
        gpu_ranks: dict[int, tuple[int, ...]] = {}
        for rank in job.ranks:
            for index in rank.gpus:
                gpu_ranks[index] = (*gpu_ranks.get(index, ()), rank.rank)
        return Surroundings(
            since_s=snapshot.at_s if self._since_s is None else self._since_s,
            owners=self._with_threads() if kernel is None or kernel.has_host_pids else {},
            crashed=self._crashed,
            cgroups=frozenset(process.cgroup for process in processes if process.cgroup),
            gpus=snapshot.gpu.gpus if snapshot.gpu else None if is_early else (),
            gpu_ranks=gpu_ranks,
            mounts=mounts_of(_paths(processes), disk.mounts) if disk else (),
            block_devices=kernel.block_devices if kernel else {},
            aliases=kernel.aliases if kernel else {},
            nics={nic.name: nic.is_up for nic in network.nics if not nic.is_virtual} if network else None,
        )

    def _with_threads(self) -> dict[int, Owner]:
        """A crash and a hung task are told by the number of the thread."""
        owners: dict[int, Owner] = {}
        for reading in self._readings:
            for process in reading.processes:
                if (owner := self._owners.get(process.pid)) is not None:
                    owners |= {thread.tid: owner for thread in process.threads}
        return owners | self._owners


def _counts(reported: _Reported, at_s: float) -> bool:
    if reported.is_over or reported.event is None:
        return False
    limit_s = lapses_after_s(reported.event)
    return limit_s is None or at_s - reported.event.at_s <= limit_s


def _started_s(process: ProcessInfo, reading: ProcessReading, snapshot: Snapshot) -> float:
    """On the clock of the snapshots; where the boot time is not known, when it was seen."""
    if reading.boot_time_s is None:
        return reading.at_s
    return snapshot.at_s - (snapshot.time_s - reading.boot_time_s - process.start_ticks / reading.ticks_per_s)


def _paths(processes: Iterable[ProcessInfo]) -> set[str]:
    """Absolute paths that the job uses: programs, working directories, open files, and what its command lines name."""
    paths: set[str] = set()
    for process in processes:
        paths |= {path for path in (process.exe, process.cwd) if path and path.startswith("/")}
        paths |= {file.target for file in process.files if file.target.startswith("/")}
        paths |= {found for word in process.cmdline or () for found in _PATH_IN_WORD.findall(word)}
    return paths


def _in_time(first: tuple[_Timed, ...], second: Sequence[_Timed]) -> tuple[_Timed, ...]:
    return tuple(sorted([*first, *second], key=lambda each: each.at_s)) if second else first

"""Jobs on this machine that one could attach to: the slow, bounded scan of all processes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.process.frameworks import Frameworks
from hwtop.collectors.process.roster import SCAN_LIMIT, Roster
from hwtop.collectors.process.scan import Scan, Tops, uptime_s
from hwtop.errors import UsageError
from hwtop.model.plan import SamplingPlan
from hwtop.model.process import CandidateReading, ProcessInfo, ProgramReading

_DEADLINE_S = 0.25
"""How long the files of all jobs together are waited for."""
_SHOWN_PROGRAMS = 8
"""So many trees with most CPU time, and so many with most memory."""
_KINDS = ("training", "python", "other")


class CandidateSource:
    """Scans every 5 s, at most 4096 processes, command lines only once."""

    name = "candidates"
    every_s = 5.0

    def __init__(
        self, proc: str = "/proc", now: Callable[[], float] = time.monotonic, own_pid: int | None = None
    ) -> None:
        """`own_pid` is hwtop's process (this one when None), which is no candidate."""
        self._now = now
        self._ticks: dict[int, int] = {}
        self._roster = Roster(proc, now)
        self._tops = Tops()
        self._frameworks = Frameworks(self._roster)
        self._own_pid = os.getpid() if own_pid is None else own_pid

    def probe(self) -> str | None:
        """Why there is nothing to scan."""
        return None if os.path.isdir(self._roster.proc) else f"no {self._roster.proc} on this system"

    def read(self) -> CandidateReading:
        """Training jobs first, the youngest first among equals."""
        scan = Scan(self._roster, self._own_pid, self._tops)
        up_s = uptime_s(self._roster.proc)
        trees = scan.trees()
        jobs = scan.jobs(trees)
        found = [scan.candidate(root, group, up_s) for root, group in jobs.items()]
        ages, loaded = self._of_files(scan, jobs, up_s)
        found = [replace(each, log_age_s=ages.get(each.pid), framework=loaded.get(each.pid)) for each in found]
        found.sort(key=lambda c: (_KINDS.index(c.kind), c.age_s if c.age_s is not None else 0.0))
        return CandidateReading(
            at_s=self._now(),
            candidates=tuple(found),
            scanned=scan.scanned,
            truncated=scan.is_truncated,
            programs=self._programs(scan, trees, jobs),
            ticks_per_s=self._roster.ticks_per_s,
        )

    def _of_files(
        self, scan: Scan, jobs: Mapping[int, tuple[ProcessInfo, ...]], up_s: float | None
    ) -> tuple[dict[int, float], dict[int, str | None]]:
        """Ages of the logs and what libraries are loaded. A file on a dead mount, or a map that is locked, may block: then neither is
        known."""
        reading = Abandonable(
            "candidate-files",
            lambda: (scan.log_ages(jobs), {root: self._frameworks.of(tree, up_s) for root, tree in jobs.items()}),
            self._now,
        )
        try:
            return reading.poll(_DEADLINE_S) or ({}, {})
        except (OSError, TimeoutError):
            return {}, {}

    def _programs(
        self, scan: Scan, trees: Mapping[int, tuple[ProcessInfo, ...]], jobs: Iterable[int]
    ) -> tuple[ProgramReading, ...]:
        ticks = {root: sum(each.user_ticks + each.system_ticks for each in tree) for root, tree in trees.items()}
        held = {root: sum(each.rss_bytes or 0 for each in tree) for root, tree in trees.items()}
        grown = {root: count - self._ticks.get(root, 0) for root, count in ticks.items()}
        self._ticks = ticks
        most = [sorted(by, key=lambda root: -by[root])[:_SHOWN_PROGRAMS] for by in (grown, held)]
        return tuple(scan.program(root, trees[root]) for root in dict.fromkeys((*jobs, *most[0], *most[1])))

    def set_plan(self, plan: SamplingPlan) -> None:
        """The scan is the same whatever is watched."""

    def close(self) -> None:
        """Nothing is held open."""


class ProgramSource:
    """The same scan next to a watched job, while the plan asks who else uses the machine."""

    name = CandidateSource.name
    every_s = CandidateSource.every_s

    def __init__(self, scan: CandidateSource | None = None) -> None:
        """`scan`: what is asked."""
        self._scan = scan or CandidateSource()
        self._is_asked = False

    def probe(self) -> str | None:
        """Why there is nothing to scan."""
        return self._scan.probe()

    def read(self) -> CandidateReading | None:
        """Names and use alone, without the command lines of others, which would go into recordings; None where nobody asks."""
        return replace(self._scan.read(), candidates=()) if self._is_asked else None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Whether anybody asks."""
        self._is_asked = plan.scans

    def close(self) -> None:
        """Nothing is held open."""


def find_by_name(pattern: str, proc: str = "/proc", own_pid: int | None = None) -> int:
    """PID of the top of the one job with a process whose command line matches `pattern` (a regular expression).

    Where several match, a training job is preferred to other Python programs, and those to the rest.

    Raises:
        UsageError: none or several match; the message lists what could have been meant.
    """
    try:
        expression = re.compile(pattern)
    except re.error:
        expression = re.compile(re.escape(pattern))
    scan = Scan(Roster(proc), os.getpid() if own_pid is None else own_pid, Tops())
    up_s = uptime_s(proc)
    jobs = scan.jobs(scan.trees(), other_limit=SCAN_LIMIT)
    matching = [
        scan.candidate(root, group, up_s)
        for root, group in jobs.items()
        if any(expression.search(" ".join(process.cmdline or (process.comm,))) for process in group)
    ]
    for kind in _KINDS:
        of_kind = sorted((c for c in matching if c.kind == kind), key=lambda c: c.age_s or 0.0)
        if len(of_kind) == 1:
            return of_kind[0].pid
        if of_kind:
            listed = "; ".join(f"{c.pid} {c.title[:60]}" for c in of_kind[:8])
            raise UsageError(f"{len(of_kind)} jobs match {pattern!r}, give the PID of one: {listed}")
    jobs_there = [scan.candidate(root, group, up_s) for root, group in jobs.items()]
    listed = "; ".join(f"{c.pid} {c.title[:60]}" for c in jobs_there if c.kind != "other")
    raise UsageError(f"no job matches {pattern!r}; running Python programs: {listed[:600] or 'none'}")

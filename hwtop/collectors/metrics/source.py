"""Metrics files of the job, found among its open files and in the folders it works in, and what they hold."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.batch import Batch
from hwtop.collectors.metrics.file import Clock, MetricsFileReader
from hwtop.collectors.metrics.search import search
from hwtop.job.metrics.files import identity, rank_in, writer_pid
from hwtop.job.metrics.owner import Found, of_this_job, run_of
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.metrics import MetricsFile, MetricsPoint, MetricsReading, MetricsTarget

_TOGETHER_S = 0.1
"""Wall time that all files together get in one reading; what takes longer comes in the next."""
_PARSE_S = 0.1
"""CPU time after which a reading begins no other file: it catches up with the past in turns."""
_MOST_BYTES = 1 << 20
"""Of one file in one turn."""
_SLOW_S = 3.0
"""A file that takes so long is not answering, rather than long."""
_SEARCH_EVERY_S = 15.0
_SEARCH_FIRST_S = 4.0
"""Distance of the first searches: a job that has just started has no files yet."""
_FIRST_SEARCHES = 3
_MOST_FILES = 24
"""Those written last."""


class MetricsSource:
    """Fills `Snapshot.metrics` with what is new in the files. One that blocks or fails is a reason, nothing else."""

    name = "metrics"
    every_s = 2.0

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        proc: str = "/proc",
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._now = now
        self._wall = wall
        self._proc = proc
        self._cpu = cpu
        self._targets: tuple[MetricsTarget, ...] = ()
        self._followed: tuple[str, ...] = ()
        self._search: Abandonable[list[tuple[Found, str]]] = Abandonable("metrics-search", self._find, now)
        self._searched_at_s: float | None = None
        self._searches = 0
        self._doubtful: tuple[str, ...] = ()
        self._began_s: float | None = None
        self._files: dict[str, MetricsFileReader] = {}
        self._arrived: deque[tuple[str, list[MetricsPoint]]] = deque()
        """What the reading threads have brought; one that was abandoned may append at any time."""
        self._read: set[str] = set()
        self._refusals: dict[str, str] = {}
        self._batch: Batch[str] = Batch("metrics", self._read_file, now)
        self._out_since_s: dict[str, float] = {}
        self._spent_s = 0.0
        self._clock: Clock | None = None

    def probe(self) -> str | None:
        """Always able to run."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take the processes that may write such files; what is followed as a log is not read twice."""
        self._targets = plan.metrics
        self._followed = tuple(target.path for target in plan.logs)

    def close(self) -> None:
        """No file stays open between two readings."""

    def read(self) -> MetricsReading | None:
        """What is new; None while no job is known."""
        if not self._targets:
            return None
        at_s = self._now()
        wall_s = self._wall()
        missing: dict[str, str] = {}
        is_first = self._began_s is None
        if self._began_s is None:
            self._began_s = wall_s
        self._look_around(at_s, missing)
        if self._doubtful:
            missing["runs"] = (
                f"several runs write metrics here, and it is unknown which one belongs to the job: {', '.join(self._doubtful[:4])}"
            )
        self._clock = Clock(at_s, wall_s, self._began_s, is_first or self._searches <= 1)
        self._spent_s = 0.0
        self._batch.run(self._in_turn(), _TOGETHER_S)
        points: dict[str, list[MetricsPoint]] = {}
        while self._arrived:
            key, some = self._arrived.popleft()
            points.setdefault(key, []).extend(some)
        files = tuple(self._reported(key, file, points.get(key, []), wall_s) for key, file in self._files.items())
        return MetricsReading(at_s=at_s, files=files, missing=missing)

    def _look_around(self, at_s: float, missing: dict[str, str]) -> None:
        every_s = _SEARCH_FIRST_S if self._searches <= _FIRST_SEARCHES else _SEARCH_EVERY_S
        is_due = self._searched_at_s is None or at_s - self._searched_at_s >= every_s
        if not is_due and self._search.out_for_s() == 0.0:
            return
        try:
            found = self._search.poll(_TOGETHER_S)
        except TimeoutError as error:
            missing["files"] = f"looking for metrics files: the file system is {error}"
            return
        self._searched_at_s, self._searches = at_s, self._searches + 1
        self._choose(found)

    def _find(self) -> list[tuple[Found, str]]:
        """In a thread that may be abandoned: (file, what stands before its path)."""
        groups: dict[str, list[MetricsTarget]] = {}
        for target in self._targets:
            groups.setdefault(self._root_of(target), []).append(target)
        found: list[tuple[Found, str]] = []
        doubtful: list[str] = []
        for root, targets in groups.items():
            since_s = min((target.started_s for target in targets if target.started_s is not None), default=0.0)
            files = [path for target in targets for path in target.files]
            folders = [folder for target in targets for folder in target.folders]
            folders += [os.path.dirname(path) for path in files]
            owned = of_this_job(search(folders, files, root, since_s, self._now), self._is_proven, self._wall())
            found += [(each, root) for each in owned.files]
            doubtful += owned.doubtful
        self._doubtful = tuple(doubtful)
        return sorted(found, key=lambda pair: -pair[0].modified_s)

    def _is_proven(self, path: str) -> bool:
        pid = writer_pid(path)
        return any(path in target.files or (pid is not None and pid == target.own_pid) for target in self._targets)

    def _root_of(self, target: MetricsTarget) -> str:
        """ "" where the process sees the same files as hwtop, else /proc/PID/root."""
        try:
            if os.readlink(f"{self._proc}/{target.pid}/ns/mnt") != os.readlink(f"{self._proc}/self/ns/mnt"):
                return f"{self._proc}/{target.pid}/root"
        except OSError:
            pass
        return ""

    def _choose(self, found: Sequence[tuple[Found, str]]) -> None:
        chosen = {identity(each.path): (each, root) for each, root in found[:_MOST_FILES]}
        for key, (each, root) in chosen.items():
            file = self._files.get(key)
            if each.path in self._followed:
                continue
            if file is None:
                file = self._files[key] = MetricsFileReader(each.path, f"{root}{each.path}", each.kind, self._uid())
            elif file.path != each.path:
                file.path, file.access = each.path, f"{root}{each.path}"
            file.console = each.console
            file.is_open = any(each.path in target.files for target in self._targets)
        gone = [key for key in self._files if key not in chosen]
        for key in gone[: max(0, len(self._files) - _MOST_FILES)]:
            del self._files[key]

    def _uid(self) -> int | None:
        return next((target.uid for target in self._targets if target.uid is not None), None)

    def _in_turn(self) -> list[str]:
        """Those first that were not read in the last reading: the time may not be enough for all."""
        certain = [key for key, file in self._files.items() if run_of(file.path, file.kind) not in self._doubtful]
        order = sorted(certain, key=lambda key: key in self._read)
        self._read = set()
        return order

    def _read_file(self, key: str) -> None:
        """In a thread that may be abandoned. Never raises."""
        file, clock = self._files.get(key), self._clock
        if file is None or clock is None or self._spent_s > _PARSE_S:
            return
        self._out_since_s[key] = self._now()
        started_s = self._cpu()
        try:
            self._arrived.append((key, file.read(clock, _MOST_BYTES)))
            self._refusals.pop(key, None)
        except OSError as error:
            self._refusals[key] = f"cannot read: {error.strerror or error}"
        self._out_since_s.pop(key, None)
        self._read.add(key)
        self._spent_s += self._cpu() - started_s

    def _reported(self, key: str, file: MetricsFileReader, points: list[MetricsPoint], wall_s: float) -> MetricsFile:
        out_s = self._now() - self._out_since_s.get(key, float("inf"))
        late = f"the file system has not answered for {out_s:.0f} s" if out_s >= _SLOW_S else None
        return MetricsFile(
            path=file.path,
            kind=file.kind,
            rank=self._rank_of(file.path),
            size_bytes=file.size_bytes,
            age_s=None if file.modified_s is None else max(0.0, wall_s - file.modified_s),
            has_times=file.has_times,
            points=tuple(points),
            unit=file.unit,
            total_steps=file.total_steps,
            skipped_bytes=file.skipped_bytes,
            broken=file.broken,
            console=None if key in self._refusals else file.console,
            reason=late or self._refusals.get(key, file.reason),
        )

    def _rank_of(self, path: str) -> int | None:
        """The process that has it open, else the one whose PID is in its name, else what its name says."""
        pid = writer_pid(path)
        for target in self._targets:
            if path in target.files and target.rank is not None:
                return target.rank
        for target in self._targets:
            if pid is not None and pid == target.own_pid and target.rank is not None:
                return target.rank
        return rank_in(path)

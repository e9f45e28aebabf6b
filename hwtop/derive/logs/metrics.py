"""What heartbeats and metrics files tell, over time: curves, and the progress of ranks whose logs do not tell it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from msgspec.structs import replace

from hwtop.derive.job.slot import RankProcesses
from hwtop.derive.logs.heartbeat import HeartbeatBook
from hwtop.derive.logs.step_clock import StepClock
from hwtop.job.metrics.files import kind_of
from hwtop.job.metrics.folders import folders_of
from hwtop.job.progress.curve_series import CurveSeries, curves_of
from hwtop.job.progress.reader import merged
from hwtop.job.progress.step_count import StepCount
from hwtop.job.progress.tracker import MEDIAN_STEPS
from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.job import Job
from hwtop.model.plan import LogTarget
from hwtop.model.process import ProcessReading
from hwtop.model.rank import Rank, RankProgress
from hwtop.model.reported.log import Progress
from hwtop.model.reported.metrics import MetricsFile, MetricsPoint, MetricsTarget
from hwtop.model.snapshot import Snapshot

_YOUNG_S = 10.0
"""A younger step proves life. An older one proves nothing: writers flush late (TensorBoard's after 120 s, tensorboard
SummaryWriter `flush_secs`), so the age of a file is not the age of a step. Engineering default."""
_READ_FILES = 16
"""Files with curves, the ones written last."""
_FIELDS = ("loss", "lr", "grad_norm", "loss_scale", "reward", "total_steps")
"""What a file may add to the progress of a log: numbers that mean the same whatever counts as a step."""


class MetricsBook:
    """Takes in each snapshot, and completes the job."""

    def __init__(self) -> None:
        self._files: dict[str, _FileBook] = {}
        self._heartbeats = HeartbeatBook()

    def complete(self, job: Job, snapshot: Snapshot) -> Job:
        """`job` with the curves of its metrics files and heartbeats, and with the steps that only they tell."""
        if snapshot.metrics is not None:
            for file in snapshot.metrics.files:
                self._files.setdefault(file.path, _FileBook()).take(file)
        self._heartbeats.take(snapshot.heartbeat)
        newest = sorted(self._files.values(), key=lambda book: -book.written_at_s(snapshot.at_s))[:_READ_FILES]
        ranks = tuple(self._completed(rank, job.ranks, newest, snapshot.at_s) for rank in job.ranks)
        curves = (
            *job.metrics.curves,
            *self._heartbeats.curves(),
            *(curve for book in newest for curve in book.curves()),
        )
        files = tuple(book.file for book in newest if book.file is not None)
        consoles = _consoles(job, files)
        return replace(
            job,
            ranks=ranks,
            metrics=replace(job.metrics, curves=curves, files=files),
            logs=replace(job.logs, targets=(*job.logs.targets, *consoles)),
        )

    def _completed(self, rank: Rank, ranks: Sequence[Rank], books: Sequence[_FileBook], at_s: float) -> Rank:
        lowest = min((each.rank for each in ranks), default=0)
        own = [book for book in books if book.speaks_for(rank.rank, lowest)]
        for book in sorted(own, key=lambda each: -(each.step_at_s or 0.0)):
            rank = book.completed(rank, at_s)
        return self._heartbeats.completed(rank, at_s)


class _FileBook:
    """One metrics file."""

    def __init__(self) -> None:
        self.file: MetricsFile | None = None
        """The newest reading, without its points."""
        self.step_at_s: float | None = None
        """When the newest step was told."""
        self._is_past = True
        self._read_at_s = 0.0
        self._series: dict[CurveName, CurveSeries] = {}
        self._counts: dict[CurveName, StepCount] = {}
        """One a quantity: some files tell one after the other."""
        self._clock = StepClock()
        self._paced_by: CurveName | None = None
        """The quantity whose steps and times tell the pace."""
        self._curves: tuple[Curve, ...] | None = ()
        self._progress = Progress()
        self._steps: deque[tuple[float, int]] = deque(maxlen=MEDIAN_STEPS + 1)

    def take(self, file: MetricsFile) -> None:
        """The next reading of the file."""
        self.file = replace(file, points=())
        for point in file.points:
            self._take(point)
        if file.total_steps is not None:
            self._progress = replace(self._progress, total_steps=file.total_steps)

    def _take(self, point: MetricsPoint) -> None:
        self._curves = None
        axis = _whole(point.epoch)
        if point.step is not None:  # a batch that starts over with each epoch goes on
            axis = self._counts.setdefault(point.name, StepCount()).take(point.step, None, point.epoch, None)
        is_exact = self.file is not None and self.file.kind != "csv"  # its writer chose the digits
        reported = CurvePoint(step=axis, at_s=point.at_s, value=point.value, is_past=point.is_past, is_exact=is_exact)
        self._series.setdefault(point.name, CurveSeries()).add(reported)
        self._measure(reported, point.name)
        changes: dict[str, object] = {point.name: point.value}
        if point.name == "throughput" and self.file is not None:
            changes["throughput_unit"] = self.file.unit or None
        if point.epoch is not None:
            changes["epoch"] = point.epoch
        if point.step is not None and point.step != self._progress.step:
            changes["step"] = point.step
            self.step_at_s, self._is_past = point.at_s, point.is_past
            if self._steps and point.step < self._steps[-1][1]:
                self._steps.clear()
            self._steps.append((point.at_s, point.step))
        self._progress = replace(self._progress, **changes)

    def _measure(self, point: CurvePoint, name: CurveName) -> None:
        """Seconds a step, where the file tells when each value was told but not how long a step takes."""
        if name == "step_time_s":
            self._paced_by = "step_time_s"
        if self.file is None or not self.file.has_times or point.step is None:
            return
        self._paced_by = self._paced_by or name
        if name != self._paced_by or name == "step_time_s":
            return
        for step, pace_s in self._clock.take(point.step, point.at_s):
            pace = CurvePoint(step=step, at_s=point.at_s, value=pace_s, is_past=point.is_past)
            self._series.setdefault("step_time_s", CurveSeries()).add(pace)

    def written_at_s(self, at_s: float) -> float:
        """When the file was last written, on the clock of `at_s`."""
        age_s = self.file.age_s if self.file is not None else None
        return float("-inf") if age_s is None else at_s - age_s

    def curves(self) -> tuple[Curve, ...]:
        """One a quantity; made anew only when something was told."""
        if self._curves is None and self.file is not None:
            self._curves = curves_of(self._series, self.file.unit, self.file.path, self.file.rank)
        return self._curves or ()

    def speaks_for(self, rank: int, lowest: int) -> bool:
        """Its writer, or the lowest rank where nobody knows who writes it."""
        return self.file is not None and rank == (lowest if self.file.rank is None else self.file.rank)

    def completed(self, rank: Rank, at_s: float) -> Rank:
        """The rank with what its log does not tell. What the log, or a newer file, does tell stays."""
        reported = self._progress
        known = rank.progress.newest
        if known is not None and known.step is not None:
            if known.step > (reported.total_steps or known.step):
                return rank  # the run of this file ends before: it is another one
            missing = {
                name: each
                for name in _FIELDS
                if getattr(known, name) is None and (each := getattr(reported, name)) is not None
            }
            if not missing:
                return rank
            return replace(rank, progress=replace(rank.progress, newest=replace(known, **missing)))
        if reported == Progress():
            return rank
        step_age_s = None if self.step_at_s is None else max(0.0, at_s - self.step_at_s)
        before = rank.progress
        progress = RankProgress(
            newest=merged(known, reported),
            reporter=self.file.path if self.file is not None else None,
            step_time_s=self._step_time_s() if before.step_time_s is None else before.step_time_s,
            step_age_s=step_age_s if step_age_s is not None and step_age_s < _YOUNG_S else before.step_age_s,
            reported_at_s=before.reported_at_s if self._is_past else self.step_at_s,
        )
        return replace(rank, progress=progress)

    def _step_time_s(self) -> float | None:
        """As the file tells it, else from its times; rows that were read together share theirs."""
        if self._progress.step_time_s is not None:
            return self._progress.step_time_s
        first_of = dict(self._steps)
        paces = [
            (later - earlier) / (after - before)
            for (earlier, before), (later, after) in pairwise(first_of.items())
            if after > before and later > earlier
        ]
        return median(paces) if paces else None


def metrics_targets(reading: ProcessReading, crews: Sequence[RankProcesses]) -> tuple[MetricsTarget, ...]:
    """Where metrics files and heartbeats of the ranks may be; and of processes that have such files open."""
    rank_of = {processes.process.pid: processes.member.rank for processes in crews}
    boot_s = reading.boot_time_s
    targets = []
    for process in reading.processes:
        files = tuple(
            file.target for file in process.files if kind_of(file.target, is_written=file.is_writable) is not None
        )
        if process.pid not in rank_of and not files:
            continue
        started_s = None if boot_s is None else boot_s + process.start_ticks / reading.ticks_per_s
        targets.append(
            MetricsTarget(
                pid=process.pid,
                own_pid=process.ns_pids[-1] if process.ns_pids else process.pid,
                rank=rank_of.get(process.pid),
                uid=process.uid,
                start_ticks=process.start_ticks,
                started_s=started_s,
                files=files,
                folders=folders_of(process),
            )
        )
    return tuple(targets)


def _consoles(job: Job, files: Sequence[MetricsFile]) -> tuple[LogTarget, ...]:
    """W&B's copies of what the runs print, where the output itself goes to a terminal or into a pipe that cannot be followed."""
    is_unreported = any(
        file.reason is not None and (not file.path.startswith("/") or file.path.startswith("/dev/"))
        for file in job.logs.files
    )
    if not is_unreported or not job.ranks:
        return ()
    pid_of = {rank.rank: rank.pid for rank in job.ranks}
    lowest = min(pid_of)
    return tuple(
        LogTarget(path=file.console, pids=(pid_of.get(lowest if file.rank is None else file.rank, pid_of[lowest]),))
        for file in files
        if file.console is not None
    )


def _whole(epoch: float | None) -> int | None:
    return None if epoch is None or epoch != int(epoch) else int(epoch)

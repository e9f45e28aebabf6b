"""Progress: what a log line says of the training, and what the lines of one rank say together."""

from __future__ import annotations

from collections import deque
from statistics import median

from msgspec import Struct, structs

from hwtop.job.log.parsed import ParsedLine
from hwtop.job.progress.line import parse
from hwtop.job.progress.lost_values import LostValues
from hwtop.job.progress.reader import ProgressReader, merged
from hwtop.job.progress.sample_count import SampleCount
from hwtop.job.progress.step_count import StepCount
from hwtop.model.curve import CurveName, CurvePoint
from hwtop.model.evidence import REPEATED
from hwtop.model.reported.log import LogLine, Progress

__all__ = ["ProgressReader", "ProgressTracker", "StepSample", "parse"]

MEDIAN_STEPS = 20
"""Step times, and times between two reports, that a median is taken of. Engineering default."""
_KEPT_SERIES = 512
_MEASURED_UNIT = "samples/s"
_IMPOSSIBLE = 3.0
"""Times the distance of two lines: no step of theirs takes so long. Engineering default."""
_PAUSE = 3.0
"""Times the usual time of a step: an evaluation or a checkpoint came in between. Engineering default."""
_LIKE = 0.25
"""A reported time that differs by less from the time from line to line, over several steps, is that time. Engineering
default."""
_FOREIGN_BAR_S = 300.0
"""A bar of another length takes over when the known one has been silent for that long. Engineering default."""


class StepSample(Struct, frozen=True, kw_only=True):
    """One step that a line told."""

    at_s: float
    step: int
    loss: float | None
    step_time_s: float | None


class Measured(Struct, frozen=True):
    """What the arrival of lines tells: the time of a step, or how much work a second, where the counter counts samples."""

    name: CurveName
    unit: str
    point: CurvePoint


class _Arrival(Struct, frozen=True):
    """What one read brought: its time, the last step told, how many lines told one."""

    at_s: float
    step: int
    lines: int
    run_step: int


class ProgressTracker:
    """Merges the progress lines of one file and rank over time. Pure: the only clock is `LogLine.at_s`."""

    def __init__(self) -> None:
        self._reader = ProgressReader()
        self._newest: Progress | None = None
        self._series: deque[StepSample] = deque(maxlen=_KEPT_SERIES)
        self._reported: deque[float] = deque(maxlen=MEDIAN_STEPS)
        self._arrived: deque[tuple[float, int]] = deque(maxlen=MEDIAN_STEPS)
        """(seconds, steps) from one read of the file to the next one that brought a step."""
        self._gaps: deque[float] = deque(maxlen=MEDIAN_STEPS)
        self._last_step_at_s: float | None = None
        self._count = StepCount()
        self._run_step: int | None = None
        self._heading_epoch: float | None = None
        self._measured: Measured | None = None
        self._samples = SampleCount()
        self.lost = LostValues()
        self.takes_times_back = False
        """The newest line has shown that the times before it were no times of steps, but those since the start."""
        self._counts_samples = False
        self._suspect: int | None = None
        self._trusted: int | None = None
        self._live: _Arrival | None = None
        self._anchor: _Arrival | None = None
        self._line_at_s: float | None = None
        self._steps_a_time = 1.0
        """How many steps a told time is of: `step 40 took 3.4 s` where each fifth step is told."""

    @property
    def newest(self) -> Progress | None:
        """The newest value of each field seen; None before the first progress line."""
        return self._newest

    @property
    def step_time_s(self) -> float | None:
        """Of the last 20: the median as the lines tell it, else from their arrival."""
        if self._reported:
            return median(self._reported)
        return self._arrived_s() if self._arrived and not self._counts_samples else None

    @property
    def log_interval_s(self) -> float | None:
        """Median gap between live lines that told a new step."""
        return median(self._gaps) if self._gaps else None

    @property
    def last_step_at_s(self) -> float | None:
        """When a line last told a new step; a past line counts as told when it was read."""
        return self._last_step_at_s

    @property
    def run_step(self) -> int | None:
        """The newest step, counted over all epochs where the told one starts over with each."""
        return self._run_step

    @property
    def measured(self) -> Measured | None:
        """A pace from the arrival of lines, once: after the line that shows that all lines of a read have been taken."""
        return self._measured

    @property
    def series(self) -> tuple[StepSample, ...]:
        """The newest 512 told steps, oldest first."""
        return tuple(self._series)

    def add(self, line: ParsedLine) -> Progress | None:
        """Take one line. Returns what it told, None when it is not about this training's progress."""
        self._measured = None
        were_elapsed = self._reader.are_elapsed
        progress = self._reader.read_line(line)
        self.takes_times_back = self._reader.are_elapsed and not were_elapsed
        if self.takes_times_back:
            self._reported.clear()
        if progress is None or self._is_other_bar(progress, line.source.at_s):
            return None
        if progress.step_time_s is None and progress.throughput and _is_steps(progress.throughput_unit):
            progress = structs.replace(progress, step_time_s=1.0 / progress.throughput)
        if progress.step_time_s is not None and self._steps_a_time > 1:
            progress = structs.replace(progress, step_time_s=progress.step_time_s / self._steps_a_time)
        if progress.loss is not None and progress.step is None and self._suspect is not None:
            self._trusted = self._suspect
        previous = self._newest
        self._newest = merged(previous, progress)
        self._line_at_s = line.source.at_s
        if progress.step is None and progress.loss is None and progress.epoch is not None:
            self._heading_epoch = progress.epoch
        if progress.step is not None:
            self._counts_samples = self._samples.take(line.text, progress)
        self._take_lost(line, progress)
        if progress.step is not None and self._is_new_step(progress, progress.step, previous):
            self._step(line.source, progress, progress.step)
        elif progress.loss is not None and self._series and self._series[-1].loss is None:
            self._series[-1] = structs.replace(self._series[-1], loss=progress.loss)
        return structs.replace(progress, step_time_s=self._newest.step_time_s) if self.takes_times_back else progress

    def _take_lost(self, line: ParsedLine, progress: Progress) -> None:
        if progress.step is not None:
            self.lost.take(self._reader.with_names(line), progress.step)
        elif progress.epoch is not None:
            self.lost.take(self._reader.with_names(line), int(progress.epoch), "epoch")

    def _is_new_step(self, progress: Progress, step: int, previous: Progress | None) -> bool:
        epoch = self._newest.epoch if self._newest else None
        reported_epoch = progress.epoch if progress.epoch is not None else self._heading_epoch
        before, self._run_step = self._run_step, self._count.take(step, progress.total_steps, epoch, reported_epoch)
        return previous is None or previous.step != step or before != self._run_step

    def _step(self, line: LogLine, progress: Progress, step: int) -> None:
        if progress.step_time_s is not None:
            self._reported.append(progress.step_time_s)
        if not line.is_past:
            self._arrival(line.at_s, step)
            self._compare_times(progress)
        self._last_step_at_s = line.at_s
        self._series.append(StepSample(at_s=line.at_s, step=step, loss=progress.loss, step_time_s=progress.step_time_s))

    def _compare_times(self, progress: Progress) -> None:
        """Told times against the clock: are they of one step, or of all since the line before?"""
        if self._steps_a_time > 1 or progress.step_time_s is None or len(self._arrived) < REPEATED:
            return
        gap_s, reported_s = median(self._gaps), median(self._reported)
        if reported_s > _IMPOSSIBLE * gap_s:
            self._reader.times_are_elapsed()
            self.takes_times_back = True
            self._reported.clear()
            if self._newest is not None:
                self._newest = structs.replace(self._newest, step_time_s=None)
            return
        steps = gap_s / self._arrived_s()
        if steps < 2 or abs(reported_s / gap_s - 1) > _LIKE:
            return
        self._steps_a_time = steps
        self._reported = deque((each / steps for each in self._reported), maxlen=MEDIAN_STEPS)
        if self._newest is not None and self._newest.step_time_s is not None:
            self._newest = structs.replace(self._newest, step_time_s=self._newest.step_time_s / steps)

    def _arrived_s(self) -> float:
        """Seconds a step over all of them, without pauses: one read brings one line or two, so that no single one tells."""
        usual_s = median(seconds / steps for seconds, steps in self._arrived)
        kept = [(seconds, steps) for seconds, steps in self._arrived if seconds <= _PAUSE * usual_s * steps]
        return sum(seconds for seconds, _ in kept) / sum(steps for _, steps in kept)

    def _arrival(self, at_s: float, step: int) -> None:
        """Lines of one read arrive together: they share the time since the read before."""
        if self._live is None or step <= self._live.step:
            first = _Arrival(at_s, step, 1, self._run_step or step)
            self._live, self._anchor = first, None  # the first, or back to a checkpoint or a new epoch
            return
        if at_s > self._live.at_s:
            self._measured = self._last_read()
            self._anchor, self._live = self._live, _Arrival(at_s, step, 1, self._run_step or step)
        else:
            self._live = _Arrival(self._live.at_s, step, self._live.lines + 1, self._run_step or step)
            if self._anchor is None:
                return
            self._arrived.pop()
            self._gaps.pop()
        since_s = self._live.at_s - self._anchor.at_s
        self._gaps.append(since_s / self._live.lines)
        self._arrived.append((since_s, step - self._anchor.step))
        self._tell_samples()

    def _tell_samples(self) -> None:
        """The samples of a second, where the counter counts them and no line tells a rate."""
        known = self._newest
        if not self._counts_samples or known is None or known.throughput_unit not in (None, _MEASURED_UNIT):
            return
        self._newest = structs.replace(known, throughput=1.0 / self._arrived_s(), throughput_unit=_MEASURED_UNIT)

    def _last_read(self) -> Measured | None:
        live, anchor = self._live, self._anchor
        if live is None or anchor is None or live.step <= anchor.step:
            return None
        value = (live.at_s - anchor.at_s) / (live.step - anchor.step)
        if self._counts_samples:
            return Measured(
                "throughput", _MEASURED_UNIT, CurvePoint(step=live.run_step, at_s=live.at_s, value=1.0 / value)
            )
        return Measured("step_time_s", "", CurvePoint(step=live.run_step, at_s=live.at_s, value=value))

    def _is_other_bar(self, progress: Progress, at_s: float) -> bool:
        """A bar of another length without loss: evaluation, a download, a data map.

        It is the training's after all when a loss is told while it runs, or when the known one has been silent for long.
        """
        known = self._newest
        if known is None or known.total_steps is None or known.step is None or self._line_at_s is None:
            return False
        if progress.total_steps in (None, known.total_steps, self._trusted):
            self._suspect = self._suspect if progress.step is None else None
            return False
        if progress.loss is not None or progress.lr is not None or at_s - self._line_at_s >= _FOREIGN_BAR_S:
            return False
        if known.step >= known.total_steps and known.loss is None:
            return False
        self._suspect = progress.total_steps
        return True


def _is_steps(unit: str | None) -> bool:
    return unit in {"it/s", "steps/s"}

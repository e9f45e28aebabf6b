"""Heartbeats over time: the step and the pace of each rank that has one, and its curves."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from statistics import median

from msgspec.structs import replace

from hwtop.job.metrics.names import meaning
from hwtop.job.progress.curve_series import CurveSeries, curves_of
from hwtop.job.progress.reader import merged
from hwtop.job.progress.tracker import MEDIAN_STEPS
from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.rank import Rank, RankProgress
from hwtop.model.reported.heartbeat import Beat, HeartbeatReading, Pulse
from hwtop.model.reported.log import Progress

_OVERDUE_S = 10.0
"""A log that has reported a step so much later than the newest beat is believed: the program no longer calls `heartbeat`.
Engineering default."""
_KEPT_RANKS = 4
"""The lowest ranks that have one: in data parallel training all tell nearly the same."""


class HeartbeatBook:
    """Takes in each reading, and answers for each rank."""

    def __init__(self) -> None:
        self._ranks: dict[int, _Heart] = {}

    def take(self, reading: HeartbeatReading | None) -> None:
        """The new beats of all processes that are ranks."""
        for pulse in reading.pulses if reading is not None else ():
            if pulse.rank is None:
                continue
            heart = self._ranks.get(pulse.rank)
            if heart is None or heart.pid != pulse.pid:
                heart = self._ranks[pulse.rank] = _Heart(pulse.pid, pulse.rank)
            heart.take(pulse)

    def curves(self) -> tuple[Curve, ...]:
        """Of the lowest ranks."""
        return tuple(curve for rank in sorted(self._ranks)[:_KEPT_RANKS] for curve in self._ranks[rank].curves())

    def completed(self, rank: Rank, at_s: float) -> Rank:
        """The rank with what its heartbeat tells, unless its log has told a step since."""
        heart = self._ranks.get(rank.rank)
        if heart is None or heart.pid != rank.pid:
            return rank
        return heart.completed(rank, at_s)


class _Heart:
    """The heartbeat of one rank's process."""

    def __init__(self, pid: int, rank: int) -> None:
        self.pid = pid
        self._rank = rank
        self._progress = Progress()
        self._step_at_s: float | None = None
        self._is_past = True
        self._steps: deque[tuple[float, int]] = deque(maxlen=MEDIAN_STEPS + 1)
        self._series: dict[CurveName, CurveSeries] = {}
        self._unit = ""
        self._refused: tuple[str, ...] = ()
        self._curves: tuple[Curve, ...] | None = ()

    def take(self, pulse: Pulse) -> None:
        self._refused = pulse.refused
        for beat in pulse.beats:
            self._curves = None
            self._take_step(beat, pulse.is_first)
            self._take_values(beat, pulse.is_first)

    def curves(self) -> tuple[Curve, ...]:
        if self._curves is None:
            self._curves = curves_of(self._series, self._unit, f"heartbeat of rank {self._rank}", self._rank)
        return self._curves

    def completed(self, rank: Rank, at_s: float) -> Rank:
        if self._step_at_s is None:
            if self._progress == Progress():
                return rank
            newest = merged(self._progress, rank.progress.newest or Progress())
            return replace(rank, progress=replace(rank.progress, newest=newest))
        if rank.progress.reported_at_s is not None and rank.progress.reported_at_s > self._step_at_s + _OVERDUE_S:
            return rank
        gaps = [later - earlier for (earlier, _), (later, _) in pairwise(self._steps)]
        progress = RankProgress(
            newest=merged(rank.progress.newest, self._progress),
            reporter=self._source(),
            step_time_s=self._progress.step_time_s or rank.progress.step_time_s,
            step_age_s=max(0.0, at_s - self._step_at_s),
            reported_at_s=rank.progress.reported_at_s if self._is_past else self._step_at_s,
        )
        interval_s = median(gaps) if gaps else rank.log.interval_s
        return replace(rank, progress=progress, log=replace(rank.log, interval_s=interval_s))

    def _source(self) -> str:
        """The source, with the names of values that were not numbers, e.g. tensors."""
        names = ", ".join(name.rpartition("/")[2] for name in self._refused)
        return f"heartbeat; not a plain number: {names}" if names else "heartbeat"

    def _take_step(self, beat: Beat, is_past: bool) -> None:
        if beat.step is None or beat.step == self._progress.step:
            return
        if self._steps and beat.step < self._steps[-1][1]:
            self._steps.clear()  # back to a checkpoint, or a new epoch
        if self._steps:
            before_s, before = self._steps[-1]
            pace_s = (beat.at_s - before_s) / (beat.step - before)
            self._add("step_time_s", beat.step, beat.at_s, pace_s, is_past)
        self._steps.append((beat.at_s, beat.step))
        self._step_at_s, self._is_past = beat.at_s, is_past
        paces = [(later - earlier) / (after - before) for (earlier, before), (later, after) in pairwise(self._steps)]
        self._progress = replace(
            self._progress, step=beat.step, step_time_s=median(paces) if paces else self._progress.step_time_s
        )

    def _take_values(self, beat: Beat, is_past: bool) -> None:
        step = beat.step if beat.step is not None else self._progress.step
        for tag, value in beat.values.items():
            if tag == "total_steps":
                self._progress = replace(self._progress, total_steps=int(value) if abs(value) < 2**62 else None)
                continue
            focused = meaning(tag)
            if (
                focused is None
                or focused.name == "step"
                or focused.name == "iteration"
                or focused.name == "step_time_s"
            ):
                continue  # the pace is measured here, better than it can be told
            if focused.name == "epoch":
                self._progress = replace(self._progress, epoch=value)
                continue
            changes: dict[str, object] = {focused.name: value * focused.factor}
            if focused.name == "throughput":
                self._unit = focused.unit
                changes["throughput_unit"] = focused.unit
            self._progress = replace(self._progress, **changes)
            self._add(focused.name, step, beat.at_s, value * focused.factor, is_past)

    def _add(self, name: CurveName, step: int | None, at_s: float, value: float, is_past: bool) -> None:
        point = CurvePoint(step=step, at_s=at_s, value=value, is_past=is_past, is_exact=True)
        self._series.setdefault(name, CurveSeries()).add(point)

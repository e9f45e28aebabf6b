"""Curves over time: what the training told over its steps, from the one rank that tells most of each quantity."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from hwtop.derive.logs.step_clock import StepClock
from hwtop.job.log.time import reported_s
from hwtop.job.progress.curve_series import CurveSeries
from hwtop.job.progress.labels import labels_of
from hwtop.job.progress.tracker import Measured
from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.reported.log import LogLine, Progress

Teller = tuple[str, int | None]
"""A path, and the rank whose lines these are; None where nothing tells it."""
_NAMES: tuple[CurveName, ...] = get_args(CurveName)
_KEPT_TELLERS = 8
"""Tellers whose points are kept for one quantity: hundreds of ranks that all tell their loss would fill the memory."""
_CLEARLY = 1.5
"""Another source takes over when it has this many times the points: two ranks that report alike never take turns.
Engineering default."""


class CurveBook:
    """Takes what each progress line told, and answers with one curve a quantity.

    A pace that the lines do not tell is measured: by the time that each line begins with, else by when it arrived.
    """

    def __init__(self) -> None:
        self._books: dict[CurveName, _Quantity] = {name: _Quantity() for name in _NAMES}
        self._arrived: dict[CurveName, _Quantity] = {name: _Quantity() for name in _NAMES}
        self._written = _Quantity()
        self._clocks: dict[Teller, StepClock] = {}

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Those that have points."""
        made = [self._books[name].curve(name) or self._measured(name) for name in _NAMES]
        return tuple(curve for curve in made if curve is not None)

    def take(self, reporter: Teller, progress: Progress, step: int | None, line: LogLine) -> None:
        """Take in one line. `step` counts over the whole run; None where no step is known yet."""
        written_s = reported_s(line.text)
        for name in _NAMES:
            value = getattr(progress, name)
            if value is None:
                continue
            unit = (progress.throughput_unit or "") if name == "throughput" else ""
            is_mean = name in (progress.means or ()) or (name == "loss" and _is_of_epoch(progress))
            point = CurvePoint(
                step=step,
                at_s=line.at_s,
                value=value,
                is_past=line.is_past,
                is_exact=name in (progress.zeros or ()),
                labels=labels_of(line.text, progress) if name == "loss" else (),
                written_s=written_s,
            )
            self._books[name].take(reporter, unit, point, is_mean)
        if written_s is None or step is None or progress.step is None:
            return
        for each, pace_s in self._clocks.setdefault(reporter, StepClock()).take(step, written_s):
            point = CurvePoint(step=each, at_s=line.at_s, value=pace_s, is_past=line.is_past, written_s=written_s)
            self._written.take(reporter, "", point, False)

    def take_back(self, name: CurveName, reporter: Teller) -> None:
        """What this teller told of it was something else."""
        self._books[name].drop(reporter)

    def take_arrival(self, reporter: Teller, measured: Measured) -> None:
        """Take in a pace that was measured by the arrival of lines."""
        self._arrived[measured.name].take(reporter, measured.unit, measured.point, False)

    def _measured(self, name: CurveName) -> Curve | None:
        """Where the counter counts samples, their arrival tells: what is written there is no step."""
        counts_samples = self._arrived["throughput"].curve("throughput") is not None
        is_written = name == "step_time_s" and not counts_samples
        return (self._written.curve(name) if is_written else None) or self._arrived[name].curve(name)


def _is_of_epoch(progress: Progress) -> bool:
    """The line sums up an epoch: it tells its number and the loss, but no step nor what goes with one."""
    return progress.step is None and progress.epoch is not None and progress.lr is None and progress.grad_norm is None


class _Quantity:
    """The points of one quantity, from the tellers that told most of it."""

    def __init__(self) -> None:
        self._reported: Counter[Teller] = Counter()
        self._series: dict[Teller, CurveSeries] = {}
        self._units: dict[Teller, str] = {}
        self._means: set[Teller] = set()
        self._reporter: Teller | None = None
        self._made: Curve | None = None

    def take(self, reporter: Teller, unit: str, point: CurvePoint, is_mean: bool) -> None:
        series = self._series.get(reporter) or self._admitted(reporter)
        self._reported[reporter] += 1
        if series is None:
            return
        if self._units.setdefault(reporter, unit) != unit:
            return  # the same line in another unit: not the same quantity
        if is_mean and len(series) and reporter not in self._means:
            return  # the sum of an epoch whose steps were told
        last = series.newest
        if last is not None and point.step is not None and (last.step, last.value) == (point.step, point.value):
            return  # a bar that is redrawn
        series.add(point)
        (self._means.add if is_mean else self._means.discard)(reporter)
        self._made = None
        if self._reporter is None or self._is_clearly_more(reporter, self._reporter):
            self._reporter = reporter

    def curve(self, name: CurveName) -> Curve | None:
        if self._reporter is None:
            return None
        if self._made is None:
            path, rank = self._reporter
            points = self._series[self._reporter].points
            self._made = Curve(
                name=name,
                unit=self._units[self._reporter],
                source=path,
                rank=rank,
                is_mean=self._reporter in self._means,
                points=points,
            )
        return self._made

    def drop(self, reporter: Teller) -> None:
        if self._series.pop(reporter, None) is None:
            return
        del self._units[reporter], self._reported[reporter]
        self._means.discard(reporter)
        self._made = None
        if reporter == self._reporter:
            self._reporter = max(self._series, key=lambda key: len(self._series[key]), default=None)

    def _admitted(self, reporter: Teller) -> CurveSeries | None:
        """A new series for the teller, in the place of the one that told least where there are too many."""
        if len(self._series) >= _KEPT_TELLERS:
            least = min((key for key in self._series if key != self._reporter), key=lambda key: self._reported[key])
            if self._reported[reporter] <= self._reported[least]:
                return None
            del self._series[least], self._units[least]
        return self._series.setdefault(reporter, CurveSeries())

    def _is_clearly_more(self, reporter: Teller, other: Teller) -> bool:
        return reporter != other and len(self._series[reporter]) > _CLEARLY * len(self._series[other]) + 1

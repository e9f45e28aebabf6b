"""Series: the curves as the numeric rules read them. One curve a quantity, of the newest run only, numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from statistics import median

from msgspec import Struct

from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.reported.log import Progress
from hwtop.seconds import clock
from hwtop.symptoms.history import History

_BEGINNING = 5
"""A run is seen from its beginning where it begins within so many of its usual distances between two points. Engineering
default."""


class Series(Struct, frozen=True):
    """The points of the newest run of one curve, oldest first."""

    curve: Curve
    points: tuple[CurvePoint, ...]
    """Those whose value is a number."""

    @property
    def values(self) -> list[float]:
        """Without their steps."""
        return [point.value for point in self.points]

    def around(self, point: CurvePoint) -> float | None:
        """The value that was told last at or before `point`, by step where both tell it, else by time."""
        return next((each.value for each in reversed(self.points) if not _is_after(each, point)), None)

    def ranks(self) -> tuple[int, ...]:
        """Whose it is."""
        return () if self.curve.rank is None else (self.curve.rank,)


def series_of(history: History, name: CurveName) -> Series | None:
    """The curve of this quantity that is still told, longest first; None where there is none."""
    return history.once(_series_of, name)


def _series_of(history: History, name: CurveName) -> Series | None:
    curve = curve_of(history, name)
    if curve is None:
        return None
    return Series(curve, tuple(point for point in run_of(history, name) if isfinite(point.value)))


def curve_of(history: History, name: CurveName) -> Curve | None:
    """The same, as it was told."""
    curves = [
        curve for curve in (history.job.metrics.curves if history.job else ()) if curve.name == name and curve.points
    ]
    return max(curves, key=lambda curve: (not curve.points[-1].is_past, len(curve.points)), default=None)


def run_of(history: History, name: CurveName) -> Sequence[CurvePoint]:
    """The points of its newest run, those that are no number too; none where nobody reports it."""
    return history.once(_run_of, name)


def _run_of(history: History, name: CurveName) -> Sequence[CurvePoint]:
    curve = curve_of(history, name)
    return newest_run(curve.points) if curve is not None else ()


def newest_run(points: Sequence[CurvePoint]) -> Sequence[CurvePoint]:
    """The points since the step last went back: a restart from a checkpoint is another run."""
    begin = 0
    last: int | None = None
    for index, point in enumerate(points):
        if point.step is None:
            continue
        if last is not None and point.step < last:
            begin = index
        last = point.step
    return points[begin:]


def total_steps(history: History, at_step: int | None = None) -> int | None:
    """How many steps the training is to have, where its log tells. `at_step` is one that it has reached, over all epochs."""
    ranks = history.job.ranks if history.job else ()
    reported = [_total_of(rank.progress.newest, at_step) for rank in ranks if rank.progress.newest]
    return max((steps for steps in reported if steps is not None), default=None)


def share_done(history: History, point: CurvePoint) -> float | None:
    """Of the whole training at this point; None where its length or the step is not told."""
    total = total_steps(history, point.step)
    return None if not total or point.step is None else min(1.0, point.step / total)


def _total_of(progress: Progress, at_step: int | None) -> int | None:
    """The told total may be that of one epoch: the steps have gone past it, or are further in it than the epoch in the training."""
    total, epochs = progress.total_steps, progress.total_epochs
    if not total:
        return None
    if at_step is not None and at_step > total:
        return total * epochs if epochs else None
    if epochs is None or epochs == 0 or progress.step is None or progress.epoch is None:
        return total
    return total * epochs if progress.step / total > (progress.epoch + 1) / epochs else total


def learning_rates(history: History) -> Series | None:
    """Those of the newest run; None where none is told."""
    found = series_of(history, "lr")
    return found if found is not None and found.points else None


def neighbours(history: History, point: CurvePoint) -> tuple[str, ...]:
    """What the learning rate and the gradient norm were there."""
    lines = []
    for series, name in (
        (learning_rates(history), "learning rate"),
        (series_of(history, "grad_norm"), "gradient norm"),
    ):
        if series is not None and (value := series.around(point)) is not None:
            lines.append(f"{name} there {value:.3g} (median of the run {median(series.values):.3g})")
    return tuple(lines)


def when(history: History, point: CurvePoint) -> str:
    """ "at 14:02:10 (step 1200)", by the line's own clock before hwtop attached; "at step 1200" where that has none, or ""."""
    step = f"step {point.step}" if point.step is not None else ""
    if point.is_past and point.written_s is None:
        return f"at {step}" if step else "before hwtop attached"
    if point.is_past and point.written_s is not None:
        minutes, second = divmod(int(point.written_s) % 86_400, 60)
        written = f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    else:
        time_s = history.now.time_s - (history.now.at_s - point.at_s)
        written = clock(time_s)
    return f"at {written} ({step})" if step else f"at {written}"


def step_distance(points: Sequence[CurvePoint]) -> float | None:
    """Usual number of steps from one point to the next."""
    gaps = [
        later.step - earlier.step
        for earlier, later in pairwise(points)
        if earlier.step is not None and later.step is not None and later.step > earlier.step
    ]
    return median(gaps) if gaps else None


def is_whole(series: Series) -> bool:
    """Is the beginning of the run among the points?"""
    first = series.points[0].step
    return first is not None and first <= _BEGINNING * max(1.0, step_distance(series.points) or 1.0)


def _is_after(point: CurvePoint, other: CurvePoint) -> bool:
    if point.step is not None and other.step is not None:
        return point.step > other.step
    return point.at_s > other.at_s

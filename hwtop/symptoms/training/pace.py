"""Pace: the step times (or the throughput) of the newest run as the rules about slowing down read them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from statistics import fmean, median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.model.evidence import LEVEL_VALUES, MINOR
from hwtop.model.rank import PastPace
from hwtop.seconds import span
from hwtop.symptoms.excursions import BASE_LEAST
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import limits_of
from hwtop.symptoms.statistics import block_medians, change_point, trend
from hwtop.symptoms.training.series import Series, series_of, step_distance

AFTER_POINTS = 10
"""Values after the change: evaluation, a checkpoint or a slow batch end sooner, or are reported as one step. Engineering
default."""
DOUBLED = 2.0
"""Times the level before: few values prove so large a change. Engineering default."""
FEW_BEFORE_POINTS = 25
"""Values before a change to twice the level. Engineering default."""
WARM_POINTS = 10
"""The first values of a run, unless it has run before the watch: compilation, autotuning, caches that fill. Engineering default."""


CLOCK_S = 5.0
"""Between two values, to compare them with the clock: a file is read once a second. Engineering default."""


PACE = limits_of("throughput-drop")


class Pace(Struct, frozen=True):
    """Seconds a step (or a unit of throughput), with warm-up left out."""

    series: Series
    points: tuple[CurvePoint, ...]
    values: list[float]
    is_throughput: bool
    steps_a_value: float
    """Where each 20th step is reported, a value is the mean of 20 steps, and so many fewer of them tell as much."""

    @property
    def is_long(self) -> bool:
        """There are values enough for changes that are small, or not in all of them."""
        return len(self.values) >= FEW_BEFORE_POINTS + AFTER_POINTS

    def least(self, steps: int) -> int:
        """The values that so many steps make."""
        return needed(steps, self.steps_a_value)

    def shown(self, value: float) -> str:
        """As the log tells it."""
        if self.is_throughput:
            unit = self.series.curve.unit
            return f"{1 / value:.4g}{f' {unit}' if unit else ''}"
        return f"{value:.3g} s"


def pace_of(history: History, is_throughput: bool) -> Pace | None:
    """Of one of the two quantities; None before there are values enough, of a job that has ended, and of rates that are means since the start."""
    series = series_of(history, "throughput" if is_throughput else "step_time_s")
    if series is None or history.job is None or history.job.has_ended:
        return None
    if is_throughput and is_since_start(series.points):
        return None
    steps = max(1.0, step_distance(series.points) or 1.0)
    warm = 0 if _is_warm(history, series) else ceil(WARM_POINTS / steps)
    points = tuple(point for point in series.points[warm:] if point.value > 0)
    values = [1 / point.value if is_throughput else point.value for point in points]
    least = needed(FEW_BEFORE_POINTS, steps) + needed(AFTER_POINTS, steps)
    return Pace(series, points, values, is_throughput, steps) if len(points) >= least else None


def is_since_start(points: Sequence[CurvePoint]) -> bool:
    """Are these rates all work since the start over all time since then, as some libraries tell them? They become slower for minutes after a
    fast beginning. The clock tells: steps over such a rate are the time since the start, and grow by what has passed; of a rate
    of its own, each value needs that time for the steps since the value before."""
    known = _on_clock(points)
    if not _is_timed(known):
        return False
    (first, first_step, begin_s), (last, last_step, end_s) = known[0], known[-1]
    passed_s = end_s - begin_s
    since_start_s = last_step / last.value - first_step / first.value
    of_each_s = sum((step - before) / each.value for (_, before, _), (each, step, _) in pairwise(known))
    return abs(since_start_s - passed_s) < min(abs(of_each_s - passed_s), MINOR * passed_s)


def is_timed(points: Sequence[CurvePoint]) -> bool:
    """Does the clock tell enough to know whether these are rates since the start?"""
    return _is_timed(_on_clock(points))


def _is_timed(known: Sequence[tuple[CurvePoint, int, float]]) -> bool:
    return len(known) >= LEVEL_VALUES and known[-1][2] - known[0][2] >= CLOCK_S


def _on_clock(points: Sequence[CurvePoint]) -> list[tuple[CurvePoint, int, float]]:
    """Those with a step and a time, each with these."""
    return [
        (each, each.step, clock_s)
        for each in points
        if each.step is not None and each.value > 0 and (clock_s := _clock(each)) is not None
    ]


def _clock(point: CurvePoint) -> float | None:
    """When it was told: by its line, else by its arrival."""
    return point.written_s if point.written_s is not None else None if point.is_past else point.at_s


def _is_warm(history: History, series: Series) -> bool:
    """The first value was told live, after steps that the job has taken before."""
    past = [rank.log.past_pace.steps for rank in history.live_ranks if rank.log.past_pace is not None]
    return not series.points[0].is_past and max(past, default=0) >= WARM_POINTS


def needed(steps: int, steps_a_value: float) -> int:
    """How many values so many steps make, where each is the mean of several; few are no level."""
    return max(LEVEL_VALUES, ceil(steps / steps_a_value))


def paces(history: History) -> list[tuple[Pace, Pace | None]]:
    """What is told, each with its second witness. Tokens a second stay the same where only the sequences grow longer."""
    times, throughput = pace_of(history, is_throughput=False), pace_of(history, is_throughput=True)
    return [(one, other) for one, other in ((times, throughput), (throughput, times)) if one is not None]


def past_of(history: History, series: Series | None) -> PastPace | None:
    """What the steps before the watch can have taken at most, by the age of the job; None where too few are known."""
    if series is None:
        return None
    rank = next((rank for rank in history.live_ranks if rank.rank in (series.curve.rank, 0)), None)
    past = rank.log.past_pace if rank is not None else None
    return past if past is not None and past.steps >= BASE_LEAST else None


def past_words(past: PastPace) -> str:
    """The same as evidence."""
    written_s = span(past.steps * past.step_s)
    return f"the job wrote {past.steps} steps in its first {written_s}, start-up included: at most {past.step_s:.3g} s each"


def lasted_s(pace: Pace, at: int) -> float:
    """From this point to the newest: by the clock, else (written before hwtop attached) by what the steps took."""
    first, last = pace.points[at], pace.points[-1]
    by_clock_s = last.at_s - first.at_s
    if not first.is_past or pace.is_throughput:
        return by_clock_s if not first.is_past else float("inf")
    return max(by_clock_s, sum(pace.values[at:]) * (step_distance(pace.points[at:]) or 1.0))


def agrees(other: Pace, change: CurvePoint, least: float) -> bool:
    """Is the other quantity slower too, after this point?"""
    after = [value for point, value in zip(other.points, other.values, strict=True) if _is_from(point, change)]
    before = other.values[: len(other.values) - len(after)]
    if len(after) < AFTER_POINTS // 2 or len(before) < AFTER_POINTS:
        return True
    return median(after) >= (1 + least) * median(before)


def _is_from(point: CurvePoint, change: CurvePoint) -> bool:
    if point.step is not None and change.step is not None:
        return point.step >= change.step
    return point.at_s >= change.at_s


def is_steadier(values: Sequence[float]) -> bool:
    """Does a straight line explain the values better than a step? Then the time rises little by little."""
    blocks = block_medians(values)
    line = trend(blocks)
    middle = median(value - line.slope * index for index, value in enumerate(blocks))
    at, _ = change_point(blocks, 2)
    levels = [median(blocks[:at])] * at + [median(blocks[at:])] * (len(blocks) - at) if at else []
    of_line = fmean(abs(value - middle - line.slope * index) for index, value in enumerate(blocks))
    return bool(levels) and of_line < fmean(abs(value - level) for value, level in zip(blocks, levels, strict=True))

"""Answers: what the curves prove where no rule has found anything. A "no" says how much of the run was seen, and what would show."""

from __future__ import annotations

from statistics import median

from hwtop.model.evidence import MOSTLY
from hwtop.symptoms.excursions import BASE_LEAST
from hwtop.symptoms.history import History
from hwtop.symptoms.result import Result
from hwtop.symptoms.statistics import block_medians, jitter, spread, trend
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.loss import SPIKE, jumps
from hwtop.symptoms.training.pace import AFTER_POINTS, FEW_BEFORE_POINTS, PACE, WARM_POINTS, Pace
from hwtop.symptoms.training.series import Series, newest_run, series_of, step_distance, when
from hwtop.symptoms.training.slowdown import SPREADS
from hwtop.symptoms.training.trend import rises


def not_learning(history: History) -> Result:
    """Whether the loss still falls, without a jump."""
    loss = series_of(history, "loss")
    if history.job is None or history.job.has_ended or not any(rank.progress.newest for rank in history.live_ranks):
        return Result("unknown", "no live rank reports its progress")
    if loss is None or not loss.points:
        return Result("unknown", "no loss in a log or metrics file")
    values = loss.values
    seen = f"{len(values)} losses{_steps(loss)}, newest {values[-1]:.4g}"
    if len(values) < BASE_LEAST:
        return Result("unknown", f"{seen}; {BASE_LEAST} are needed")
    found = history.once(jumps, SPIKE)
    if found:
        newest = when(history, loss.points[found[-1].begin])
        count = "1 jump" if len(found) == 1 else f"{len(found)} jumps"
        return Result("unknown", f"{seen}; {count}, the newest {newest} to {found[-1].peak:.4g}")
    half = values[len(values) // 2 :]
    falls = trend(block_medians(half)).high < 0
    base = median(half)
    limit = base + max(SPIKE.spreads * spread(half), SPIKE.above_share * abs(base))
    text = f"{seen}; none above {limit:.3g}" if max(half) <= limit else f"{seen}; no jump"
    if falls:
        return Result("no", f"{text}, and it falls")
    return Result("unknown", f"{text}; it does not fall in the second half (noise {jitter(half):.2g})")


def slower_since_the_start(history: History) -> Result:
    """Whether a change of the pace would have been seen in the step times that are known."""
    known = [each for each in history.once(rises) if each[0].is_long]
    if not known:
        return Result("unknown", _too_few(history))
    pace, _, risen = max(known, key=lambda each: len(each[0].values))
    least = max(PACE.slower_share, SPREADS * spread(pace.values) / median(pace.values))
    what = "throughputs" if pace.is_throughput else "step times"
    if risen is not None and risen[1] >= (1 + PACE.slower_share) * risen[0]:
        text = f"it rises from {pace.shown(risen[0])} to {pace.shown(risen[1])} in {len(pace.values)} {what}{_steps(pace.series)}"
        return Result("unknown", f"{text}: too short to distinguish a trend from a stretch of longer steps")
    text = f"no change of {percent(least)} or more, no trend in {len(pace.values)} {what}{_steps(pace.series)}"
    unseen = _unseen_share(history, pace)
    if unseen > MOSTLY:
        return Result("unknown", f"{text}; of the reported steps before, no time is known")
    if least >= 1.0:
        return Result("unknown", f"{text}: they differ too much from step to step")
    newest = pace.values[-pace.least(AFTER_POINTS) :]
    earlier = pace.values[: -len(newest)]
    if median(newest) >= (1 + least) * median(earlier):
        slower = (
            f"{pace.shown(median(newest))} in the newest {len(newest)} {what}, {pace.shown(median(earlier))} before"
        )
        return Result("unknown", f"{slower}: not yet for long enough to be a change")
    return Result("no", text)


def _too_few(history: History) -> str:
    told = (series_of(history, "step_time_s"), series_of(history, "throughput"))
    counts = [len(series.points) for series in told if series is not None]
    known, needed = max(counts, default=0), WARM_POINTS + FEW_BEFORE_POINTS + AFTER_POINTS
    if known >= needed:
        return f"{known} step times known, not enough of them in the present run"
    return f"{known} step times known; {needed} are needed"


def _unseen_share(history: History, pace: Pace) -> float:
    """Of the steps that some line told: those before the first one with a time."""
    curves = history.job.metrics.curves if history.job else ()
    steps = [
        point.step
        for curve in curves
        if curve.source == pace.series.curve.source
        for point in newest_run(curve.points)[:1]
        if point.step is not None
    ]
    first, last = pace.series.points[0].step, pace.series.points[-1].step
    if not steps or first is None or last is None or last <= min(steps):
        return 0.0
    return max(0.0, first - min(steps) - (step_distance(pace.series.points) or 1.0)) / (last - min(steps))


def _steps(series: Series) -> str:
    first, last = series.points[0].step, series.points[-1].step
    return "" if first is None or last is None else f" of steps {first} to {last}"

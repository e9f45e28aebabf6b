"""throughput-drop, step-time-rising: the training has become slower, at once or little by little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.model.frame import Moment
from hwtop.model.gpu import Gpu
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.series import Series, series_of, step_distance, when
from hwtop.symptoms.statistics import block_medians, change_point, spread, trend

SLOWER = 0.15
"""A step time that rose by so much. Engineering default: below that clocks, heat and neighbours come and go."""
AFTER_POINTS = 10
"""Values after the change: evaluation, a checkpoint or a slow batch end sooner, or are told as one step."""
AFTER_S = 20.0
"""... and so much time: with quick steps ten are over in a moment. Neighbours, caches and importing processes come and go."""
BEFORE_POINTS = 50
WARM_POINTS = 10
"""The first values of a run: compilation, autotuning, caches that fill."""
WINDOW = 500
SURE = 5.0
"""Standard scores of the change: neighbouring steps are not independent, so two or three prove nothing. Engineering default."""
SPREADS = 2.0
"""... and by so many standard deviations of the bulk: where sequences differ much in length a change must be large."""
USUAL_REACH = 0.5
"""No stretch of the same length before the change came so far up the way: lengths that vary, sorted batches and buckets do."""
RISE_POINTS = 120
RISE_S = 60.0
RISE_TAU = 0.6
"""Order of the block medians (Kendall's tau): 1 = each is above all before it."""
SCALED_BY_INTERVAL = 0.15
"""A value that changed like the distance of the log's steps is a sum over that distance."""
_BLOCKS = 30
_ENDS = 5
_AROUND_S = 45.0
"""What else moved is asked of so much time before and after the change."""
_MOVED = 0.15


class _Pace(Struct, frozen=True):
    """Seconds a step (or a unit of throughput), with warm-up left out."""

    series: Series
    points: tuple[CurvePoint, ...]
    values: list[float]
    is_throughput: bool

    def shown(self, value: float) -> str:
        """As the log tells it."""
        if self.is_throughput:
            unit = self.series.curve.unit
            return f"{1 / value:.4g}{f' {unit}' if unit else ''}"
        return f"{value:.3g} s"


class _Drop(Struct, frozen=True):
    at: int
    """Index of the first slow value."""
    before: float
    after: float
    score: float


def _pace(history: History, is_throughput: bool) -> _Pace | None:
    series = series_of(history, "throughput" if is_throughput else "step_time_s")
    if series is None or history.job is None or history.job.has_ended:
        return None
    points = tuple(point for point in series.points[WARM_POINTS:] if point.value > 0)[-WINDOW:]
    values = [1 / point.value if is_throughput else point.value for point in points]
    return _Pace(series, points, values, is_throughput) if len(points) >= BEFORE_POINTS + AFTER_POINTS else None


def check_drop(history: History) -> Observation | None:
    """From one point on steps take longer, and still do."""
    for pace, other in _paces(history):
        drop = _drop(pace)
        if drop is None or _is_steadier(pace.values):
            continue
        if other is not None and not _agrees(other, pace.points[drop.at], SLOWER / 2):
            return None
        return _dropped(history, pace, drop)
    return None


def _paces(history: History) -> list[tuple[_Pace, _Pace | None]]:
    """What is told, each with its second witness. Tokens a second stay the same where only the sequences grow longer."""
    times, throughput = _pace(history, is_throughput=False), _pace(history, is_throughput=True)
    return [(one, other) for one, other in ((times, throughput), (throughput, times)) if one is not None]


def _drop(pace: _Pace) -> _Drop | None:
    """The largest of the changes that hold."""
    values = pace.values
    drops = [drop for at, score in _changes(values, 0, 3) if (drop := _proven(pace, at, score)) is not None]
    return max(drops, key=lambda drop: drop.after / drop.before, default=None)


def _changes(values: Sequence[float], begin: int, depth: int) -> list[tuple[int, float]]:
    """Places and scores: the clearest, then the clearest on either side of it (binary segmentation). A small early change may
    be clearer by rank than the large late one."""
    at, score = change_point(values, AFTER_POINTS)
    if depth == 0 or abs(score) < SURE:
        return []
    left, right = _changes(values[:at], begin, depth - 1), _changes(values[at:], begin + at, depth - 1)
    return [*left, (begin + at, score), *right]


def _proven(pace: _Pace, at: int, score: float) -> _Drop | None:
    values = pace.values
    if score < 0 or at < BEFORE_POINTS or _lasted_s(pace, at) < AFTER_S:
        return None
    before, after = median(values[:at]), median(values[at:])
    now = median(values[-AFTER_POINTS:])
    step = after - before
    is_slower = min(after, now) >= (1 + SLOWER) * before and step > SPREADS * spread(values[:at])
    if not is_slower or _was_usual(values[:at], len(values) - at, before + USUAL_REACH * step):
        return None
    slow = sum(value > before + USUAL_REACH * step for value in values[at:])
    if slow < 0.7 * (len(values) - at) or _follows_the_interval(pace.points, at, after / before):
        return None
    return _Drop(at, before, after, score)


def _lasted_s(pace: _Pace, at: int) -> float:
    """From this point to the newest: by the clock, else (written before hwtop attached) by what the steps took."""
    first, last = pace.points[at], pace.points[-1]
    by_clock_s = last.at_s - first.at_s
    if not first.is_past or pace.is_throughput:
        return by_clock_s if not first.is_past else float("inf")
    return max(by_clock_s, sum(pace.values[at:]) * (step_distance(pace.points[at:]) or 1.0))


def _was_usual(before: Sequence[float], length: int, limit: float) -> bool:
    """Has any stretch before, as long as the slow one (at most a third of all), been as slow?"""
    size = max(3, min(length, len(before) // 3))
    starts = range(0, len(before) - size + 1, max(1, size // 4))
    return any(median(before[start : start + size]) >= limit for start in starts)


def _follows_the_interval(points: Sequence[CurvePoint], at: int, ratio: float) -> bool:
    earlier, later = step_distance(points[:at]), step_distance(points[at:])
    if earlier is None or later is None or abs(later / earlier - 1) < SCALED_BY_INTERVAL:
        return False
    return abs(ratio / (later / earlier) - 1) < SCALED_BY_INTERVAL


def _agrees(other: _Pace, change: CurvePoint, least: float) -> bool:
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


def _is_steadier(values: Sequence[float]) -> bool:
    """Does a straight line explain the values better than a step? Then the time rises little by little."""
    blocks = block_medians(values, _BLOCKS)
    line = trend(blocks)
    middle = median(value - line.slope * index for index, value in enumerate(blocks))
    at, _ = change_point(blocks, 2)
    levels = [median(blocks[:at])] * at + [median(blocks[at:])] * (len(blocks) - at) if at else []
    of_line = fmean(abs(value - middle - line.slope * index) for index, value in enumerate(blocks))
    return bool(levels) and of_line < fmean(abs(value - level) for value, level in zip(blocks, levels, strict=True))


def _dropped(history: History, pace: _Pace, drop: _Drop) -> Observation:
    change = pace.points[drop.at]
    size = drop.after / drop.before - 1
    what = f"fell {1 - 1 / (1 + size):.0%}" if pace.is_throughput else f"rose {size:.0%}"
    subject = "Throughput" if pace.is_throughput else "Step time"
    count = len(pace.values) - drop.at
    moved = _moved(history, change)
    return Observation(
        severity="warning",
        confidence=0.85 if size > 2 * SLOWER else 0.7,
        title=f"{subject} {what} {when(history, change)}, from {pace.shown(drop.before)} to {pace.shown(drop.after)}",
        evidence=(
            f"median of {drop.at} values before: {pace.shown(drop.before)}; of {count} after: {pace.shown(drop.after)}",
            f"no stretch before was as slow, by rank {drop.score:.0f} standard scores apart",
            f"median of the newest {AFTER_POINTS}: {pace.shown(median(pace.values[-AFTER_POINTS:]))}",
            *moved,
        ),
        next_steps=(
            *(("Begin with what moved at the same time (above)",) if moved else ()),
            "Did another job start then? top -b -n1 | head -20; nvidia-smi   # foreign processes on the same cores or GPUs",
            "Compare the phases of a rank then and now: data, collective, forward, checkpoint (hwtop diagnose PID --for 60s)",
            "Did the data change there: longer sequences, another shard, the cache full?",
        ),
        ranks=pace.series.ranks(),
    )


_WITNESSES: tuple[tuple[str, str, Callable[[Moment], float | None]], ...] = (
    ("CPU of the machine", "%", lambda moment: moment.cpu.util_pct if moment.cpu else None),
    ("CPU time stolen by the host", "%", lambda moment: moment.cpu.steal_pct if moment.cpu else None),
    ("waiting for storage", "%", lambda moment: moment.cpu.iowait_pct if moment.cpu else None),
    (
        "CPU quota used up",
        "% of periods",
        lambda moment: moment.cgroup.throttled_periods_pct if moment.cgroup else None,
    ),
    ("GPU clock", "MHz", lambda moment: _mean_gpu(moment, lambda gpu: gpu.sm_clock_mhz)),
    ("GPU utilisation", "%", lambda moment: _mean_gpu(moment, lambda gpu: gpu.util_pct)),
    ("GPU power", "W", lambda moment: _mean_gpu(moment, lambda gpu: gpu.power_w)),
    ("GPU temperature", "°C", lambda moment: _mean_gpu(moment, lambda gpu: gpu.temp_c)),
)


def _moved(history: History, change: CurvePoint) -> tuple[str, ...]:
    """What else changed there, of what hwtop has seen before and after."""
    if change.is_past:
        return ()
    before = [moment for moment in history.moments if 0 < change.at_s - moment.at_s <= _AROUND_S]
    after = [moment for moment in history.moments if 0 <= moment.at_s - change.at_s <= _AROUND_S]
    lines = []
    for name, unit, value in _WITNESSES:
        old = [known for moment in before if (known := value(moment)) is not None]
        new = [known for moment in after if (known := value(moment)) is not None]
        if min(len(old), len(new)) < 5:
            continue
        was, now = median(old), median(new)
        if abs(now - was) > max(_MOVED * abs(was), 5.0, spread(old), spread(new)):
            lines.append(f"moved at the same time: {name} from {was:.0f} to {now:.0f} {unit}")
    return tuple(lines)


def check_rising(history: History) -> Observation | None:
    """Steps take longer and longer, with no single change that explains it."""
    for pace, other in _paces(history):
        values = pace.values
        if len(values) < RISE_POINTS or _lasted_s(pace, 0) < RISE_S:
            continue
        blocks = block_medians(values, _BLOCKS)
        line, newest = trend(blocks), trend(blocks[len(blocks) // 2 :])
        start, now = median(blocks[:_ENDS]), median(blocks[-_ENDS:])
        is_rising = now >= (1 + SLOWER) * start and line.low > 0 and line.tau >= RISE_TAU and newest.tau > 0
        if not is_rising or not _is_steadier(values):
            continue
        middle = pace.points[len(pace.points) // 2]
        if other is not None and not _agrees(other, middle, SLOWER / 4):
            return None
        return _rising(history, pace, start, now)
    return None


def _rising(history: History, pace: _Pace, start: float, now: float) -> Observation:
    first, last = pace.points[0], pace.points[-1]
    steps = f" over {last.step - first.step} steps" if last.step is not None and first.step is not None else ""
    since = when(history, first).removeprefix("at ")
    what = "Throughput falls" if pace.is_throughput else "Step time rises"
    return Observation(
        severity="warning",
        confidence=0.7,
        title=f"{what} little by little since {since}: from {pace.shown(start)} to {pace.shown(now)}",
        evidence=(
            f"line through {_BLOCKS} medians of {len(pace.values)} values{steps} (Theil-Sen, 95 % sure to rise)",
            "one single change explains them less well",
        ),
        next_steps=(
            "Does anything grow with the steps? Lists of losses that keep their graph (use loss.item()), metrics, caches, hooks",
            "hwtop PID   # memory of the ranks, temperature and clocks of the GPUs over the same time",
            "torch.cuda.memory_summary()   # fragmentation: many retries, much reserved but not allocated",
            "Do sequences or batches grow by plan? Then tokens a second must stay the same: log them",
        ),
        ranks=pace.series.ranks(),
    )


def _mean_gpu(moment: Moment, value: Callable[[Gpu], float | None]) -> float | None:
    known = [found for gpu in moment.gpus if (found := value(gpu)) is not None]
    return fmean(known) if known else None


RULES = (
    Rule(
        symptom="throughput-drop",
        category="performance",
        threshold=(
            f"one change by {SLOWER:.0%} or more ({SURE:.0f} standard scores, rank sums), {AFTER_POINTS} values and {AFTER_S:.0f} s ago or more and still so, "
            f"after {BEFORE_POINTS} values of which no stretch was as slow"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_drop,
    ),
    Rule(
        symptom="step-time-rising",
        category="performance",
        threshold=(
            f"line through {_BLOCKS} medians of at least {RISE_POINTS} values ({RISE_S:.0f} s) rises by {SLOWER:.0%} (95 % sure, tau {RISE_TAU:g}), and "
            "explains them better than one change"
        ),
        raise_s=5.0,
        clear_s=30.0,
        check=check_rising,
    ),
)

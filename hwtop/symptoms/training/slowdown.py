"""throughput-drop: from one point on the training is slower, and what moved with it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.model.curve import CurvePoint
from hwtop.symptoms.excursions import BASE_LEAST
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.others import may_slow
from hwtop.symptoms.level_shift import Shift, separated, shifts
from hwtop.symptoms.rule import Limits, Observation, observed
from hwtop.symptoms.runs.earlier import earlier_evidence
from hwtop.symptoms.statistics import block_medians
from hwtop.symptoms.text import percent
from hwtop.symptoms.training import trend
from hwtop.symptoms.training.attribution import Move, moves
from hwtop.symptoms.training.pace import (
    AFTER_POINTS,
    DOUBLED,
    FEW_BEFORE_POINTS,
    PACE,
    Pace,
    agrees,
    is_steadier,
    lasted_s,
    paces,
    past_of,
    past_words,
)
from hwtop.symptoms.training.series import series_of, step_distance, when

AFTER_S = 20.0
"""Least time since the change: with quick steps ten are over in a moment, and other processes start and end. Engineering
default."""
DOUBLED_S = 8.0
"""The same, of a change to twice the level or more while hardly anybody else uses the cores: what the job does itself and passes in
that time has its own phase (evaluation, checkpoint) or is one slow step. Engineering default."""
SURE = 5.0
"""Standard scores of the change: neighbouring steps are not independent, so two or three prove nothing. Engineering default."""
SPREADS = 2.0
"""Least change, in standard deviations of the bulk: where sequences differ much in length it must be large. Engineering
default."""
_NEARLY = 0.95
"""The level before a change may end within a stretch, and so lie a little below all of them. Engineering default."""
SCALED_BY_INTERVAL = 0.15
"""A value that changed like the distance of the log's steps is a sum over that distance. Engineering default."""


def check_drop(history: History, limits: Limits = PACE) -> Observation | None:
    """From one point on steps take longer, and still do."""
    for pace, other in history.once(paces):
        drop = _drop(history, pace, limits)
        if drop is None or is_steadier(pace.values):
            continue
        if other is not None and not agrees(other, pace.points[drop.at], limits.slower_share / 2):
            return None
        return _dropped(history, pace, drop, limits)
    return _before_the_watch(history)


def _before_the_watch(history: History) -> Observation | None:
    """Steps take far longer now than those before hwtop came can have taken: the job is not old enough for that. Both are counted alike."""
    series = series_of(history, "step_time_s")
    past = past_of(history, series)
    if series is None or past is None:
        return None
    live = [point for point in series.points if not point.is_past]
    newest_s = _seconds_a_step(live[-AFTER_POINTS:])
    if len(live) <= AFTER_POINTS or live[-1].at_s - live[0].at_s < AFTER_S or newest_s is None:
        return None
    now_s = min(newest_s, _seconds_a_step(live) or 0.0)
    if now_s < DOUBLED * past.step_s or trend.still_rises(history):
        return None
    return observed(
        "throughput-drop",
        confidence=0.75,
        facts={
            "what": f"Step time rose {percent(now_s / past.step_s - 1)} or more",
            "at": "before the watch",
            "before": f"{past.step_s:.3g} s",
            "after": f"{now_s:.3g} s",
        },
        evidence=(
            past_words(past),
            f"{len(live)} values since then: {now_s:.3g} s a step",
            *earlier_evidence(history),
        ),
        ranks=series.ranks(),
    )


def _seconds_a_step(points: Sequence[CurvePoint]) -> float | None:
    """By when they were reported."""
    first, last = (points[0], points[-1]) if points else (None, None)
    if first is None or last is None or first.step is None or last.step is None or last.step <= first.step:
        return None
    return (last.at_s - first.at_s) / (last.step - first.step)


def _drop(history: History, pace: Pace, limits: Limits) -> Shift | None:
    """The largest of the changes that hold."""
    if not _is_above_the_fastest(pace, limits):
        return None
    found = shifts(pace.values, AFTER_POINTS, SURE, SPREADS) if pace.is_long else []
    alone = None if pace.is_long else separated(pace.values, pace.least(AFTER_POINTS))
    doubled_s = DOUBLED_S if _has_its_cores(history) else AFTER_S
    drops = [drop for drop in (*found, alone) if drop is not None and _is_drop(pace, drop, limits, doubled_s)]
    return max(drops, key=lambda drop: drop.after / drop.before, default=None)


def _is_above_the_fastest(pace: Pace, limits: Limits) -> bool:
    """The newest values are slower than some stretch before: without that there is no change, and finding it takes far longer."""
    newest = median(pace.values[-pace.least(AFTER_POINTS) :])
    stretches = -(-len(pace.values) // pace.least(FEW_BEFORE_POINTS))
    return newest >= _NEARLY * (1 + limits.slower_share) * min(block_medians(pace.values, stretches))


def _has_its_cores(history: History) -> bool:
    """Others use little of them, as far as is known: programs that start and end slow the job meanwhile."""
    outside = history.once(capacity.outside)
    return outside is not None and outside.cores < capacity.OUTSIDE_SHARE * outside.of


def _is_drop(pace: Pace, drop: Shift, limits: Limits, doubled_s: float) -> bool:
    least_s = doubled_s if drop.after >= DOUBLED * drop.before else AFTER_S
    if drop.at < pace.least(FEW_BEFORE_POINTS) or lasted_s(pace, drop.at) < least_s:
        return False
    least = 1 + limits.slower_share if pace.is_long and drop.at >= BASE_LEAST else max(DOUBLED, 1 + limits.slower_share)
    now = median(pace.values[-pace.least(AFTER_POINTS) :])
    is_slower = min(drop.after, now) >= least * drop.before
    return is_slower and not _follows_the_interval(pace.points, drop.at, drop.after / drop.before)


def _follows_the_interval(points: Sequence[CurvePoint], at: int, ratio: float) -> bool:
    earlier, later = step_distance(points[:at]), step_distance(points[at:])
    if earlier is None or later is None or abs(later / earlier - 1) < SCALED_BY_INTERVAL:
        return False
    return abs(ratio / (later / earlier) - 1) < SCALED_BY_INTERVAL


def _dropped(history: History, pace: Pace, drop: Shift, limits: Limits) -> Observation:
    change = pace.points[drop.at]
    size = drop.after / drop.before - 1
    what = f"Throughput fell {percent(1 - 1 / (1 + size))}" if pace.is_throughput else f"Step time rose {percent(size)}"
    count = len(pace.values) - drop.at
    moved = _moved(history, pace, drop)
    cause = next((move.clause for move in moved if move.clause), None)
    shared = may_slow(history) if cause is None and drop.after < DOUBLED * drop.before else ()
    newest = pace.least(AFTER_POINTS)
    return observed(
        "throughput-drop",
        severity="info" if shared else None,
        confidence=0.85 if size > 2 * limits.slower_share else 0.7,
        facts={
            "what": what,
            "at": when(history, change),
            "cause": cause,
            "before": pace.shown(drop.before),
            "after": pace.shown(drop.after),
            "has_moved": bool(moved),
        },
        evidence=(
            f"median of {drop.at} values before: {pace.shown(drop.before)}; of {count} after: {pace.shown(drop.after)}",
            f"no stretch before was as slow, by rank {drop.score:.0f} standard scores apart",
            f"median of the newest {newest}: {pace.shown(median(pace.values[-newest:]))}",
            *(f"moved at the same time: {move.text}" for move in moved),
            *shared,
            *earlier_evidence(history),
        ),
        ranks=pace.series.ranks(),
    )


def _moved(history: History, pace: Pace, drop: Shift) -> tuple[Move, ...]:
    """What else changed there, of what hwtop has seen before and after."""
    change, last, first = pace.points[drop.at], pace.points[drop.at - 1], pace.points[0]
    if change.is_past:
        return ()
    from_s = change.at_s if last.is_past else last.at_s
    return moves(history, from_s, change.at_s, since_s=None if first.is_past else first.at_s)

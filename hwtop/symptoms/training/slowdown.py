"""throughput-drop: from one point on the training is slower, and what moved with it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, observed
from hwtop.symptoms.runs.earlier import earlier_evidence
from hwtop.symptoms.statistics import change_point, spread
from hwtop.symptoms.training.attribution import Move, moves
from hwtop.symptoms.training.pace import (
    AFTER_POINTS,
    BEFORE_POINTS,
    DOUBLED,
    FEW_BEFORE_POINTS,
    PACE,
    Pace,
    agrees,
    is_steadier,
    lasted_s,
    paces,
)
from hwtop.symptoms.training.series import step_distance, when

AFTER_S = 20.0
"""The change must be so long ago: with quick steps ten are over in a moment. Neighbours, caches and importing processes come and go."""
SURE = 5.0
"""Standard scores of the change: neighbouring steps are not independent, so two or three prove nothing. Engineering default."""
SPREADS = 2.0
"""... and by so many standard deviations of the bulk: where sequences differ much in length a change must be large."""
USUAL_REACH = 0.5
"""No stretch of the same length before the change came so far up the way: lengths that vary, sorted batches and buckets do."""
SCALED_BY_INTERVAL = 0.15
"""A value that changed like the distance of the log's steps is a sum over that distance."""


class _Drop(Struct, frozen=True):
    at: int
    """Index of the first slow value."""
    before: float
    after: float
    score: float


def check_drop(history: History, limits: Limits = PACE) -> Observation | None:
    """From one point on steps take longer, and still do."""
    for pace, other in paces(history):
        drop = _drop(pace, limits)
        if drop is None or is_steadier(pace.values):
            continue
        if other is not None and not agrees(other, pace.points[drop.at], limits.slower_share / 2):
            return None
        return _dropped(history, pace, drop, limits)
    return None


def _drop(pace: Pace, limits: Limits) -> _Drop | None:
    """The largest of the changes that hold."""
    values = pace.values
    drops = [drop for at, score in _changes(values, 0, 3) if (drop := _proven(pace, at, score, limits)) is not None]
    return max(drops, key=lambda drop: drop.after / drop.before, default=None)


def _changes(values: Sequence[float], begin: int, depth: int) -> list[tuple[int, float]]:
    """Places and scores: the clearest, then the clearest on either side of it (binary segmentation). A small early change may
    be clearer by rank than the large late one."""
    at, score = change_point(values, AFTER_POINTS)
    if depth == 0 or abs(score) < SURE:
        return []
    left, right = _changes(values[:at], begin, depth - 1), _changes(values[at:], begin + at, depth - 1)
    return [*left, (begin + at, score), *right]


def _proven(pace: Pace, at: int, score: float, limits: Limits) -> _Drop | None:
    values = pace.values
    if score < 0 or at < FEW_BEFORE_POINTS or lasted_s(pace, at) < AFTER_S:
        return None
    least = 1 + limits.slower_share if at >= BEFORE_POINTS else max(DOUBLED, 1 + limits.slower_share)
    before, after = median(values[:at]), median(values[at:])
    now = median(values[-AFTER_POINTS:])
    step = after - before
    is_slower = min(after, now) >= least * before and step > SPREADS * spread(values[:at])
    if not is_slower or _was_usual(values[:at], len(values) - at, before + USUAL_REACH * step):
        return None
    slow = sum(value > before + USUAL_REACH * step for value in values[at:])
    if slow < 0.7 * (len(values) - at) or _follows_the_interval(pace.points, at, after / before):
        return None
    return _Drop(at, before, after, score)


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


def _dropped(history: History, pace: Pace, drop: _Drop, limits: Limits) -> Observation:
    change = pace.points[drop.at]
    size = drop.after / drop.before - 1
    what = f"Throughput fell {1 - 1 / (1 + size):.0%}" if pace.is_throughput else f"Step time rose {size:.0%}"
    count = len(pace.values) - drop.at
    moved = _moved(history, pace, drop)
    return observed(
        "throughput-drop",
        confidence=0.85 if size > 2 * limits.slower_share else 0.7,
        facts={
            "what": what,
            "at": when(history, change),
            "cause": next((move.clause for move in moved if move.clause), None),
            "before": pace.shown(drop.before),
            "after": pace.shown(drop.after),
            "has_moved": bool(moved),
        },
        evidence=(
            f"median of {drop.at} values before: {pace.shown(drop.before)}; of {count} after: {pace.shown(drop.after)}",
            f"no stretch before was as slow, by rank {drop.score:.0f} standard scores apart",
            f"median of the newest {AFTER_POINTS}: {pace.shown(median(pace.values[-AFTER_POINTS:]))}",
            *(f"moved at the same time: {move.text}" for move in moved),
            *earlier_evidence(history),
        ),
        ranks=pace.series.ranks(),
    )


def _moved(history: History, pace: Pace, drop: _Drop) -> tuple[Move, ...]:
    """What else changed there, of what hwtop has seen before and after."""
    change, last, first = pace.points[drop.at], pace.points[drop.at - 1], pace.points[0]
    if change.is_past:
        return ()
    from_s = change.at_s if last.is_past else last.at_s
    return moves(history, from_s, change.at_s, since_s=None if first.is_past else first.at_s)

"""loss-plateau, lr-stuck: the training goes on, but learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.model.evidence import MOSTLY
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians, jitter, resolution, trend, would_round_to_zero
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.series import Series, is_whole, learning_rates, series_of, share_done, when

FLAT = 0.005
"""A loss that falls by less than this part of itself does not fall. Engineering default."""
NOTHING_LEARNT = 0.02
"""A loss that has never fallen by so much has not begun to learn. Engineering default."""
CONVERGED = 0.05
"""A loss this far down is at its end, not on a plateau. Engineering default."""
EQUAL_DIGITS = 4
"""Losses that agree in four digits or more: batches differ, so the number is not of this model. Engineering default."""
ZERO_ALWAYS_POINTS = 100
"""A learning rate that was never another than 0 in the digits written: many a loss rests a while before it begins to
fall. Engineering default."""
NEARLY_DONE = 0.98
"""Of the planned steps: a schedule may end at 0. Engineering default."""
FALLS = 50
"""Values that fall one after the other: a schedule, until it stops. Engineering default."""
FLOOR = 0.15
"""Of its highest value: schedules end on a floor, a tenth mostly. Engineering default."""
_FINE = 0.2
"""Of the least move that matters: coarser digits hide it. Engineering default."""
_LOOKED_AT = 50
"""The newest values, which show with how many digits they are reported. Engineering default."""


PLATEAU = limits_of("loss-plateau")


RATE = limits_of("lr-stuck")


class _Flat(Struct, frozen=True):
    start: float
    level: float
    most: float
    """How much it can have fallen over the stretch."""
    first: CurvePoint
    points: int
    has_learned: bool


def check_plateau(history: History, limits: Limits = PLATEAU) -> Observation | None:
    """The loss does not move at all, has not moved since the run began, or not for half of a run that should still learn."""
    series = series_of(history, "loss")
    if series is None or not series.points:
        return None
    same = _equal(series, int(limits.equal))
    if same is not None:
        return _constant(history, series, same)
    points = series.points
    flat = _flat(points, points, limits) or _flat(points, points[len(points) // 2 :], limits)
    if flat is None or _is_wanted(history, series, flat, limits.early_share):
        return None
    lr = learning_rates(history)
    return observed(
        "loss-plateau",
        severity="info" if flat.has_learned else "warning",
        confidence=0.5 if flat.has_learned else 0.7,
        facts={
            "level": flat.level,
            "since": when(history, flat.first).removeprefix("at "),
            "has_learned": flat.has_learned,
        },
        evidence=(
            f"{flat.points} values: it has fallen by at most {max(0.0, flat.most):.2g} (95 % confidence); it began at {flat.start:.4g}",
            *((f"learning rate {lr.values[-1]:.3g}, at most {max(lr.values):.3g}",) if lr is not None else ()),
        ),
        ranks=series.ranks(),
    )


def _flat(points: Sequence[CurvePoint], stretch: Sequence[CurvePoint], limits: Limits) -> _Flat | None:
    values = [point.value for point in points]
    begin, end = stretch[0], stretch[-1]
    steps = len(stretch) if begin.step is None or end.step is None else end.step - begin.step
    if len(stretch) < limits.points or steps < limits.steps:
        return None
    blocks = block_medians([point.value for point in stretch])
    start, level, line = median(values[:10]), median(blocks), trend(blocks)
    most, gained = -line.low * (len(blocks) - 1), start - level
    least = limits.fallen_share * level
    if level <= 0 or most > least or line.low > 0 or _is_coarse(values, least):  # a rising one: another matter
        return None
    has_learned = gained > max(NOTHING_LEARNT * start, 3 * jitter(values[:50]))
    return None if level < CONVERGED * start else _Flat(start, level, most, begin, len(stretch), has_learned)


def _is_wanted(history: History, series: Series, flat: _Flat, early: float) -> bool:
    """Late in the schedule, with a learning rate that has decayed, or (where it has learned) not known to be high."""
    done = share_done(history, series.points[-1])
    lr = learning_rates(history)
    is_high = lr is not None and lr.values[-1] > 0 and lr.values[-1] >= MOSTLY * max(lr.values)
    if done is not None and done > early:
        return True
    return not is_high if lr is not None or flat.has_learned else False


def _equal(series: Series, least: int) -> int | None:
    """How many equal losses in a row end the run, where that proves something."""
    values = series.values
    count = next(sum(1 for _ in same) for _, same in groupby(reversed(values)))
    if count < least:
        return None
    if values[-1] == 0.0:  # a loss that came down to it is rounded; one that fell from the sky is none
        is_none = not would_round_to_zero(values[:-count]) if count < len(values) else is_whole(series)
        return count if is_none else None
    digits = f"{abs(values[-1]):.12g}".replace(".", "").strip("0")
    is_first = abs(values[0] - values[-1]) <= NOTHING_LEARNT * abs(values[0])
    return count if len(digits) >= EQUAL_DIGITS and is_first else None


def _constant(history: History, series: Series, count: int) -> Observation:
    """One that may be rounded is no more than a note: where all that is known is 0, nothing shows how small it is."""
    value, first, last = series.values[-1], series.points[-count], series.points[-1]
    is_rounded = value == 0.0 and count == len(series.points) and not last.is_exact
    why = (
        "all digits that are reported are 0: it may be a small one, rounded"
        if is_rounded
        else "batches differ, so a loss that is the same in all digits does not depend on them"
    )
    return observed(
        "loss-plateau",
        severity="info" if is_rounded else "warning",
        facts={
            "value": value,
            "count": count,
            "since": when(history, first).removeprefix("at "),
            "is_rounded": is_rounded or None,
        },
        confidence=0.5 if is_rounded else 0.75,
        evidence=(f"{why}; reported in {series.curve.source}",),
        ranks=series.ranks(),
    )


def check_lr(history: History, limits: Limits = RATE) -> Observation | None:
    """The learning rate is 0 although there are steps to come, or has stopped following its schedule."""
    lr, loss = learning_rates(history), series_of(history, "loss")
    if lr is None:
        return None
    zeros = next((sum(1 for _ in same) for value, same in groupby(reversed(lr.values)) if value == 0.0), 0)
    if lr.values[-1] == 0.0:
        return _zero(history, lr, loss, zeros, int(limits.zeros))
    return _left_its_schedule(history, lr, int(limits.frozen))


def _zero(history: History, lr: Series, loss: Series | None, zeros: int, needed: int) -> Observation | None:
    done = share_done(history, lr.points[-1])
    if zeros < needed or (done is not None and done >= NEARLY_DONE) or loss is None:
        return None
    since = lr.points[-zeros]
    reported = [
        point.value for point in loss.points if point.at_s >= since.at_s and (point.step or 0) >= (since.step or 0)
    ]
    if since.step is None:  # lines that were read at once have one time: those before must not count
        reported = reported[-zeros:]
    is_whole_run, is_exact = zeros == len(lr.points), lr.points[-1].is_exact
    least = ZERO_ALWAYS_POINTS if is_whole_run and not is_exact else needed
    if len(reported) < least or _falls(reported):
        return None
    if not is_exact and (_may_move(reported) if is_whole_run else would_round_to_zero(lr.values[:-zeros])):
        return None
    highest = max(lr.values)
    return observed(
        "lr-stuck",
        confidence=0.88,  # 7 of 7 right in the rounds 10 to 16
        facts={"zero_since": when(history, since).removeprefix("at "), "is_whole": is_whole_run},
        evidence=(
            f"0 in the last {zeros} values" + ("" if is_whole_run else f"; the highest was {highest:.3g}"),
            f"the loss does not fall: {median(reported[:10]):.4g} then, {median(reported[-10:]):.4g} now",
            *((f"{percent(done)} of the planned steps are done",) if done is not None else ()),
        ),
        ranks=lr.ranks(),
    )


def _falls(values: Sequence[float]) -> bool:
    return trend(block_medians(values)).high < 0


def _may_move(values: Sequence[float]) -> bool:
    """Nothing but a loss that surely rests proves a learning rate of 0 that was never another: "0.00" may be a rounded 3e-4."""
    blocks = block_medians(values)
    line, least = trend(blocks), FLAT * abs(median(blocks))
    return max(-line.low, line.high) * (len(blocks) - 1) > least or _is_coarse(values, least)


def _is_coarse(values: Sequence[float], least: float) -> bool:
    """Is a move of `least` hidden by the few digits in which the values are told?"""
    reported_in = resolution(values[-_LOOKED_AT:])
    return reported_in == 0 or reported_in > _FINE * least


def _left_its_schedule(history: History, lr: Series, needed: int) -> Observation | None:
    """It fell from value to value, and stands still now, far above where schedules end."""
    points = [point for point in lr.curve.points if point.value > 0]
    values = [point.value for point in points]
    count = next(sum(1 for _ in same) for _, same in groupby(reversed(values)))
    falling = 0
    for index in range(len(values) - count, 0, -1):
        if values[index] >= values[index - 1]:
            break
        falling += 1
    done = share_done(history, points[-1])
    if count < needed or falling < FALLS or values[-1] <= FLOOR * max(values) or (done or 0.0) > 0.9:
        return None
    since = points[-count]
    return observed(
        "lr-stuck",
        severity="info",
        facts={"rate": values[-1], "since": when(history, since).removeprefix("at ")},
        confidence=0.5,
        evidence=(
            f"it fell in each of the {falling} values before, and has been the same in the last {count}",
            f"that is {percent(values[-1] / max(values))} of its highest value {max(values):.3g}",
        ),
        ranks=lr.ranks(),
    )

"""loss-diverging: the loss goes the wrong way, and does not come back."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log1p
from statistics import median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.model.evidence import LEVEL_VALUES
from hwtop.model.reported.log import Severity
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians, jitter, trend
from hwtop.symptoms.training.series import Series, is_whole, learning_rates, neighbours, series_of, when
from hwtop.symptoms.training.stages import rises_with_stages

DIVERGING_LEAST = 60
DIVERGING_LEAST_OF_PART = 200
"""Points of a run; more where its beginning is not known: games and rewards swing, and one must have seen them swing.
Engineering default."""
DIVERGING_STRETCH = 30
"""Points since the best level: noise of the smoothed loss is over by then. Engineering default."""
RUNAWAY_LEAST = 20
"""Points that show a loss which rises by orders of magnitude from the first on. Engineering default."""
EXPONENTIAL_LEAST = 12
"""Or so many, where it rises nearly as fast at the end as it did at the start. Engineering default."""
_GOES_ON = 0.7
"""Of the orders of magnitude of the first half, so much in the second half. Engineering default."""
_RUNAWAY_TAU = 0.8
"""Order of its block medians (Kendall's tau): hardly one is below one before it. Engineering default."""
_SURE_TAU = 0.5
"""Order of the block medians since the best level (Kendall's tau): the loss rises still. Engineering default."""
_NEAR_PEAK = 0.6
"""A loss that has come down by more from its peak is on the way back. Engineering default."""


_KEPT = 0.5
"""Of the most that a reward has risen, so much is still there. Engineering default."""

DIVERGING = limits_of("loss-diverging")


class _Rise(Struct, frozen=True):
    start: float
    best: float
    level: float
    best_at: int
    has_learned: bool


def check_diverging(history: History, limits: Limits = DIVERGING) -> Observation | None:
    """The smoothed loss has left its best level for good and rises, or runs away from its beginning."""
    series = series_of(history, "loss")
    rise = None if series is None else _runaway(series.values, limits) or _lost(series, limits)
    if series is None or rise is None:
        return None
    is_certain = len(series.values) >= RUNAWAY_LEAST
    is_runaway = is_certain and rise.level > max(limits.runaway_times * rise.best, rise.start)
    stages = rises_with_stages(series, rise.best_at)
    best, now = series.points[rise.best_at], series.points[-1]
    earned = _earned(history, best)
    severity: Severity = "info" if stages or earned else "critical" if is_runaway else "warning"
    lr = learning_rates(history)
    rate = lr.around(best) if lr is not None else None
    return observed(
        "loss-diverging",
        severity=severity,
        facts={
            "stage": stages[0].name if stages else None,
            "earned": earned,
            "best": rise.best,
            "best_at": when(history, best),
            "now": rise.level,
            "before": when(history, best).removeprefix("at ") if rise.has_learned else None,
        },
        confidence=0.9 if is_runaway else 0.75,
        evidence=(
            f"smoothed loss: {rise.start:.4g} at the beginning, {rise.best:.4g} at best, {rise.level:.4g} over the last values",
            f"it has risen for {len(series.points) - rise.best_at} values"
            + ("" if rise.has_learned else "; it never fell" if is_whole(series) else "; what was before was not read"),
            *(
                (f"learning rate {rate:.3g} at the best, {lr.values[-1]:.3g} now",)
                if lr is not None and rate is not None
                else ()
            ),
            *neighbours(history, now)[1 if lr is not None else 0 :],
            *(
                (f"the reward rises with it, {earned}: the more is earned, the larger are the errors of a critic",)
                if earned
                else ()
            ),
            *(
                (
                    f"{stages[0].name} went from {stages[0].number} to {stages[1].number}; the loss did not rise in between",
                )
                if stages
                else ()
            ),
        ),
        ranks=series.ranks(),
    )


def _earned(history: History, best: CurvePoint) -> str | None:
    """ "from 21 to 204" of a reward that has risen since then and is still there, as it is where an agent learns; None of any other."""
    series = series_of(history, "reward")
    points = () if series is None else series.points
    later = [point.value for point in points if (point.step or 0) >= (best.step or 0)]
    if len(later) < RUNAWAY_LEAST:
        return None
    start, now, top = median(later[:5]), median(later[-5:]), max(block_medians(later, len(later) // 5))
    is_kept = now - start >= max(_KEPT * (top - start), 3 * jitter(later))
    return f"from {start:.3g} to {now:.3g}" if is_kept and top > start else None


def _runaway(values: Sequence[float], limits: Limits) -> _Rise | None:
    """Up by orders of magnitude from the very beginning."""
    if len(values) < EXPONENTIAL_LEAST or min(values) <= 0:
        return None
    start, level = median(values[:5]), median(values[-5:])
    orders = block_medians([log(value) for value in values])
    if level < limits.runaway_times * start or trend(orders).tau < _RUNAWAY_TAU:
        return None
    middle = orders[len(orders) // 2]
    goes_on = orders[-1] - middle >= _GOES_ON * (
        middle - orders[0]
    )  # a critic that meets its first rewards rises less and less
    return _Rise(start, start, level, 0, False) if goes_on or len(values) >= RUNAWAY_LEAST else None


def _lost(series: Series, limits: Limits) -> _Rise | None:
    """What had been gained is lost again. By orders of magnitude: a loss may begin at 200 and live at 1."""
    values = series.values
    if len(values) < DIVERGING_LEAST or min(values) <= 0:
        return None
    if len(values) < DIVERGING_LEAST_OF_PART and not is_whole(series):
        return None
    orders = [log(value) for value in values]
    smooth = block_medians(orders)
    at = min(range(len(smooth)), key=smooth.__getitem__)
    best_at = (2 * at + 1) * len(values) // (2 * len(smooth))
    if len(values) - best_at < DIVERGING_STRETCH:
        return None
    start, best, level = median(orders[:10]), smooth[at], median(orders[-10:])
    noise = max(jitter(orders[: max(20, best_at + 1)]), jitter(orders[best_at:]))
    least = max(log1p(limits.above_share), 3 * noise)
    if level - best < least or start - best < least or not _has_lost(exp(start), exp(best), exp(level), limits):
        return None
    peak = max(block_medians(orders[best_at:], (len(values) - best_at) // LEVEL_VALUES))
    if (
        level - best < _NEAR_PEAK * (peak - best)
        or not _still_rises(smooth[at:])
        or _swings(smooth[: at + 1], level - best)
    ):
        return None
    return _Rise(exp(start), exp(best), exp(level), best_at, True)


def _has_lost(start: float, best: float, level: float, limits: Limits) -> bool:
    """Of the way down, straight or in orders of magnitude: from 200 by 1 to 30 is lost, though little of the 199."""
    is_lost = level - best >= limits.lost_share * (start - best)
    return is_lost or log(level / best) >= limits.orders_share * log(start / best)


def _still_rises(smooth: Sequence[float]) -> bool:
    """Over all of the stretch, and over its second half not down again."""
    whole, half = trend(smooth), trend(smooth[len(smooth) // 2 :])
    return len(smooth) >= 4 and whole.low > 0 and whole.tau >= _SURE_TAU and half.tau > -0.2


def _swings(smooth: Sequence[float], rise: float) -> bool:
    """Has it risen by half as much before and come back? Then that is its nature."""
    lowest = float("inf")
    for value in smooth:
        lowest = min(lowest, value)
        if value - lowest >= 0.5 * rise:
            return True
    return False

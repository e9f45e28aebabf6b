"""loss-nan, loss-spike: the loss is no number any more, or has jumped."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.rank_set import named
from hwtop.model.curve import CurvePoint
from hwtop.model.log import Severity
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_loss_nan, check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import resolution, spread
from hwtop.symptoms.training.series import Series, curve_of, learning_rates, neighbours, newest_run, series_of, when

LEVEL_POINTS = 5
"""The loss of now is the median of so many: one bad batch is no jump."""
BASE_POINTS = 200
"""... and what it is compared with, the values before (as the log tells them, at whatever distance)."""
BASE_LEAST = 50
USUAL_SHARE = 0.02
"""Where so many of the values before reach halfway up as well, jumps are this loss's nature: adversarial games, rewards."""
RESTART_RATIO = 1.5
"""A learning rate that rises so much explains a jump: a warm restart."""
_NEAR_ZERO = 2.0


NAN = limits_of("loss-nan")


SPIKE = limits_of("loss-spike")


class _Jump(Struct, frozen=True):
    base: float
    spread: float
    level: float
    lost: float
    onset: int
    """Index of its first point."""


def check_nan(history: History, limits: Limits = NAN) -> Observation | None:
    """The newest loss is no number: as the log's lines tell it, else as any curve does; or the gradients have long been none."""
    seen = check_loss_nan(history)
    curve = curve_of(history, "loss")
    run = newest_run(curve.points) if curve is not None else ()
    if seen is None and curve is not None and run and not isfinite(run[-1].value):
        ranks = () if curve.rank is None else (curve.rank,)
        seen = observed(
            "loss-nan",
            confidence=0.95,
            facts={"loss": str(run[-1].value), "ranks": named(ranks) if ranks else None},
            evidence=(f"reported in {curve.source}",),
            ranks=ranks,
        )
    if seen is None:
        return _nan_gradients(history, int(limits.gradients))
    return replace(seen, evidence=(*seen.evidence, *_last_words(history, run)))


def _last_words(history: History, run: Sequence[CurvePoint]) -> tuple[str, ...]:
    """The way there: last good loss, first bad step, learning rate and gradient norms just before."""
    first = next((index for index in range(len(run), 0, -1) if isfinite(run[index - 1].value)), 0)
    if first == 0 or first == len(run):
        return ()
    good, bad = run[first - 1], run[first]
    lines = [
        f"last loss that is a number: {good.value:.4g} {when(history, good)}; first that is none {when(history, bad)}"
    ]
    lr = learning_rates(history)
    if lr is not None and (value := lr.around(good)) is not None:
        lines.append(f"learning rate there: {value:.3g}")
    norms = series_of(history, "grad_norm")
    if norms is not None:
        before = [point.value for point in norms.points if point.step is None or point.step <= (good.step or 0)][-5:]
        if before:
            lines.append(f"gradient norms before: {', '.join(f'{value:.3g}' for value in before)}")
    return tuple(lines)


def _nan_gradients(history: History, least: int) -> Observation | None:
    curve = curve_of(history, "grad_norm")
    tail = newest_run(curve.points)[-least:] if curve is not None else ()
    if curve is None or len(tail) < least or any(isfinite(point.value) for point in tail):
        return None
    return observed(
        "loss-nan",
        severity="warning",
        facts={"norm": str(tail[-1].value), "least": least},
        confidence=0.7,
        evidence=(
            f"since {when(history, tail[0])} or longer, reported in {curve.source}",
            "the loss itself is still a number",
        ),
        ranks=() if curve.rank is None else (curve.rank,),
    )


def check_spike(history: History, limits: Limits = SPIKE) -> Observation | None:
    """The loss stands far above what it was, and not only for one batch."""
    series = series_of(history, "loss")
    jump = _jump(series.values, limits) if series is not None else None
    if series is None or jump is None:
        return check_pattern("loss-spike", history)
    values = series.values
    peak = max(values[jump.onset :])
    length = len(values) - jump.onset
    is_falling = jump.level < jump.base + 0.8 * (peak - jump.base)
    cause = _restarted(history, series, jump.onset)
    severity: Severity = "warning" if length >= limits.warning_points and not is_falling and cause is None else "info"
    onset = series.points[jump.onset]
    return observed(
        "loss-spike",
        severity=severity,
        facts={
            "base": jump.base,
            "peak": peak,
            "at": when(history, onset),
            "stays": jump.level if severity == "warning" else None,
            "now": jump.level,
        },
        confidence=0.75 if severity == "warning" else 0.6,
        evidence=(
            f"median of the values before {jump.base:.4g}, their spread {jump.spread:.2g}; of the last {LEVEL_POINTS} {jump.level:.4g}",
            f"{length} values since; " + ("it comes down again" if is_falling else "it does not come down"),
            *neighbours(history, onset),
            *((cause,) if cause else ()),
        ),
        ranks=series.ranks(),
    )


def _jump(values: Sequence[float], limits: Limits) -> _Jump | None:
    if len(values) < BASE_LEAST + LEVEL_POINTS:
        return None
    level = median(values[-LEVEL_POINTS:])
    base = values[-LEVEL_POINTS - BASE_POINTS : -LEVEL_POINTS]
    centre, noise = median(base), max(spread(base), resolution(base))
    limit = centre + max(limits.spreads * noise, limits.above_share * centre)
    if centre <= _NEAR_ZERO * noise or level <= limit:  # losses around zero have no level to jump from
        return None
    half = (centre + level) / 2
    onset = len(values) - LEVEL_POINTS
    while onset > 0 and values[onset - 1] > half:
        onset -= 1
    before = values[max(0, onset - BASE_POINTS) : onset]
    if sum(value > half for value in before[10 if onset < BASE_POINTS else 0 :]) > USUAL_SHARE * len(before):
        return None
    start = median(values[:10])
    lost = (level - centre) / (start - centre) if start > centre else float("inf")
    return _Jump(centre, noise, level, lost, onset) if lost >= limits.lost_share else None


def _restarted(history: History, series: Series, onset: int) -> str | None:
    """Why this jump was to be expected: the learning rate was raised there."""
    lr = learning_rates(history)
    if lr is None:
        return None
    before = lr.around(series.points[max(0, onset - 10)])
    after = lr.around(series.points[min(len(series.points) - 1, onset + 2)])
    if before is None or after is None or after <= RESTART_RATIO * before:
        return None
    return f"the learning rate was raised there, from {before:.3g} to {after:.3g}: a warm restart does that"

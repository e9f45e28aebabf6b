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
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Count, Limits, Observation, Positive, Rule, Share
from hwtop.symptoms.series import Series, curve_of, learning_rates, neighbours, newest_run, series_of, when
from hwtop.symptoms.statistics import resolution, spread

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


class NanLimits(Limits, frozen=True, kw_only=True):
    """Of loss-nan. A loss that is no number is told at once."""

    gradients: Count = 20
    """Gradient norms in a row that are no numbers while the loss still is one: fp16's first search for a scale takes up to some
    sixteen (2**32 down to 2**16, DeepSpeed's defaults). Engineering default."""


NAN = NanLimits()


class SpikeLimits(Limits, frozen=True, kw_only=True):
    """Of loss-spike: all must hold. Engineering defaults."""

    spreads: Positive = 6.0
    """A jump is so many standard deviations of the bulk above the median (Iglewicz & Hoaglin 1993 call 3.5 an outlier; losses
    have heavier tails), ..."""
    above_share: Positive = 0.2
    """... a fifth above it, ..."""
    lost_share: Share = 0.5
    """... and loses half of all that the training had gained: a change of the data costs less."""
    warning_points: Count = 20
    """Points after which a jump that has not come down by a fifth is more than one bad batch."""


SPIKE = SpikeLimits()


class _Jump(Struct, frozen=True):
    base: float
    spread: float
    level: float
    lost: float
    onset: int
    """Index of its first point."""


def check_nan(history: History, limits: NanLimits = NAN) -> Observation | None:
    """The newest loss is no number: as the log's lines tell it, else as any curve does; or the gradients have long been none."""
    seen = check_loss_nan(history)
    curve = curve_of(history, "loss")
    run = newest_run(curve.points) if curve is not None else ()
    if seen is None and curve is not None and run and not isfinite(run[-1].value):
        ranks = () if curve.rank is None else (curve.rank,)
        seen = Observation(
            severity="critical",
            confidence=0.95,
            title=f"Loss is {run[-1].value}" + (f" on {named(ranks)}" if ranks else ""),
            evidence=(f"told in {curve.source}",),
            next_steps=playbooks()["loss-nan"].steps,
            ranks=ranks,
        )
    if seen is None:
        return _nan_gradients(history, limits.gradients)
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
    return Observation(
        severity="warning",
        confidence=0.7,
        title=f"Gradient norm has been {tail[-1].value} for {least} values or more: these steps change nothing, or spoil all",
        evidence=(
            f"since {when(history, tail[0])} or longer, told in {curve.source}",
            "the loss itself is still a number",
        ),
        next_steps=playbooks()["loss-nan"].steps,
        ranks=() if curve.rank is None else (curve.rank,),
    )


def check_spike(history: History, limits: SpikeLimits = SPIKE) -> Observation | None:
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
    return Observation(
        severity=severity,
        confidence=0.75 if severity == "warning" else 0.6,
        title=f"Loss jumped from {jump.base:.3g} to {peak:.3g} {when(history, onset)}"
        + (f" and stays at {jump.level:.3g}" if severity == "warning" else f", now {jump.level:.3g}"),
        evidence=(
            f"median of the values before {jump.base:.4g}, their spread {jump.spread:.2g}; of the last {LEVEL_POINTS} {jump.level:.4g}",
            f"{length} values since; " + ("it comes down again" if is_falling else "it does not come down"),
            *neighbours(history, onset),
            *((cause,) if cause else ()),
        ),
        next_steps=(
            f"Look at the batches {when(history, onset)}: was the data changed there, or is it a bad shard?",
            "Go back to the checkpoint before it, skip some hundred batches, and lower the learning rate if it comes again",
            "Clip gradients (max_norm 1.0); with Adam a smaller beta2 (0.95) forgets such a batch sooner",
        ),
        ranks=series.ranks(),
    )


def _jump(values: Sequence[float], limits: SpikeLimits) -> _Jump | None:
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


RULES = (
    Rule(
        symptom="loss-nan",
        category="correctness",
        threshold=lambda limits: (
            f"the newest loss is nan or infinite, in a log line, a metrics file or a heartbeat; or {limits.gradients} gradient norms in a row "
            "are"
        ),
        raise_s=0.0,
        clear_s=60.0,
        check=check_nan,
        limits=NAN,
    ),
    Rule(
        symptom="loss-spike",
        category="correctness",
        threshold=lambda limits: (
            f"median of {LEVEL_POINTS} losses {limits.spreads:g} spreads and {100 * limits.above_share:.3g}% above that of the {BASE_POINTS} "
            f"before, with {100 * limits.lost_share:.3g}% of all that was gained lost; warning when it stays for {limits.warning_points} points"
        ),
        raise_s=2.0,
        clear_s=30.0,
        check=check_spike,
        limits=SPIKE,
    ),
)

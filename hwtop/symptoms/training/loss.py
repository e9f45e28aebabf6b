"""loss-nan, loss-spike: the loss is no number any more, or has jumped."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import median

from msgspec.structs import replace

from hwtop.job.rank_set import named
from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.evidence import LEVEL_VALUES, MINOR, REPEATED
from hwtop.model.reported.log import Severity
from hwtop.symptoms.excursions import BASE_POINTS, Excursion, comes_back, excursions, is_unusual
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_loss_nan, check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians
from hwtop.symptoms.training.series import Series, curve_of, learning_rates, neighbours, run_of, series_of, when
from hwtop.symptoms.training.stages import new_stage

RESTART_RATIO = 1.5
"""A learning rate that rises so much explains a jump: a warm restart. Engineering default."""
_NEAR_ZERO = 2.0
"""Spreads: losses around zero have no level to jump from. Engineering default."""


NAN = limits_of("loss-nan")


SPIKE = limits_of("loss-spike")


def check_nan(history: History, limits: Limits = NAN) -> Observation | None:
    """The newest loss is no number: as the log's lines tell it, else as any curve does; or the gradients have long been none."""
    curve = curve_of(history, "loss")
    run = run_of(history, "loss")
    seen = check_loss_nan(history, _since(run))
    if (
        seen is None
        and curve is not None
        and run
        and not isfinite(run[-1].value)
        and not _is_contradicted(history, run[-1])
    ):
        ranks = () if curve.rank is None else (curve.rank,)
        seen = observed(
            "loss-nan",
            confidence=0.95,
            facts={"loss": str(run[-1].value), "ranks": named(ranks) if ranks else None},
            evidence=(f"reported in {curve.source}",),
            ranks=ranks,
        )
    if seen is None:
        return (
            _nan_again(history, curve, run)
            or _nan_gradients(history, int(limits.gradients))
            or (_nan_by_another_name(history) if curve is None else None)
        )
    return replace(seen, evidence=(*seen.evidence, *_last_words(history, run)))


def _since(run: Sequence[CurvePoint]) -> int | None:
    """The step of the first of the newest values that are none; None where no number is known before."""
    good = next((index for index in range(len(run) - 1, -1, -1) if isfinite(run[index].value)), None)
    return run[good + 1].step if good is not None and good + 1 < len(run) else None


def _is_contradicted(history: History, point: CurvePoint) -> bool:
    """A log of the job reports a loss that is a number, at this step or later: the file with this point may be another run's."""
    newest = [rank.progress.newest for rank in history.live_ranks if rank.progress.newest is not None]
    return any(
        each.loss is not None and isfinite(each.loss) and (each.step or 0) >= (point.step or 0) for each in newest
    )


def _last_words(history: History, run: Sequence[CurvePoint]) -> tuple[str, ...]:
    """The way there: last good loss, first bad step, learning rate and gradient norms just before."""
    first = next((index for index in range(len(run), 0, -1) if isfinite(run[index - 1].value)), 0)
    if first == 0 or first == len(run):
        return ()
    good, bad = run[first - 1], run[first]
    lines = [
        f"last loss that is a number: {good.value:.4g} {when(history, good)}; first that is not {when(history, bad)}"
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


def _nan_again(history: History, curve: Curve | None, run: Sequence[CurvePoint]) -> Observation | None:
    """No number time and again, each time for some values only."""
    bad = [not isfinite(point.value) for point in run]
    begins = [index for index in range(1, len(bad)) if bad[index] and not bad[index - 1]]
    if curve is None or not comes_back(begins, len(run), int(SPIKE.again)):
        return None
    return observed(
        "loss-nan",
        severity="warning",
        facts={"times": len(begins), "since": when(history, run[begins[0]]).removeprefix("at ")},
        confidence=0.85,
        evidence=(
            f"{sum(bad)} of {len(run)} values are not a number, the newest {when(history, run[begins[-1]])}",
            f"reported in {curve.source}",
        ),
        ranks=() if curve.rank is None else (curve.rank,),
    )


def _nan_gradients(history: History, least: int) -> Observation | None:
    curve = curve_of(history, "grad_norm")
    tail = run_of(history, "grad_norm")[-least:]
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


def _nan_by_another_name(history: History) -> Observation | None:
    """No loss is known by its name, and a value that is reported with each step is no number any more."""
    lost = {
        rank.rank: found
        for rank in history.live_ranks
        for found in rank.progress.lost_values[:1]
        if found.lines >= REPEATED and rank.progress.newest is not None and rank.progress.newest.loss is None
    }
    if not lost:
        return None
    first = min(lost.values(), key=lambda found: found.since_step)
    return observed(
        "loss-nan",
        severity="warning",
        facts={"value": repr(first.name), "step": first.since_step, "counter": first.counter},
        confidence=0.85,
        evidence=(
            f"no number in {first.lines} lines in a row, after lines with a number",
            "no loss is reported by a known name",
        ),
        ranks=tuple(lost),
    )


def check_spike(history: History, limits: Limits = SPIKE) -> Observation | None:
    """The loss stands far above what it was, and not only for one batch; or it has jumped and come back time and again."""
    series = series_of(history, "loss")
    if series is None:
        return check_pattern("loss-spike", history)
    found = history.once(jumps, limits)
    if found and found[-1].end is None and _is_new(series.values, found[-1], limits):
        return _stands_high(history, series, found[-1], limits)
    again = [jump for jump in found if jump.end is not None and _restarted(history, series, jump.begin) is None]
    if _is_often(series.values, again, limits):
        return _jumps_again(history, series, again)
    return check_pattern("loss-spike", history)


def jumps(history: History, limits: Limits = SPIKE) -> tuple[Excursion, ...]:
    """All jumps of the newest run that lose what had been gained, oldest first."""
    series = series_of(history, "loss")
    values = series.values if series is not None else []
    start = median(values[:10]) if values else 0.0
    return tuple(
        jump
        for jump in excursions(values, limits.spreads, limits.above_share)
        if (min(values) > 0 or jump.base > _NEAR_ZERO * jump.spread)
        and _is_jump(values, jump, limits)
        and (start <= jump.base or jump.level - jump.base >= limits.lost_share * (start - jump.base))
    )


def _is_jump(values: Sequence[float], jump: Excursion, limits: Limits) -> bool:
    """By medians of its values, so not one bad batch. Much of it stays where it stays for long: chance would not."""
    far = max(limits.spreads * jump.spread, limits.above_share * jump.base)
    if jump.end is None:
        return _highest_level(values, jump) > jump.base + far and jump.level > jump.base + far / 2
    is_lasting = jump.length >= REPEATED or jump.peak >= limits.certain_times * jump.base
    return jump.level > jump.base + far and is_lasting


def _is_new(values: Sequence[float], jump: Excursion, limits: Limits) -> bool:
    """By orders of magnitude none is usual."""
    return is_unusual(values, jump) or jump.level >= limits.certain_times * jump.base


def _is_often(values: Sequence[float], found: Sequence[Excursion], limits: Limits) -> bool:
    """Again and again, and not so often that it is the loss's nature."""
    share = sum(jump.length for jump in found) / max(1, len(values))
    is_certain = all(jump.peak >= limits.certain_times * jump.base for jump in found)
    return comes_back([jump.begin for jump in found], len(values), int(limits.again)) and (is_certain or share <= MINOR)


def _stands_high(history: History, series: Series, jump: Excursion, limits: Limits) -> Observation:
    is_falling = _is_on_the_way_back(series.values, jump) and jump.level < limits.certain_times * jump.base
    cause = _restarted(history, series, jump.begin, is_certain=jump.level >= limits.certain_times * jump.base)
    severity: Severity = (
        "warning" if jump.length >= limits.warning_points and not is_falling and cause is None else "info"
    )
    onset = series.points[jump.begin]
    return observed(
        "loss-spike",
        severity=severity,
        facts={
            "base": jump.base,
            "peak": jump.peak,
            "at": when(history, onset),
            "stays": jump.level if severity == "warning" else None,
            "now": jump.level,
        },
        confidence=0.75 if severity == "warning" else 0.6,
        evidence=(
            f"median of the values before {jump.base:.4g}, their spread {jump.spread:.2g}; of the last 5 {jump.level:.4g}",
            f"{jump.length} values since; " + ("it comes down again" if is_falling else "it does not come down"),
            *neighbours(history, onset),
            *((cause,) if cause else ()),
        ),
        ranks=series.ranks(),
    )


def _is_on_the_way_back(values: Sequence[float], jump: Excursion) -> bool:
    """It has come down by a fifth. What lasts as long as the level before is a new one."""
    rise = _highest_level(values, jump) - jump.base
    return jump.level < jump.base + 0.8 * rise and jump.length < BASE_POINTS


def _highest_level(values: Sequence[float], jump: Excursion) -> float:
    """Of a jump that goes on: the highest of its medians of a few values each."""
    return max(block_medians(values[jump.begin :], max(1, jump.length // LEVEL_VALUES)))


def _jumps_again(history: History, series: Series, found: Sequence[Excursion]) -> Observation:
    first, last = series.points[found[0].begin], series.points[found[-1].begin]
    worst = max(found, key=lambda jump: jump.peak / jump.base)
    return observed(
        "loss-spike",
        severity="warning",
        facts={
            "times": len(found),
            "since": when(history, first).removeprefix("at "),
            "base": worst.base,
            "peak": worst.peak,
            "at": when(history, last),
        },
        confidence=0.75,
        evidence=(
            *(
                f"{when(history, series.points[jump.begin])}: from {jump.base:.4g} to {jump.peak:.4g}, back after {jump.length} values"
                for jump in found[-4:]
            ),
            f"{len(series.values)} values in total",
            *neighbours(history, last),
        ),
        ranks=series.ranks(),
    )


def _restarted(history: History, series: Series, onset: int, *, is_certain: bool = False) -> str | None:
    """Why this jump was to be expected: the counter started over, another stage began, or the learning rate was raised there: of one by orders
    of magnitude (`is_certain`) only to a rate that the training has borne before."""
    if _begins_round(history, series, onset):
        return "the step counter started over there: another epoch, fold or trial begins"
    if (stage := new_stage(series, onset)) is not None:
        return stage
    lr = learning_rates(history)
    if lr is None:
        return None
    before = lr.around(series.points[max(0, onset - 10)])
    after = lr.around(series.points[min(len(series.points) - 1, onset + 2)])
    if before is None or after is None or after <= RESTART_RATIO * before:
        return None
    if is_certain and after > max(lr.values[: _count_before(lr, series.points[onset])], default=after):
        return None
    return f"the learning rate was raised there, from {before:.3g} to {after:.3g}: a warm restart does that"


def _count_before(series: Series, point: CurvePoint) -> int:
    """How many of its points come before this one of another series."""
    return sum((each.step or 0, each.at_s) < (point.step or 0, point.at_s) for each in series.points)


def _begins_round(history: History, series: Series, onset: int) -> bool:
    """The steps of all rounds are counted on: between this point and the one before lies the end of a round."""
    step, before = series.points[onset].step, series.points[onset - 1].step
    newest = [rank.progress.newest for rank in (history.job.ranks if history.job else ())]
    total = next((each.total_steps for each in newest if each is not None and each.total_steps), None)
    return total is not None and step is not None and before is not None and step // total > before // total

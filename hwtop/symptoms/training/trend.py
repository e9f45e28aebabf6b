"""step-time-rising: the training becomes slower little by little."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from hwtop.model.evidence import LEVEL_VALUES, REPEATED
from hwtop.model.rank import PastPace
from hwtop.model.rank_stack import GrownShare
from hwtop.symptoms.history import History
from hwtop.symptoms.host.others import may_slow
from hwtop.symptoms.rule import Limits, Observation, observed
from hwtop.symptoms.runs.earlier import earlier_evidence
from hwtop.symptoms.statistics import BLOCKS, block_medians, trend
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.pace import (
    DOUBLED,
    PACE,
    Pace,
    agrees,
    is_steadier,
    is_timed,
    lasted_s,
    paces,
    past_of,
    past_words,
)
from hwtop.symptoms.training.series import when

RISE_POINTS = 120
"""Steps of a rise by `slower_share`: a value may be the mean of several. Engineering default."""
DOUBLED_POINTS = 60
"""Steps of a rise to twice the first. Those that warm the run up are left out. Engineering default."""
FIVEFOLD, FIVEFOLD_POINTS = 5.0, 30
"""Times the first step time, and the values of a rise by so much: batches that are sorted by length rise by less within an epoch.
Engineering default."""
TRIPLED, TRIPLED_S = 3.0, 25.0
"""Times the first step time, and the shortest time of a rise by so much. One that takes n times as long need only be by the n-th root: a rise at
a steady rate is as certain at each moment. Engineering default."""
RISE_TAU = 0.6
"""Order of the block medians (Kendall's tau): at 1 each is above all before it. Engineering default."""
_RISEN = 1.3
"""Times the step time of the first third of the samples' window, in the last third. Engineering default."""
_BY_ONE_PLACE = 1.5
"""Times the first step time, of a rise that one place in the code accounts for. Engineering default."""
_ALL_ELSE = 0.2
"""Of what the steps have become longer by: no more is added by all but one place in the code. Engineering default."""


class Rising(Struct, frozen=True):
    """A pace that becomes slower and slower."""

    pace: Pace
    start: float
    now: float
    place: GrownShare | None
    """The one place in the code that accounts for it."""
    evidence: tuple[str, ...] = ()
    """That it does."""
    is_older: bool = False
    """It began before the watch."""


def check_rising(history: History, limits: Limits = PACE) -> Observation | None:
    """Steps take longer and longer, with no single change that explains it."""
    rising = history.once(_rising, limits.slower_share)
    return None if rising is None else _observed(history, rising)


def slowed_by(history: History) -> GrownShare | None:
    """The one place in the code that steps become slower and slower by; None where no rank has a place that has grown."""
    if not any(rank.stack.grown for rank in history.live_ranks):
        return None
    rising = history.once(_rising, PACE.slower_share)
    return None if rising is None else rising.place


def still_rises(history: History) -> bool:
    """Steps take longer and longer while hwtop looks, and by much: that they took less before follows from that."""
    return any(
        risen is not None
        and risen[1] >= (1 + PACE.slower_share) * risen[0]
        and (past := _past_of(history, pace)) is not None
        and _comes_now(risen, past)
        for pace, _, risen in history.once(rises)
    )


def _comes_now(risen: tuple[float, float], past: PastPace) -> bool:
    """A third of the whole rise since before the watch, by its logarithm, or more: what grew before was quicker at first."""
    return (risen[1] / risen[0]) ** 3 >= risen[1] / past.step_s


def _rising(history: History, slower_share: float) -> Rising | None:
    for pace, other, risen in history.once(rises):
        if pace.is_throughput and not is_timed(pace.series.points):
            continue  # rates since the start fall for minutes after a fast beginning
        values, past = pace.values, _past_of(history, pace)
        seconds, steps = lasted_s(pace, 0), len(pace.values) * pace.steps_a_value
        known: tuple[str, ...] = ()
        if past is not None and risen is not None and _comes_now(risen, past):
            seconds, steps = seconds + past.steps * past.step_s, steps + past.steps
            risen, known = (min(risen[0], past.step_s), risen[1]), (past_words(past),)
        if risen is None or seconds < TRIPLED_S or not is_steadier(values):
            continue
        place, evidence = _grown(history, pace)
        if len(values) < FIVEFOLD_POINTS and place is None:
            continue
        least = _least(steps, seconds, slower_share)
        least = min(_BY_ONE_PLACE, least) if place else least
        if risen[1] < least * risen[0]:
            continue
        middle = pace.points[len(pace.points) // 2]
        if other is not None and not agrees(other, middle, slower_share / 4):
            return None
        return Rising(pace, *risen, place, (*evidence, *known), is_older=bool(known))
    return None


def _past_of(history: History, pace: Pace) -> PastPace | None:
    """Of a pace that is known since the attach only."""
    is_told = pace.is_throughput or pace.points[0].is_past
    return None if is_told else past_of(history, pace.series)


def rises(history: History) -> list[tuple[Pace, Pace | None, tuple[float, float] | None]]:
    """As `paces`, each with its rise."""
    return [(pace, other, rise(pace.values)) for pace, other in history.once(paces)]


def rise(values: Sequence[float]) -> tuple[float, float] | None:
    """(level at the start, level now) of values that rise, in the second half too; None of others, and of too few."""
    blocks = block_medians(values)
    if len(blocks) < 2 * LEVEL_VALUES:
        return None
    line, newest = trend(blocks), trend(blocks[len(blocks) // 2 :])
    if line.low <= 0 or line.tau < RISE_TAU or newest.tau <= 0:
        return None
    return median(blocks[:LEVEL_VALUES]), median(blocks[-LEVEL_VALUES:])


def _least(count: float, seconds: float, slower_share: float) -> float:
    """By how much so few steps in so short a time must have risen."""
    if count < DOUBLED_POINTS:
        return FIVEFOLD
    by_count = 1 + slower_share if count >= RISE_POINTS else DOUBLED
    by_time: float = TRIPLED ** (TRIPLED_S / seconds)
    return max(by_count, by_time)


def _grown(history: History, pace: Pace) -> tuple[GrownShare | None, tuple[str, ...]]:
    """The one place in the code that the steps have become longer by, and the evidence: all else in a step takes as long as it did. Longer
    batches make everything longer."""
    numbers = pace.series.ranks()
    for rank in history.live_ranks:
        for grown in rank.stack.grown if not numbers or rank.rank in numbers else ():
            before, now = _level(pace, *grown.first_s), _level(pace, *grown.last_s)
            if before is None or now is None or now < _RISEN * before:
                continue
            rest, was = (1 - grown.now) * now, (1 - grown.before) * before
            if rest - was <= _ALL_ELSE * (now - before):
                return grown, (f"all else in a step takes {rest:.3g} s, {was:.3g} s before: no longer batches",)
    return None, ()


def _level(pace: Pace, from_s: float, to_s: float) -> float | None:
    values = [value for point, value in zip(pace.points, pace.values, strict=True) if from_s <= point.at_s <= to_s]
    return median(values) if len(values) >= REPEATED else None


def _observed(history: History, rising: Rising) -> Observation:
    pace, place = rising.pace, rising.place
    first, last = pace.points[0], pace.points[-1]
    shared = may_slow(history) if place is None and rising.now < DOUBLED * rising.start else ()
    steps = f" over {last.step - first.step} steps" if last.step is not None and first.step is not None else ""
    return observed(
        "step-time-rising",
        severity="info" if shared else None,
        confidence=0.7,
        facts={
            "what": "Throughput falls" if pace.is_throughput else "Step time rises",
            "since": "before the watch" if rising.is_older else when(history, first).removeprefix("at "),
            "before": pace.shown(rising.start),
            "now": pace.shown(rising.now),
            "grown": _in_words(place) if place else None,
        },
        evidence=(
            f"line through {BLOCKS} medians of {len(pace.values)} values{steps} (Theil-Sen, 95 % confidence that it rises)",
            "one single change explains them less well",
            *rising.evidence,
            *shared,
            *earlier_evidence(history),
        ),
        ranks=pace.series.ranks(),
    )


def _in_words(place: GrownShare) -> str:
    where = f"{place.file}:{place.line}" if place.line else place.file
    return f"{place.function} ({where}) takes {percent(place.now)} of a step, {percent(place.before)} before"

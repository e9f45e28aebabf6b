"""grad-explosion, grad-vanishing, loss-scale-overflow: gradients too large, gone, or outside of what fp16 can hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2
from statistics import median

from hwtop.model.curve import CurvePoint
from hwtop.model.evidence import LEVEL_VALUES
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent
from hwtop.symptoms.excursions import BASE_LEAST, excursions, is_unusual
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians, spread, trend, would_round_to_zero
from hwtop.symptoms.text import Facts, quoted
from hwtop.symptoms.training.loss import SPIKE
from hwtop.symptoms.training.series import Series, is_whole, learning_rates, series_of, when

STEADY_POINTS = 10
"""The first search for a scale is over when it has not fallen for so many values. Engineering default."""
OVER_POINTS = 20
"""A fall is over when the scale has not changed for so many values, and is followed back over as many. Engineering default."""
PASSING_S = 30.0
"""The longest wait for the norm after a line about it. Engineering default."""
FIRST_STEPS = 50
"""Steps in which overflows are the first search. Engineering default."""


EXPLOSION = limits_of("grad-explosion")


VANISHING = limits_of("grad-vanishing")


SCALE = limits_of("loss-scale-overflow")


def check_explosion(history: History, limits: Limits = EXPLOSION) -> Observation | None:
    """The gradient norm has grown tenfold and stays there, or a line of the log says so."""
    series = series_of(history, "grad_norm")
    seen = None if series is None else _exploded(history, series, limits)
    return seen if seen is not None or _has_passed(history, series) else check_pattern("grad-explosion", history)


def _has_passed(history: History, series: Series | None) -> bool:
    """A line said so, but the norm told after it is a number again, or may still be: fp16's scaler skips such a step."""
    lines = [
        event.at_s for event in (history.job.logs.events if history.job else ()) if event.pattern == "grad-explosion"
    ]
    if not lines or series is None or not series.points:
        return False
    usual_s = median([later.at_s - earlier.at_s for earlier, later in pairwise(series.points[-LEVEL_VALUES:])] or [0.0])
    return series.points[-1].at_s > lines[-1] or history.now.at_s - lines[-1] < min(PASSING_S, 3 * usual_s)


def _exploded(history: History, series: Series, limits: Limits) -> Observation | None:
    found = excursions(series.values, SPIKE.spreads, limits.times - 1)
    if not found or found[-1].end is not None or found[-1].level < limits.times * found[-1].base:
        return None
    rise = found[-1]
    if not is_unusual(series.values, rise):
        return None
    onset = series.points[rise.begin]
    is_felt = _loss_has_risen(series_of(history, "loss"), onset)
    lr = learning_rates(history)
    return observed(
        "grad-explosion",
        severity="warning" if is_felt or rise.level >= limits.alone_times * rise.base else "info",
        facts={"before": rise.base, "now": rise.level, "at": when(history, onset)},
        confidence=0.8 if is_felt else 0.6,
        evidence=(
            f"median of the values before {rise.base:.4g}, of the last 5 {rise.level:.4g}: {rise.level / rise.base:.0f} times",
            "the loss rises as well" if is_felt else "the loss does not rise (yet): clipping may hold it",
            *((f"learning rate {lr.values[-1]:.3g}",) if lr is not None else ()),
        ),
        ranks=series.ranks(),
    )


def _loss_has_risen(loss: Series | None, onset: CurvePoint) -> bool:
    """Its newest values stand clearly above those before the norm grew; without a loss nothing speaks against it."""
    base = [] if loss is None else [point.value for point in loss.points if point.at_s < onset.at_s][-BASE_LEAST:]
    if loss is None or len(base) < LEVEL_VALUES:
        return True
    return median(loss.values[-LEVEL_VALUES:]) > median(base) + 2 * spread(base)


def check_vanishing(history: History, limits: Limits = VANISHING) -> Observation | None:
    """The gradients are (nearly) zero, although there is something left to learn."""
    series = series_of(history, "grad_norm")
    loss = series_of(history, "loss")
    if series is None or len(series.points) < limits.points:
        return None
    values = series.values
    count = 0
    while count < len(values) and 0 <= values[-1 - count] < limits.norm:
        count += 1
    before = values[max(0, len(values) - count - 10) : len(values) - count]
    is_rounded = values[-1] == 0.0 and (would_round_to_zero(before) if before else not is_whole(series))
    if count < limits.points or is_rounded or (loss is not None and _learns(loss, series.points[-count])):
        return None
    first = series.points[-count]
    return observed(
        "grad-vanishing",
        confidence=0.75,
        facts={"norm": values[-1], "since": when(history, first).removeprefix("at ")},
        evidence=(
            f"below {limits.norm:g} in the last {count} values"
            + (f"; {median(before):.3g} before" if before else ", the first included"),
            *(
                (f"the loss does not fall: {median(loss.values[-int(limits.points) :]):.4g}",)
                if loss is not None and loss.points
                else ()
            ),
        ),
        ranks=series.ranks(),
    )


def _learns(loss: Series, since: CurvePoint) -> bool:
    """It falls all the same (so the norm that is told is not that of the gradients), or there is nothing left to fall."""
    reported = [point.value for point in loss.points if point.at_s >= since.at_s]
    falls = trend(block_medians(reported, 20)).high < 0
    return falls or (bool(loss.points) and abs(loss.values[-1]) < 1e-4 * max(abs(value) for value in loss.values))


def check_scale(history: History, limits: Limits = SCALE) -> Observation | None:
    """fp16 gradients overflow step after step: the loss scale falls and falls, or the log tells one skipped step after another."""
    series = series_of(history, "loss_scale")
    fall = _fall(series.values, int(limits.halvings)) if series is not None else None
    if series is not None and fall is not None:
        begin, now = series.points[fall], series.points[-1]
        times, count = log2(begin.value / now.value), len(series.points) - fall - 1
        since = when(history, begin).removeprefix("at ")
        return _overflow(
            {"scale_before": begin.value, "scale": now.value},
            (f"{times:.0f} halvings within {count} values, since {since}, without one doubling",),
            series.ranks(),
        )
    return _skipped(history, limits) or _reported_overflows(history, limits)


def _fall(scales: Sequence[float], halvings: int) -> int | None:
    """Index of the last value before the scale fell and fell; None where it does not."""
    if not scales or min(scales) <= 0:
        return None
    last = len(scales) - 1
    while last > 0 and scales[last - 1] == scales[last]:
        last -= 1
    begin = last
    while begin > 0 and scales[begin - 1] >= scales[begin] and last - begin < OVER_POINTS:
        begin -= 1
    while begin < last and scales[begin + 1] == scales[begin]:
        begin += 1
    is_deep = scales[begin] >= 2**halvings * scales[-1]
    if not is_deep or len(scales) - 1 - last >= OVER_POINTS:
        return None
    return begin if scales[-1] < 1 or _was_steady(scales[: begin + 1]) else None


def _was_steady(scales: Sequence[float]) -> bool:
    """Has the first search for a scale ended before this?"""
    held = 0
    for earlier, later in pairwise(scales):
        held = 0 if later < earlier else held + 1
        if held >= STEADY_POINTS:
            return True
    return False


def _skipped(history: History, limits: Limits) -> Observation | None:
    """A count of skipped steps that grows with (nearly) every step."""
    for rank in history.live_ranks:
        counts = history.rank_series(120.0, rank.rank, _skipped_steps)
        if len(counts) < 2:  # hardly any training reports them
            continue
        steps = [point for point in history.rank_series(120.0, rank.rank, _step) if point[1] >= FIRST_STEPS]
        counts = [point for point in counts if steps and point[0] >= steps[0][0]]
        if min(len(counts), len(steps)) < 2:
            continue
        more, done = counts[-1][1] - counts[0][1], steps[-1][1] - steps[0][1]
        if more >= limits.halvings and more >= limits.skipped_share * done > 0:
            return _overflow(
                {"skipped": more, "steps": done},
                (
                    f"rank {rank.rank}: {counts[0][1]:.0f} skipped steps at step {steps[0][1]:.0f}, {counts[-1][1]:.0f} now",
                ),
                (rank.rank,),
            )
    return None


def _skipped_steps(rank: Rank) -> float | None:
    return None if rank.progress.newest is None else rank.progress.newest.skipped_steps


def _step(rank: Rank) -> float | None:
    return None if rank.progress.newest is None else rank.progress.newest.step


def _reported_overflows(history: History, limits: Limits) -> Observation | None:
    """Lines about skipped steps, with few steps between them."""
    job, loss = history.job, series_of(history, "loss")
    events = [event for event in (job.logs.events if job else ()) if event.pattern == "loss-scale-overflow"][
        -int(limits.lines) :
    ]
    if len(events) < limits.lines or _is_over(history, events[-1], loss):
        return None
    between = [point for point in (loss.points if loss else ()) if events[0].at_s <= point.at_s <= events[-1].at_s]
    first = between[0].step if between else None
    steps = _steps_of(between) if loss is not None else _lines_of(events)
    if (
        any(event.is_past for event in events)
        or steps > limits.lines / limits.skipped_share
        or (first is not None and first < FIRST_STEPS)
    ):
        return None
    return _overflow(
        {"reported": limits.lines, "steps": max(limits.lines, steps)},
        tuple(f"{quoted(event.path)}: {quoted(event.text)}" for event in (events[0], events[-1])),
        tuple(sorted({event.rank for event in events if event.rank is not None})),
        events[-1].text,
    )


def _steps_of(points: Sequence[CurvePoint]) -> int:
    """How many steps these losses span; without a step in the log, each is told one."""
    first, last = (points[0].step, points[-1].step) if points else (None, None)
    return len(points) if first is None or last is None else last - first + 1


def _lines_of(events: Sequence[LogEvent]) -> int:
    """How many lines these span in their file: where no loss is read, any other line between them may be of a step that was taken."""
    first, last = events[0].line_no, events[-1].line_no
    return len(events) if first is None or last is None else last - first + 1


def _is_over(history: History, last: LogEvent, loss: Series | None) -> bool:
    since = [point for point in (loss.points if loss else ()) if point.at_s > last.at_s]
    return history.job is None or len(since) >= OVER_POINTS


def _overflow(facts: Facts, evidence: tuple[str, ...], ranks: tuple[int, ...], line: str | None = None) -> Observation:
    return observed("loss-scale-overflow", confidence=0.85, facts=facts, evidence=evidence, ranks=ranks, log_line=line)

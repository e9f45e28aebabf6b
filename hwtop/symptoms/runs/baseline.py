"""Baseline: is a run slower than a stored good one, and where. Pure."""

from __future__ import annotations

from math import hypot

from hwtop.model.baseline import Baseline, Comparison, Difference, JobIdentity, Level
from hwtop.model.evidence import SURE
from hwtop.symptoms.runs.levels import MEASURES, PHASES, Measure

WHERE_SHARE = 0.3
"""A phase that took this part of what a step takes more is where it is slower. Engineering default."""
_WORDS = {"script": "script", "world_size": "world size", "machine": "machine", "gpus": "GPUs"}


def compare(then: Baseline, now: Baseline) -> Comparison:
    """`now` beside `then`. Throughput decides where both tell it in one unit: steps may have become larger."""
    is_one_unit = then.throughput_unit == now.throughput_unit
    differences = tuple(
        difference(measure, then.levels[measure.name], now.levels[measure.name])
        for measure in MEASURES
        if measure.name in then.levels and measure.name in now.levels and (measure.name != "throughput" or is_one_unit)
    )
    known = {each.name: each for each in differences}
    pace = known.get("throughput") or known.get("step_time_s")
    rose = pace is not None and pace.now.median > pace.then.median
    is_more_slow = rose is (pace is not None and pace.name == "step_time_s")
    where, where_s = _where(known)
    return Comparison(
        is_slower=None if pace is None else pace.is_clear and is_more_slow,
        is_quicker=pace is not None and pace.is_clear and not is_more_slow,
        pace=pace.name if pace else None,
        differences=differences,
        where=where,
        where_s=where_s,
        not_alike=_not_alike(then.identity, now.identity) if then.watched_s and now.watched_s else (),
    )


def difference(measure: Measure, then: Level, now: Level) -> Difference:
    """The same quantity of both runs."""
    least = max(
        measure.least,
        measure.least_share * min(abs(then.median), abs(now.median)),
        SURE * hypot(then.noise, now.noise),
    )
    return Difference(name=measure.name, then=then, now=now, is_clear=abs(now.median - then.median) >= max(least, 1e-9))


def _where(known: dict[str, Difference]) -> tuple[str | None, float | None]:
    """The phase that takes most of the seconds that a step takes more."""
    time = known.get("step_time_s")
    if time is None or not time.is_clear or time.now.median <= time.then.median:
        return None, None
    more = {
        name: each.now.median * time.now.median - each.then.median * time.then.median
        for name, each in known.items()
        if name in PHASES
    }
    name = max(more, key=lambda phase: more[phase], default=None)
    added = time.now.median - time.then.median
    if name is None or more[name] < WHERE_SHARE * added:
        return None, None
    return name, min(more[name], added)  # the rest has become quicker


def _not_alike(then: JobIdentity, now: JobIdentity) -> tuple[tuple[str, str, str], ...]:
    pairs = ((words, getattr(then, field), getattr(now, field)) for field, words in _WORDS.items())
    return tuple((words, str(old), str(new)) for words, old, new in pairs if None not in (old, new) and old != new)

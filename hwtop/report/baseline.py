"""Baselines as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from hwtop.job.log.text import visible
from hwtop.model.baseline import Baseline, Comparison, Difference, JobIdentity, Level
from hwtop.model.output import Output
from hwtop.seconds import minute
from hwtop.symptoms.runs.levels import MEASURES, PHASES

_MEASURES = {measure.name: measure for measure in MEASURES}
_GIB = 1 << 30


class SavedBaseline(Output, frozen=True, kw_only=True):
    """`hwtop baseline save --json`."""

    name: str
    path: str
    baseline: Baseline


class DifferenceObject(Struct, frozen=True, kw_only=True):
    """One number of both runs."""

    name: str
    clear: bool
    change: float | None
    then: Level
    now: Level


class NotAlike(Struct, frozen=True, kw_only=True):
    """In what the two runs are not the same job."""

    what: str
    then: str
    now: str


class ComparisonReport(Output, frozen=True, kw_only=True):
    """`hwtop baseline compare --json`."""

    baseline: str
    saved_time: float
    slower: bool | None
    quicker: bool | None
    pace: str | None
    where: str | None
    where_s: float | None
    differences: tuple[DifferenceObject, ...]
    not_alike: tuple[NotAlike, ...]
    then: JobIdentity
    now: JobIdentity


def saved_text(baseline: Baseline, name: str) -> list[str]:
    """What has been stored."""
    lines = [f"baseline {name} saved: {_whose(baseline)}"]
    width = max((len(_MEASURES[key].words) for key in baseline.levels if key in _MEASURES), default=0)
    for key, measure in _MEASURES.items():
        if (level := baseline.levels.get(key)) is not None and not (key in PHASES and level.median == 0):
            lines.append(f"  {measure.words:{width}}  {_shown(key, level.median, baseline)} ({_samples(level)})")
    return lines


def list_line(name: str, baseline: Baseline) -> str:
    """One stored baseline."""
    paces = (key for key in ("step_time_s", "throughput") if key in baseline.levels)
    reported = ", ".join(
        f"{_MEASURES[key].words} {_shown(key, baseline.levels[key].median, baseline)}" for key in paces
    )
    return f"{name}: {_whose(baseline)}; {reported or 'no step time'}"


def comparison_text(found: Comparison, then: Baseline, now: Baseline, name: str) -> list[str]:
    """What the run is compared with is called `name`. The answer first, then all values known of both runs; a star marks clear differences."""
    lines = [f"{_verdict(found)} than {name} ({minute(then.saved_time_s)}){_pace_text(found, then, now)}", ""]
    lines += [
        f"different {what}: {visible(old)} -> {visible(new)}; the comparison is less reliable"
        for what, old, new in found.not_alike
    ]
    rows = [_row(each, then, now) for each in found.differences if not _is_never(each)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for mark, words, old, new, change in rows:
        lines.append(f"{mark} {words:{widths[1]}}  {old:>{widths[2]}} -> {new:>{widths[3]}}  {change}".rstrip())
    if not rows:
        lines.append("no value is known of both runs")
    return lines


def comparison_report(found: Comparison, then: Baseline, now: Baseline, name: str) -> ComparisonReport:
    """The comparison as JSON has it."""
    return ComparisonReport(
        baseline=name,
        saved_time=then.saved_time_s,
        slower=found.is_slower,
        quicker=found.is_quicker,
        pace=found.pace,
        where=found.where,
        where_s=found.where_s,
        differences=tuple(map(difference_object, found.differences)),
        not_alike=not_alike(found.not_alike),
        then=then.identity,
        now=now.identity,
    )


def difference_object(one: Difference) -> DifferenceObject:
    """One number as JSON has it."""
    return DifferenceObject(name=one.name, clear=one.is_clear, change=_change(one), then=one.then, now=one.now)


def not_alike(found: Iterable[tuple[str, str, str]]) -> tuple[NotAlike, ...]:
    """Differences of the jobs themselves as JSON has them."""
    return tuple(NotAlike(what=what, then=old, now=new) for what, old, new in found)


def _verdict(found: Comparison) -> str:
    if found.is_slower is None:
        return "unknown whether slower"
    return "SLOWER" if found.is_slower else "faster" if found.is_quicker else "not slower"


def _pace_text(found: Comparison, then: Baseline, now: Baseline) -> str:
    known = {each.name: each for each in found.differences}
    if found.pace is None:
        return ""
    reported = [sentence(known[found.pace], then, now)]
    if found.pace != "step_time_s" and "step_time_s" in known:
        reported.append(sentence(known["step_time_s"], then, now))
    if found.where is None or found.where_s is None:
        return ": " + ", ".join(reported)
    time = known["step_time_s"]
    added = time.now.median - time.then.median
    share = sentence(known[found.where], then, now)
    return f": {', '.join(reported)}: {share}, {found.where_s:.2g} s of the {added:.2g} s that a step takes longer"


def sentence(one: Difference, then: Baseline, now: Baseline) -> str:
    """ "step time 0.31 -> 0.42 s (+35 %)"."""
    old, new = _shown(one.name, one.then.median, then), _shown(one.name, one.now.median, now)
    number, _, unit = old.partition(" ")
    old = number if unit and new.endswith(f" {unit}") and one.name not in PHASES else old
    change = _change_text(one)
    return f"{_MEASURES[one.name].words} {old} -> {new}" + (f" ({change})" if change else "")


def _row(one: Difference, then: Baseline, now: Baseline) -> tuple[str, str, str, str, str]:
    return (
        "*" if one.is_clear else " ",
        _MEASURES[one.name].words,
        _shown(one.name, one.then.median, then),
        _shown(one.name, one.now.median, now),
        _change_text(one) or "",
    )


def _is_never(one: Difference) -> bool:
    """A phase that neither run is in."""
    return one.name in PHASES and one.then.median == one.now.median == 0


def _change(one: Difference) -> float | None:
    """As a share of the earlier value; None if that was 0."""
    return None if one.then.median == 0 else one.now.median / one.then.median - 1


def _change_text(one: Difference) -> str | None:
    change = _change(one)
    if change is None or _MEASURES[one.name].unit in ("share", "%"):
        return None
    return f"{change:+.0%}".replace("%", " %")


def _shown(name: str, value: float, baseline: Baseline) -> str:
    unit = _MEASURES[name].unit
    if unit == "share":
        return f"{100 * value:.0f} %"
    if unit == "B":
        return f"{value / _GIB:.3g} GiB" if value >= _GIB else f"{value / (1 << 20):.0f} MiB"
    if unit == "/s":
        return f"{value:.4g} {visible(baseline.throughput_unit or '')}".rstrip()
    return f"{value:.3g} {unit}" if unit in ("s", "cores") else f"{value:.{0 if value >= 10 else 1}f} {unit}"


def _samples(level: Level) -> str:
    return f"{level.samples} value{'' if level.samples == 1 else 's'}"


def _whose(baseline: Baseline) -> str:
    one = baseline.identity
    world = f", {one.world_size} rank{'' if one.world_size == 1 else 's'}" if one.world_size else ""
    watched = f", watched for {baseline.watched_s:.0f} s" if baseline.watched_s is not None else ", from logs"
    kinds = "".join(f", {visible(kind)}" for kind in (one.host, one.machine, one.gpus) if kind)
    return f"{visible(one.script)}{world}{kinds}{watched}, {minute(baseline.saved_time_s)}"

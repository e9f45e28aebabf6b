"""Thresholds from the settings file: the rules with their numbers in place of the defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from msgspec.structs import replace

from hwtop.errors import UsageError
from hwtop.suggestion import did_you_mean
from hwtop.symptoms.records import Limit, records
from hwtop.symptoms.rule import Limits, Rule

Thresholds = Mapping[str, Mapping[str, float]]
"""Symptom -> name -> value."""

_TIMES = ("raise_s", "clear_s")


def with_thresholds(rules: Iterable[Rule], wanted: Thresholds) -> tuple[Rule, ...]:
    """The rules, those that are named in `wanted` with its numbers.

    Raises:
        UsageError: no such symptom or threshold, or a value that is not allowed.
    """
    rules = tuple(rules)
    known = [rule.symptom for rule in rules]
    for symptom in wanted:
        if symptom not in known:
            raise UsageError(
                f"settings: no symptom {symptom!r}: {did_you_mean(symptom, known, '`hwtop symptoms` lists them')}"
            )
    return tuple(_with(rule, wanted[rule.symptom]) if rule.symptom in wanted else rule for rule in rules)


def settable(rule: Rule) -> dict[str, float]:
    """All numbers of a rule that can be set, with the values in effect: the limits, then how long it must be observed."""
    return {**(rule.limits or {}), "raise_s": rule.raise_s, "clear_s": rule.clear_s}


def limit_of(rule: Rule, name: str) -> Limit:
    """Default, unit, range, meaning and source of one of them."""
    if name in _TIMES:
        return Limit(default=getattr(rule, name), unit="s", ge=0, le=3600)
    return records()[rule.symptom].limits[name]


def range_words(rule: Rule, name: str) -> str:
    """ "above 0, at most 100"."""
    return limit_of(rule, name).range_words


def _with(rule: Rule, values: Mapping[str, float]) -> Rule:
    names = settable(rule)
    for name, value in values.items():
        if name not in names:
            hint = did_you_mean(name, names, f"there are {', '.join(names)}")
            raise UsageError(f"settings: {rule.symptom} has no threshold {name!r}: {hint}")
        if not isfinite(value):
            raise UsageError(f"settings: {rule.symptom}.{name}: {value} is not a number: {_allowed(rule, name)}")
        if not limit_of(rule, name).allows(value):
            raise UsageError(f"settings: {rule.symptom}.{name} = {value:g}: {_allowed(rule, name)}")
    set_to = names | {name: _typed(rule, name, value) for name, value in values.items()}
    limits = None if rule.limits is None else Limits({name: set_to[name] for name in rule.limits})
    return replace(rule, limits=limits, raise_s=set_to["raise_s"], clear_s=set_to["clear_s"])


def _typed(rule: Rule, name: str, value: float) -> float:
    """3.0 is 3 where it counts something."""
    return int(value) if isinstance(limit_of(rule, name).default, int) else float(value)


def _allowed(rule: Rule, name: str) -> str:
    share = "; a share: 0.15 is 15 %" if name.endswith("share") else ""
    return f"it must be {range_words(rule, name)}{share}; the default is {settable(rule)[name]:g}"

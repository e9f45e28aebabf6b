"""Thresholds that a person has set: the rules with their numbers in place of the defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite

import msgspec

from hwtop.errors import UsageError
from hwtop.symptoms.rule import Rule

Thresholds = Mapping[str, Mapping[str, float]]
"""Symptom -> name -> value."""


def with_thresholds(rules: Iterable[Rule], wanted: Thresholds) -> tuple[Rule, ...]:
    """The rules, those that are named in `wanted` with its numbers.

    Raises:
        UsageError: no such symptom or threshold, or a value that makes no sense.
    """
    rules = tuple(rules)
    adjustable = {rule.symptom: rule for rule in rules if rule.limits is not None}
    for symptom in wanted:
        if symptom not in adjustable:
            near = get_close_matches(symptom, adjustable, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"those of {', '.join(sorted(adjustable))} can"
            raise UsageError(f"settings: no threshold of {symptom!r} can be set: {hint}")
    return tuple(_with(rule, wanted[rule.symptom]) if rule.symptom in wanted else rule for rule in rules)


def _with(rule: Rule, values: Mapping[str, float]) -> Rule:
    if rule.limits is None or rule.with_limits is None:
        return rule
    known = rule.limits.__struct_fields__
    for name, value in values.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"settings: {rule.symptom} has no threshold {name!r}: {hint}")
        if not isfinite(value):
            raise UsageError(
                f"settings: {rule.symptom}.{name}: {value} is no number: `hwtop config show` has the defaults"
            )
    try:
        return rule.with_limits(msgspec.convert(msgspec.to_builtins(rule.limits) | dict(values), type(rule.limits)))
    except msgspec.ValidationError as error:
        raise UsageError(f"settings: {rule.symptom}: {error}; `hwtop config show` has the defaults") from error

"""Thresholds that a person has set: the rules with their numbers in place of the defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import isfinite
from typing import Any

import msgspec
from msgspec.inspect import Field, FloatType, IntType, StructType

from hwtop.errors import UsageError
from hwtop.symptoms.rule import Limits, Rule, Times

Thresholds = Mapping[str, Mapping[str, float]]
"""Symptom -> name -> value."""


def with_thresholds(rules: Iterable[Rule], wanted: Thresholds) -> tuple[Rule, ...]:
    """The rules, those that are named in `wanted` with its numbers.

    Raises:
        UsageError: no such symptom or threshold, or a value that makes no sense.
    """
    rules = tuple(rules)
    known = [rule.symptom for rule in rules]
    for symptom in wanted:
        if symptom not in known:
            raise UsageError(
                f"settings: no symptom {symptom!r}: {_near(symptom, known, '`hwtop symptoms` lists them')}"
            )
    return tuple(_with(rule, wanted[rule.symptom]) if rule.symptom in wanted else rule for rule in rules)


def settable(rule: Rule) -> dict[str, float]:
    """All numbers of a rule that can be set, with the values that hold: the limits, then how long it must hold."""
    own = {} if rule.limits is None else msgspec.to_builtins(rule.limits)
    return {**own, "raise_s": rule.raise_s, "clear_s": rule.clear_s}


def range_words(rule: Rule, name: str) -> str:
    """ "above 0, at most 100"."""
    return _range(_fields(rule)[name].type)


def _with(rule: Rule, values: Mapping[str, float]) -> Rule:
    fields = _fields(rule)
    for name, value in values.items():
        if name not in fields:
            hint = _near(name, fields, f"there are {', '.join(fields)}")
            raise UsageError(f"settings: {rule.symptom} has no threshold {name!r}: {hint}")
        if not isfinite(value):
            raise UsageError(f"settings: {rule.symptom}.{name}: {value} is no number: {_allowed(rule, name)}")
    times, limits = Times(raise_s=rule.raise_s, clear_s=rule.clear_s), rule.limits
    times = _set(rule, times, values)
    if limits is not None:
        limits = _set(rule, limits, values)
    return replace(rule, limits=limits, raise_s=times.raise_s, clear_s=times.clear_s)


def _set(rule: Rule, limits: Any, values: Mapping[str, float]) -> Any:
    """`limits` with those of the values that are its own."""
    own = {name: _whole(value) for name, value in values.items() if name in limits.__struct_fields__}
    try:
        return msgspec.convert(msgspec.to_builtins(limits) | own, type(limits))
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].rstrip("`")
        raise UsageError(f"settings: {rule.symptom}.{name} = {own[name]:g}: {_allowed(rule, name)}") from error


def _whole(value: float) -> float:
    """What is counted is an int: 3.0 is meant as 3."""
    return int(value) if value == int(value) else value


def _allowed(rule: Rule, name: str) -> str:
    share = "; a share: 0.15 is 15 %" if name.endswith("share") else ""
    return f"it must be {range_words(rule, name)}{share}; the default is {settable(rule)[name]:g}"


def _near(name: str, known: Iterable[str], otherwise: str) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def _fields(rule: Rule) -> dict[str, Field]:
    kinds: list[type[Limits]] = [Times] if rule.limits is None else [type(rule.limits), Times]
    return {field.name: field for kind in kinds for field in _struct(kind).fields}


def _struct(kind: type[Limits]) -> StructType:
    found = msgspec.inspect.type_info(kind)
    assert isinstance(found, StructType)
    return found


def _range(kind: object) -> str:
    assert isinstance(kind, (FloatType, IntType))
    bounds = ((kind.gt, "above"), (kind.ge, "at least"), (kind.lt, "below"), (kind.le, "at most"))
    words = [f"{word} {bound:g}" for bound, word in bounds if bound is not None]
    return ", ".join(["a whole number", *words] if isinstance(kind, IntType) else words)

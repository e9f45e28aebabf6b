"""Levels of the fields that rules check: a number has the colour of a warning where its rule would raise one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from hwtop.fields.field import Field
from hwtop.fields.level import Level, Levels
from hwtop.fields.registry import FIELDS
from hwtop.symptoms.records import Colour, records
from hwtop.symptoms.rule import Rule
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import Thresholds, with_thresholds


def levels(rules: Iterable[Rule]) -> Levels:
    """Field -> level, from the limits of these rules: `colours` in the record of a symptom names them. Where a rule asks for several
    things at once, each number is marked at its own limit."""
    return {
        colour.field: _level(FIELDS[colour.field], colour, rule)
        for rule in rules
        if rule.symptom in records()
        for colour in records()[rule.symptom].colours
    }


def chosen(thresholds: Thresholds) -> Levels:
    """From the limits that a person has set.

    Raises:
        UsageError: no such symptom or limit, or a value out of its range.
    """
    return levels(with_thresholds(RULES, thresholds)) if thresholds else built_in()


@cache
def built_in() -> Levels:
    """From the limits that hold unless a person sets others."""
    return levels(RULES)


def _level(field: Field[Any], colour: Colour, rule: Rule) -> Level:
    limits: Mapping[str, float] = rule.limits or {}

    def limit(name: str | None) -> float | None:
        if name is None:
            return None
        return 100 * limits[name] if name.endswith("_share") and field.kind == "percent" else limits[name]

    return Level(
        warning=limit(colour.warning), critical=limit(colour.critical), is_low=field.is_low, source=rule.symptom
    )

"""The rules: each record with the function that it names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern, joined
from hwtop.symptoms.records import Record, records, room_of
from hwtop.symptoms.rule import Limits, Observation, Rule, limits_of

LOG_LINE = "a line of the job's log matches (`hwtop patterns show` lists the patterns)"


def _rule(symptom: str, record: Record) -> Rule:
    return Rule(
        symptom=symptom,
        category=record.category,
        threshold=record.threshold or LOG_LINE,
        raise_s=record.raise_s,
        clear_s=record.clear_s,
        check=_check(symptom, record),
        limits=limits_of(symptom) if record.limits else None,
    )


def _check(symptom: str, record: Record) -> Callable[..., Observation | None]:
    """The function that the record names; without one, the log alone raises it."""
    if record.check is None:
        return partial(check_pattern, symptom)
    module, _, function = record.check.partition(".")
    found: Callable[..., Observation | None] = getattr(
        import_module(f"hwtop.symptoms.{room_of(symptom)}.{module}"), function
    )
    return partial(_with_log, symptom, found) if record.log_line and not record.reads_log else found


def _with_log(
    symptom: str, check: Callable[..., Observation | None], history: History, *limits: Limits
) -> Observation | None:
    return joined(symptom, history, check(history, *limits))


RULES: tuple[Rule, ...] = tuple(
    _rule(symptom, record)
    for symptom, record in sorted(records().items(), key=lambda each: each[1].order)
    if record.unjudged is None
)
"""In the order in which findings of one severity are shown: what is nearer to the cause comes first."""

UNJUDGED = {symptom: record.unjudged for symptom, record in records().items() if record.unjudged is not None}
"""Symptoms without a rule, and why."""

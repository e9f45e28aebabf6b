"""Symptoms of the user's own log patterns: ids that hwtop itself does not know."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hwtop.job.patterns.registry import Registry, builtin
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.records import records
from hwtop.symptoms.rule import Rule


def own_rules(registry: Registry, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """A rule for each id of the registry that a person's file brings and none of `rules` is about."""
    taken = {rule.symptom for rule in rules}
    return tuple(
        Rule(
            symptom=name,
            category="stability",
            threshold="a line of the job's log matches a pattern of your own (`hwtop patterns show` lists them)",
            raise_s=0.0,
            clear_s=60.0,
            check=partial(check_pattern, name),
        )
        for name in _own_ids(registry)
        if name not in taken
    )


def refused_ids(registry: Registry, rules: Iterable[Rule]) -> tuple[str, ...]:
    """What a person must know: patterns with the id of a symptom that no log line can raise."""
    raised = {symptom for symptom, record in records().items() if record.log_line}
    taken = {rule.symptom for rule in rules} - raised - {pattern.id for pattern in builtin().patterns}
    return tuple(
        f"pattern {name!r} raises nothing while a job is watched: hwtop checks this symptom by other means; give it an id of its own"
        for name in _own_ids(registry)
        if name in taken
    )


def _own_ids(registry: Registry) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern.id for pattern in registry.patterns if pattern.is_own))

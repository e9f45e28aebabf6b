"""Checks that ask a rule of the monitor: the same thresholds, the same words, before the run instead of during it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hwtop.model.check import CheckStatus
from hwtop.model.reported.log import Severity
from hwtop.preflight.check import Outcome, passed
from hwtop.preflight.machine import Machine
from hwtop.symptoms.rule import Rule
from hwtop.symptoms.rules import RULES

_STATUS: dict[Severity, CheckStatus] = {"critical": "fail", "warning": "warn"}


def absent(symptom: str, needs: Callable[[Machine], object], good: str) -> Callable[[Machine], Outcome]:
    """A check that the rule of this symptom finds nothing worse than information.

    Args:
        symptom: its id.
        needs: reads what the rule looks at, and raises `NotReadError` where that is not possible.
        good: what to report where it finds nothing.
    """

    def look(machine: Machine) -> Outcome:
        needs(machine)
        seen = _rule(symptom).look(machine.history)
        if seen is None or seen.severity not in _STATUS:
            return passed(good)
        return Outcome(
            _STATUS[seen.severity],
            "; ".join(dict.fromkeys((seen.title, *seen.evidence))),
            next(iter(seen.next_steps), None),
        )

    return look


@cache
def _rule(symptom: str) -> Rule:
    return next(rule for rule in RULES if rule.symptom == symptom)

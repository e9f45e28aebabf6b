"""Rule: one symptom, what it needs to hold, and how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from hwtop.model.log import Severity
from hwtop.model.symptom import Category
from hwtop.symptoms.history import History

Percent = Annotated[float, Meta(gt=0, le=100)]
Share = Annotated[float, Meta(gt=0, le=1)]
Positive = Annotated[float, Meta(gt=0)]


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a rule's threshold that a person may set, with their defaults. Units in the names; a share is 0 to 1."""


class Observation(Struct, frozen=True, kw_only=True):
    """What a rule sees now. It becomes a Finding once it has held for the rule's `raise_s`."""

    severity: Severity
    confidence: float
    title: str
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    ranks: tuple[int, ...] = ()
    log_line: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A symptom and the pure function that looks for it."""

    symptom: str
    category: Category
    threshold: str
    """The rule in words, with its source."""
    raise_s: float
    """The observation must hold this long to be raised."""
    clear_s: float
    """It must be away this long to be cleared."""
    check: Callable[[History], Observation | None]
    limits: Limits | None = None
    """Those that hold; None where nothing can be set."""
    with_limits: Callable[[Any], Rule] | None = None
    """The same rule with other limits."""

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
Count = Annotated[int, Meta(ge=1)]
Window = Annotated[float, Meta(ge=1, le=600)]
"""Seconds that are looked back on: hwtop remembers ten minutes."""
Hold = Annotated[float, Meta(ge=0, le=3600)]
"""Seconds that something must last."""
ONE_MORE_LOOK_S = 0.5
"""To be raised where the time is in what a rule asks for: one more look must agree, however far looks are apart."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a rule's threshold that a person may set, with their defaults. Units in the names; a share is 0 to 1."""


class Times(Limits, frozen=True, kw_only=True):
    """What can be set of every rule."""

    raise_s: Hold
    """The observation must hold this long to be raised."""
    clear_s: Hold
    """It must be away this long to be cleared."""


class Observation(Struct, frozen=True, kw_only=True):
    """What a rule sees now. It becomes a Finding once it has held for the rule's `raise_s`."""

    severity: Severity
    confidence: float
    """0 to 1. Where a share of samples decides: `statistics.proven_confidence`. Else fixed for the kind of witness, and not
    calibrated: 0.95 and more where driver, kernel or log say it themselves, 0.9 where it is counted, 0.75 to 0.85 where one
    witness lets it be inferred, less where other explanations are common."""
    title: str
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    ranks: tuple[int, ...] = ()
    log_line: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A symptom and the pure function that looks for it.

    Where `limits` is set, `check` and `threshold` get it: the same rule with other limits is this one with `limits` replaced.
    """

    symptom: str
    category: Category
    threshold: str | Callable[[Any], str]
    """The rule in words, with its source."""
    raise_s: float
    """The observation must hold this long to be raised."""
    clear_s: float
    """It must be away this long to be cleared."""
    check: Callable[..., Observation | None]
    limits: Limits | None = None
    """Those that hold; None where no number decides."""

    @property
    def says(self) -> str:
        """The rule in words, with the limits that hold."""
        return self.threshold if isinstance(self.threshold, str) else self.threshold(self.limits)

    def look(self, history: History) -> Observation | None:
        """What it sees now."""
        return self.check(history) if self.limits is None else self.check(history, self.limits)

"""Rule: a symptom's record bound to the pure function that looks for it, with the limits that are in effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Category
from hwtop.symptoms.history import History
from hwtop.symptoms.records import records
from hwtop.symptoms.text import Facts, filled

_GRADUAL_S = 15.0
"""A symptom that is cleared sooner follows from moment to moment what ranks do. Engineering default."""


class Limits(Mapping[str, float]):
    """The numbers of a threshold: `limits.window_s`. Units in the names; a share is 0 to 1. Immutable."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, float]) -> None:
        """By name."""
        self._values = dict(values)

    def __getattr__(self, name: str) -> float:
        """The value of one.

        Raises:
            AttributeError: there is none of that name.
        """
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"no limit {name!r}")
        return self._values[name]

    def __getitem__(self, name: str) -> float:
        """As `__getattr__`, with KeyError."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Their names, in the order of the record."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._values)

    def __hash__(self) -> int:
        """So that an answer can be kept by the limits that it was found with (`History.once`)."""
        return hash(tuple(self._values.items()))


def limits_of(symptom: str) -> Limits:
    """The defaults of its record."""
    return Limits({name: limit.default for name, limit in records()[symptom].limits.items()})


class Observation(Struct, frozen=True, kw_only=True):
    """What a rule sees now. It becomes a Finding once it has been seen for the rule's `raise_s`."""

    severity: Severity
    confidence: float
    """0 to 1. Where a share of samples decides: `statistics.proven_confidence`. Else fixed for the kind of source, and not
    calibrated: 0.95 and more where driver, kernel or log report it themselves, 0.9 where it is counted, 0.75 to 0.85 where one
    source lets it be inferred, less where other explanations are common."""
    title: str
    evidence: tuple[str, ...]
    """Each quotes numbers."""
    next_steps: tuple[str, ...]
    ranks: tuple[int, ...] = ()
    log_line: str | None = None
    facts: Facts = {}
    """What the texts of the record are filled with."""


def observed(
    symptom: str,
    *,
    confidence: float,
    evidence: tuple[str, ...],
    facts: Facts | None = None,
    severity: Severity | None = None,
    ranks: tuple[int, ...] = (),
    log_line: str | None = None,
) -> Observation:
    """What a rule returns: its facts, in the words of the record.

    Args:
        facts: name of a placeholder -> value; None is a fact that is not known.
        severity: None for that of the record.
    """
    record, known = records()[symptom], facts or {}
    return Observation(
        severity=severity or record.severity,
        confidence=confidence,
        title=record.finding_with(known),
        evidence=evidence,
        next_steps=record.steps_with(known),
        ranks=ranks,
        log_line=log_line,
        facts=known,
    )


class Rule(Struct, frozen=True, kw_only=True):
    """A symptom and the pure function that looks for it.

    Where it has `limits`, `check` gets them: the same rule with other limits is this one with `limits` replaced.
    """

    symptom: str
    category: Category
    threshold: str
    """When it is raised, in words, with the limits as placeholders."""
    raise_s: float
    """It must be observed this long to be raised."""
    clear_s: float
    """It must be absent this long to be cleared."""
    check: Callable[..., Observation | None]
    limits: Limits | None = None
    """Those in effect; None where no number decides."""

    @property
    def says(self) -> str:
        """When it is raised, with the limits in effect."""
        return filled(self.threshold, dict(self.limits or {})) or self.threshold

    @property
    def is_gradual(self) -> bool:
        """It looks for what builds up over a minute, and neither comes nor goes within seconds."""
        is_lasting = self.category == "performance" or (self.category == "correctness" and self.raise_s > 0)
        return is_lasting and self.clear_s >= _GRADUAL_S

    def look(self, history: History) -> Observation | None:
        """What it sees now."""
        return self.check(history) if self.limits is None else self.check(history, self.limits)

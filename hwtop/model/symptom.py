"""Findings: what is wrong, how we know, what to do."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.reported.log import Severity

Category = Literal["performance", "correctness", "stability"]
AT_LEAST: dict[str, tuple[Severity, ...]] = {
    "info": ("info", "warning", "critical"),
    "warning": ("warning", "critical"),
    "critical": ("critical",),
}
"""Severity -> it and all that are graver."""
Answer = Literal["yes", "no", "unknown"]
StallClass = Literal["communication hang", "communication slow", "non-communication hang", "non-communication slow"]
"""C4D's four classes (Dong et al. 2024, "Boosting Large-scale Parallel Training Efficiency with C4")."""
VerdictLevel = Literal["ok", "info", "warning", "critical", "unknown", "ended"]


class Finding(Struct, frozen=True, gc=False, kw_only=True):
    """One symptom on this job. Field names are the JSON contract of `hwtop diagnose`."""

    symptom: str
    severity: Severity
    confidence: float
    """0 to 1."""
    category: Category
    title: str
    """One sentence with subject and number."""
    evidence: tuple[str, ...]
    """Each quotes numbers."""
    next_steps: tuple[str, ...]
    """Most telling first; commands carry this job's values."""
    ranks: tuple[int, ...] = ()
    first_seen_s: float = 0.0
    """Seconds after hwtop began to watch."""
    log_line: str | None = None
    test: str | None = None
    """The quick test that would show it to be something else."""
    refuted_by: str | None = None
    """What one would see then, or sees already."""
    escalate: tuple[str, ...] = ()
    """Deeper tools with their commands, where the next steps are not enough."""
    folded: tuple[str, ...] = ()
    """Symptoms that follow from this one, e.g. "nccl-timeout x63"."""


class Episode(Struct, frozen=True, gc=False, kw_only=True):
    """One time that a symptom was up, for the timeline of a session. Times are seconds after hwtop began to watch."""

    symptom: str
    severity: Severity
    """The newest one."""
    title: str
    """The newest one."""
    seen_s: float
    """From here on its rule saw something."""
    raised_s: float
    """From here on it was a finding."""
    cleared_s: float | None = None
    """None while it is up."""


class Blind(Struct, frozen=True, gc=False, kw_only=True):
    """Something hwtop could not see, and why."""

    source: str
    reason: str


class Hypothesis(Struct, frozen=True, gc=False, kw_only=True):
    """One of the questions that are asked of every slow job, answered. Field names are the JSON contract of `hwtop diagnose`."""

    hypothesis: str
    check: str
    """What was looked at, and from where on it counts."""
    result: str
    """The numbers; where the answer is unknown, why."""
    verdict: Answer


class Verdict(Struct, frozen=True, gc=False, kw_only=True):
    """The one line that answers "what is wrong"."""

    level: VerdictLevel
    text: str
    category: Category | None = None
    """Of the finding that decides; None where nothing is wrong."""
    stall: StallClass | None = None
    """Where all ranks wait for each other: is it the communication itself, or what a rank does beside it."""

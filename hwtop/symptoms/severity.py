"""Severities in their order."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Episode

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""Worst first."""


def worst(severities: Iterable[Severity]) -> Severity:
    """The worst of them; info where there is none."""
    return min(severities, key=SEVERITIES.index, default="info")


def gravity(severity: Severity | None) -> int:
    """The worse the higher; 0 for none."""
    return 0 if severity is None else len(SEVERITIES) - SEVERITIES.index(severity)


def weightiest(episodes: Iterable[Episode]) -> Episode | None:
    """The worst of those that are no notes, of several the newest; None where there is none."""
    serious = [each for each in episodes if each.severity != "info"]
    return max(serious, key=lambda each: (gravity(each.severity), each.raised_s), default=None)

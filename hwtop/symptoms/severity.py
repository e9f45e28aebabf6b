"""Severities in their order."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.model.log import Severity

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""Worst first."""


def worst(severities: Iterable[Severity]) -> Severity:
    """The worst of them; info where there is none."""
    return min(severities, key=SEVERITIES.index, default="info")


def gravity(severity: Severity | None) -> int:
    """The worse the higher; 0 for none."""
    return 0 if severity is None else len(SEVERITIES) - SEVERITIES.index(severity)

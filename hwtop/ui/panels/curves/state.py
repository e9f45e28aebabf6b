"""What the curves page remembers."""

from __future__ import annotations

from dataclasses import dataclass

from hwtop.model.curve import CurveName


@dataclass(frozen=True)
class CurvesState:
    """The first curve at the start."""

    name: CurveName | None = None
    """Of the curve that is drawn large; None = the first."""
    source: int = 0
    """Which of the sources that report it."""
    log_scales: frozenset[CurveName] = frozenset()
    """Curves that are drawn on a log scale."""

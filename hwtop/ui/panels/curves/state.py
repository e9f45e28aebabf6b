"""What the curves page remembers."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.curve import CurveName


class CurvesState(Struct, frozen=True):
    """The first curve at the start."""

    name: CurveName | None = None
    """Of the curve that is drawn large; None = the first."""
    source: int = 0
    """Which of the sources that report it."""
    log_scales: frozenset[CurveName] = frozenset()
    """Curves that are drawn on a log scale."""

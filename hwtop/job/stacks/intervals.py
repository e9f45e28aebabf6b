"""Stretches of time in which a rank did one thing: saving, compiling, evaluating. Pure.

A look is a sample of its stack. What two looks show is taken to have lasted between them, and nothing is known of the time
before and after.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.model.rank_stack import Phase, PhaseInterval

KEPT: frozenset[Phase] = frozenset({"checkpoint", "compile", "eval"})
"""Phases whose spells are remembered: those that come now and then and stop the training."""
_KEPT = 64
_SETTLED_S = 10.0
"""A window of samples is handed over when it ends; dumps taken meanwhile came before it. Engineering default."""


class Recurrence(Struct, frozen=True, kw_only=True):
    """What spells that come again and again take."""

    share: float
    """Of the looks from the start of the first spell to the start of the last, 0 to 1."""
    looks: int
    """How many those are."""
    periods: int
    seconds: float


class PhaseIntervals:
    """The spells of one process; looks may come a little out of order."""

    def __init__(self) -> None:
        self._intervals: deque[PhaseInterval] = deque(maxlen=_KEPT)
        self._pending: list[tuple[float, Phase]] = []
        self._last: tuple[float, Phase] | None = None
        self._looks = 0

    def add(self, at_s: float, phase: Phase) -> None:
        """One look."""
        insort(self._pending, (at_s, phase))
        while self._pending[-1][0] - self._pending[0][0] > _SETTLED_S:
            self._last, self._looks = _take(self._intervals, self._last, self._looks, self._pending.pop(0))

    def all(self) -> tuple[PhaseInterval, ...]:
        """Oldest first; the last one may still go on (`over_by_s` is None)."""
        intervals, last, looks = self._intervals.copy(), self._last, self._looks
        for look in self._pending:
            last, looks = _take(intervals, last, looks, look)
        return tuple(intervals)


def recurrence(intervals: Sequence[PhaseInterval]) -> Recurrence | None:
    """Of spells of one phase, oldest first; None before two of them.

    Whole periods only, each from the start of one spell to the start of the next: else the share would depend on when the
    watch began.
    """
    if len(intervals) < 2:
        return None
    looks = intervals[-1].looks_before - intervals[0].looks_before
    return Recurrence(
        share=sum(interval.looks for interval in intervals[:-1]) / looks,
        looks=looks,
        periods=len(intervals) - 1,
        seconds=intervals[-1].from_s - intervals[0].from_s,
    )


def _take(
    intervals: deque[PhaseInterval], last: tuple[float, Phase] | None, looks: int, look: tuple[float, Phase]
) -> tuple[tuple[float, Phase], int]:
    """Add one look, in order; returns the new (last, looks)."""
    at_s, phase = look
    goes_on = bool(intervals) and intervals[-1].over_by_s is None
    if goes_on and intervals[-1].phase == phase:
        intervals[-1] = replace(intervals[-1], to_s=at_s, looks=intervals[-1].looks + 1)
        return look, looks + 1
    if goes_on:
        intervals[-1] = replace(intervals[-1], over_by_s=at_s)
    if phase in KEPT:
        not_before_s = None if last is None else last[0]
        intervals.append(
            PhaseInterval(phase=phase, from_s=at_s, to_s=at_s, looks=1, looks_before=looks, not_before_s=not_before_s)
        )
    return look, looks + 1

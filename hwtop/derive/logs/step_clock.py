"""Step clock: seconds a step, from steps that are told with the time at which they were written."""

from __future__ import annotations

from collections import deque

_KEPT_STEPS = 4_096
"""Steps that one tick divides: a clock that stands still must not fill the memory."""
_FEW = 5
"""Whole seconds are exact to one line's share of those that a tick divides, or to one of so many seconds. Engineering
default."""


class StepClock:
    """Takes steps with their times, in any one clock. Steps that share a time share what has passed since the one before."""

    def __init__(self) -> None:
        self._anchor: tuple[int, float] | None = None
        self._waiting: deque[int] = deque(maxlen=_KEPT_STEPS)
        self._last_s = 0.0
        self._is_coarse = True
        """No time with a fraction has been seen."""

    def take(self, step: int, at_s: float) -> list[tuple[int, float]]:
        """(step, seconds a step) of those whose time is known now."""
        self._is_coarse = self._is_coarse and at_s == int(at_s)
        last = self._waiting[-1] if self._waiting else self._anchor[0] if self._anchor else None
        if step == last:
            return []
        if self._anchor is None or last is None or step < last or at_s < self._last_s:
            self._anchor, self._waiting, self._last_s = (step, at_s), deque(maxlen=_KEPT_STEPS), at_s
            return []
        is_tick, self._last_s = at_s > self._last_s, at_s
        self._waiting.append(step)
        passed_s = at_s - self._anchor[1]
        if not is_tick or (self._is_coarse and passed_s < _FEW and len(self._waiting) < _FEW):
            return []
        pace_s = passed_s / (step - self._anchor[0])
        told = [(each, pace_s) for each in self._waiting]
        self._anchor, self._waiting = (step, at_s), deque(maxlen=_KEPT_STEPS)
        return told

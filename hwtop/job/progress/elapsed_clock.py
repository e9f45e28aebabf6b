"""Elapsed clock: tells a step's own time where the "time" of the lines is what has passed since the start.

Bare keys such as `Time: 4.6s` mean either; only the lines together tell which.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from hwtop.model.evidence import LEVEL_VALUES

_GROWN = 3.0
"""The last of them is this many times the first: no step time grows so evenly so fast. Engineering default."""
_EVEN = 1.5
"""Largest over smallest time per step between two lines. Engineering default."""


class ElapsedClock:
    """Takes what each line with a step tells as its time."""

    def __init__(self) -> None:
        self._reported: deque[tuple[int, float]] = deque(maxlen=LEVEL_VALUES)
        self.is_elapsed = False
        """The times of the lines are known to be those since the start."""

    def found_out(self) -> None:
        """Its times are longer than the lines are apart: they are no times of steps."""
        self.is_elapsed = True

    def step_time_s(self, step: int, reported_s: float) -> float | None:
        """The time of one step; None where a clock has just begun anew."""
        last = self._reported[-1] if self._reported else None
        if last is not None and step == last[0]:
            return None if self.is_elapsed else reported_s
        if last is not None and (step < last[0] or reported_s <= last[1]):
            self._reported.clear()
            last = None
        self._reported.append((step, reported_s))
        self.is_elapsed = self.is_elapsed or self._rises_evenly()
        if not self.is_elapsed:
            return reported_s
        return None if last is None else (reported_s - last[1]) / (step - last[0])

    def _rises_evenly(self) -> bool:
        if len(self._reported) < LEVEL_VALUES or self._reported[-1][1] < _GROWN * self._reported[0][1]:
            return False
        speeds = [(later[1] - earlier[1]) / (later[0] - earlier[0]) for earlier, later in pairwise(self._reported)]
        return max(speeds) <= _EVEN * min(speeds)

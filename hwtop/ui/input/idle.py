"""Idle: while nobody uses the screen and all is well, the machine is looked at less often."""

from __future__ import annotations

from hwtop.model.frame import Frame

IDLE_AFTER_S = 60.0
"""Without a key or the mouse. Engineering default."""


class IdleWatch:
    """Knows how often the machine should be looked at. Needs no clock: each frame has its time."""

    def __init__(self, idle_s: float) -> None:
        """`idle_s`: seconds between two looks while idle; less than otherwise changes nothing."""
        self._idle_s = idle_s
        self._chosen_s: float | None = None
        self._used_at_s: float | None = None
        self.is_idle = False

    def choose(self, seconds: float) -> None:
        """The person has chosen this interval."""
        self._chosen_s = seconds
        self.is_idle = False

    def use(self) -> float | None:
        """A key was pressed or the mouse moved: the interval from now on, where it changes."""
        self._used_at_s = None
        if not self.is_idle:
            return None
        self.is_idle = False
        return self._chosen_s

    def see(self, frame: Frame, *, is_recorded: bool) -> float | None:
        """A frame has come: the interval from now on, where it changes. A recording is not made coarser."""
        now_s = frame.derived.at_s
        self._chosen_s = self._chosen_s or frame.derived.interval_s
        self._used_at_s = now_s if self._used_at_s is None else self._used_at_s
        is_worth_it = frame.is_calm and not is_recorded and self._idle_s > self._chosen_s
        is_idle = is_worth_it and now_s - self._used_at_s >= IDLE_AFTER_S
        if is_idle == self.is_idle:
            return None
        self.is_idle = is_idle
        return self._idle_s if is_idle else self._chosen_s

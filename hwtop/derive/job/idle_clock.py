"""Since when processes have done nothing: used under `RUNS_PCT` of a core, all in all."""

from __future__ import annotations

from hwtop.job.hang.liveness import RUNS_PCT

_SLACK_S = 0.05
"""The kernel counts CPU time in ticks of 10 ms, so over a short time one or two of them say nothing. Engineering
default."""


class IdleClock:
    """Takes in what was used from one reading to the next."""

    def __init__(self) -> None:
        self._seen_since_s: float | None = None
        self._cpu_s = 0.0
        self._before_s: float | None = None
        """Since when nothing of it had run when it was first seen; None where that is not known, or it has worked since."""
        self._seen_at_s: float | None = None

    @property
    def since_s(self) -> float | None:
        """None while it works, and at the first reading where the kernel tells of no rest before it."""
        if self._seen_since_s is None or self._before_s is None:
            return self._seen_since_s if self._before_s is None else self._before_s
        return min(self._seen_since_s, self._before_s)

    @property
    def is_new(self) -> bool:
        """It has not seen any reading."""
        return self._seen_at_s is None

    def update(self, at_s: float, cpu_pct: float | None, rested_since_s: float | None) -> None:
        """Idle since the earliest time from which CPU time, all in all, stayed under the share.

        Args:
            at_s: time of the reading.
            cpu_pct: of a core, since the reading before; None where it is not known, or it moved bytes.
            rested_since_s: what the kernel tells of the time before the first reading.
        """
        last_s, self._seen_at_s = self._seen_at_s, at_s
        if last_s is None or cpu_pct is None:
            self.restart()
            self._before_s = rested_since_s if last_s is None else None
            return
        if self._seen_since_s is None:
            self._seen_since_s = last_s
        self._cpu_s += cpu_pct / 100 * (at_s - last_s)
        if self._cpu_s > _SLACK_S + RUNS_PCT / 100 * (at_s - self._seen_since_s):
            self.restart()

    def restart(self) -> None:
        """It works, or has ended."""
        self._seen_since_s, self._before_s, self._cpu_s = None, None, 0.0

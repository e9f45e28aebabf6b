"""Which process to look at next, and when, so that looking stays cheap. Pure; the clock is an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence

FOCUS_S = 1.0
"""The rank on screen is looked at at least so often."""
RETRY_S = 10.0
"""A process that cannot be read for a reason that stays is tried again so often."""
OPENING_S = 15.0
OPENING_FACTOR = 4.0
_OPENING_RATE = 0.04
"""A person who has just attached wants to know why within seconds: the first quarter of a minute may take a minute's
budget, up to 4 % of a core. Over any longer time the average stays near `budget_pct`."""
_FIRST_GUESS_S = 0.01
"""CPU time of one dump until one was measured (py-spy 0.4 on a torch rank)."""
_SMOOTHING = 0.2


class StackSchedule:
    """Round-robin over the wanted processes.

    A process that was never looked at comes at once, whatever it costs: a person wants to see all stacks within two
    seconds. After that the looks are spaced, at random, so that their measured CPU time takes `budget_pct` of one core.
    The focused process is looked at about once a second within that budget; where it alone would eat it, the others
    still get half of `budget_pct`, so the whole is at most one and a half budgets, or what the focus takes if that is more.
    """

    def __init__(self, budget_pct: float, random: Callable[[], float]) -> None:
        """`random` gives numbers from 0 to 1. Even spacing would look at the same spot of every training step."""
        self._rate = budget_pct / 100.0
        self._random = random
        self._wanted: tuple[int, ...] = ()
        self._focus: int | None = None
        self._out: set[int] = set()
        self._looked_s: dict[int, float] = {}
        self._not_before_s: dict[int, float] = {}
        self._next_s = 0.0
        self._focus_next_s = 0.0
        self._cost_s = _FIRST_GUESS_S
        self._began_s: float | None = None

    def want(self, pids: Sequence[int], focus: int | None) -> None:
        """New aim, the most wanted first."""
        self._wanted = tuple(dict.fromkeys(pids if focus is None or focus in pids else (focus, *pids)))
        if focus != self._focus:
            self._focus_next_s = 0.0
        self._focus = focus
        kept = set(self._wanted)
        self._looked_s = {pid: at_s for pid, at_s in self._looked_s.items() if pid in kept}
        self._not_before_s = {pid: at_s for pid, at_s in self._not_before_s.items() if pid in kept}

    def next(self, now: float) -> int | None:
        """The process to look at now, or None. It is out until `done`."""
        pid = self._pick(now)
        if pid is None:
            return None
        if self._began_s is None:
            self._began_s = now
        self._out.add(pid)
        if pid == self._focus:
            self._focus_next_s = now + FOCUS_S * self._between(0.6, 1.0)
        else:
            self._next_s = now + self._cost_s / self._rate_of_others(now) * self._between(0.5, 1.5)
        return pid

    def done(self, pid: int, now: float, cost_s: float, is_lasting: bool) -> None:
        """A look at `pid` has ended and took `cost_s` of CPU time."""
        self._out.discard(pid)
        self._looked_s[pid] = now
        self._not_before_s[pid] = now + RETRY_S if is_lasting else 0.0
        self._cost_s += _SMOOTHING * (cost_s - self._cost_s)

    @property
    def is_first_pass(self) -> bool:
        """Some wanted process has not been looked at yet."""
        return any(pid not in self._looked_s for pid in self._wanted)

    def wait_s(self, now: float) -> float:
        """How long nothing will be due, unless the aim changes; at least 10 ms, at most 1 s."""
        due = [self._due_s(pid) for pid in self._wanted if pid not in self._out]
        return min(max(min(due, default=now + 1.0) - now, 0.01), 1.0)

    def _pick(self, now: float) -> int | None:
        due = [pid for pid in self._wanted if pid not in self._out and self._due_s(pid) <= now]
        if self._focus in due:
            return self._focus
        return min(due, key=lambda pid: self._looked_s.get(pid, -1.0), default=None)

    def _due_s(self, pid: int) -> float:
        if pid not in self._looked_s:
            return 0.0
        spaced_s = self._focus_next_s if pid == self._focus else self._next_s
        return max(spaced_s, self._not_before_s.get(pid, 0.0))

    def _rate_of_others(self, now: float) -> float:
        is_opening = self._began_s is not None and now - self._began_s < OPENING_S
        opening_rate = max(self._rate, min(self._rate * OPENING_FACTOR, _OPENING_RATE))
        rate = opening_rate if is_opening else self._rate
        if self._focus is None:
            return rate
        return max(rate - self._cost_s / (FOCUS_S * 0.8), rate / 2)

    def _between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random()

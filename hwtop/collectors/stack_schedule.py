"""Which process to look at next, how closely, and when, so that looking stays cheap. Pure; the clock is an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct

from hwtop.collectors.pyspy_record import WINDOW_S

MINUTE_S = 60.0
OPENING_SHARE = 0.5
"""What a person who has just attached may have at once: this much of the first minute's allowance. The rest of the minute is
spread evenly, so the first minute as a whole keeps to the budget like any other."""
_COUNTED = 0.95
"""The rest of the budget is for handing over what was found, which nobody measures."""
FOCUS_SHARE = 0.67
"""The focused process takes at most this much of what is spent, so that the others are never forgotten."""
DUMPS_APART_S = 1.0
"""The focused process is not looked at more often than that where there are only dumps."""
RETRY_S = 10.0
"""A process that cannot be read for a reason that stays is tried again so often."""
WINDOW_RETRY_S = 20.0
"""A process whose window gave nothing is looked at by dumps alone for so long."""
_LONGEST_ROUND_S = 120.0
"""Where one round of windows over all processes would take longer, breadth comes before depth."""
_FIRST_LOOKS = 2
"""First dumps of many processes are taken two at a time: a job on a full machine must not feel them."""
_DUE_BUT_DEAR_S = 0.25
"""What is due but beyond the allowance is asked again so often."""
_MOST_OUT = 12
_MOST_REMEMBERED = 1000
"""Loader workers come and go with what their rank waits for: who is wanted again is not new."""
_USUAL_COST_S = {False: 0.010, True: 0.024}
"""CPU time of a dump, and of a window with its dump (py-spy 0.4 on a torch rank, a core of 2 to 3 GHz). What is measured on
this machine scales both."""
_SMOOTHING = 0.2


class Order(Struct, frozen=True):
    """Look at this process."""

    pid: int
    has_window: bool = False
    """Take a window of samples first (`pyspy_record`), then a dump; else the dump alone."""


class StackSchedule:
    """Round-robin over the wanted processes, within `budget_pct` of one core over any minute from the first one on.

    A process that is new gets a dump, then a window, at once, as far as the opening allowance goes; a person wants to see all
    stacks within seconds. After that the orders are spaced so that their measured CPU time keeps to the budget, whatever
    the number of processes. The focused process is looked at without a pause, a window after the other, in at most
    `FOCUS_SHARE` of the budget. Where one round of windows would take over `_LONGEST_ROUND_S`, all but the focused process
    are looked at by dumps alone: seeing all of them comes before seeing some of them closely.
    """

    def __init__(self, budget_pct: float, random: Callable[[], float], *, window_s: float | None = WINDOW_S) -> None:
        """`random` gives numbers from 0 to 1. Even spacing would look at the same spot of every training step. `window_s` is
        how long a window takes; None: dumps only.
        """
        self._rate = budget_pct / 100.0 * _COUNTED
        self._random = random
        self._window_s = window_s
        self._wanted: tuple[int, ...] = ()
        self._focus: int | None = None
        self._out: dict[int, Order] = {}
        self._looked_s: dict[int, float] = {}
        self._windowed: set[int] = set()
        self._not_before_s: dict[int, float] = {}
        self._no_window_before_s: dict[int, float] = {}
        self._spent: deque[tuple[float, float]] = deque()
        self._scale: float | None = None
        self._opening_left_s = self._allowance_s * OPENING_SHARE
        self._began_s: float | None = None
        self._next_s = 0.0
        self._focus_next_s = 0.0

    def want(self, pids: Sequence[int], focus: int | None) -> None:
        """New aim, the most wanted first."""
        self._wanted = tuple(dict.fromkeys(pids if focus is None or focus in pids else (focus, *pids)))
        if focus != self._focus:
            self._focus_next_s = 0.0
        self._focus = focus
        if len(self._looked_s) > _MOST_REMEMBERED + len(self._wanted):
            self._forget()

    def _forget(self) -> None:
        kept = set(self._wanted)
        self._windowed &= kept
        for times in (self._looked_s, self._not_before_s, self._no_window_before_s):
            for pid in times.keys() - kept:
                del times[pid]

    def next(self, now: float) -> Order | None:
        """What to do now, or None. The process is out until `done`."""
        if self._began_s is None and self._wanted:
            self._began_s = now
        ready = [pid for pid in self._wanted if pid not in self._out and self._not_before_s.get(pid, 0.0) <= now]
        if not ready or len(self._out) >= _MOST_OUT:
            return None
        order = self._opening(ready, now) or self._paced(ready, now)
        if order is not None:
            self._out[order.pid] = order
        return order

    def done(
        self, order: Order, now: float, cost_s: float, *, is_lasting: bool = False, has_samples: bool = True
    ) -> None:
        """It took `cost_s` of CPU time. `is_lasting`: the dump failed for a reason that stays; `has_samples`: the window gave
        some, or, where there was none, one may be tried.
        """
        del self._out[order.pid]
        self._looked_s[order.pid] = now
        self._spent.append((now, cost_s))
        scale = cost_s / _USUAL_COST_S[order.has_window]
        self._scale = scale if self._scale is None else self._scale + _SMOOTHING * (scale - self._scale)
        if is_lasting:
            self._not_before_s[order.pid] = now + RETRY_S
        if order.has_window:
            self._windowed.add(order.pid)
        if not has_samples:
            self._no_window_before_s[order.pid] = now + WINDOW_RETRY_S

    @property
    def is_first_pass(self) -> bool:
        """Some wanted process has not been looked at yet, and will be at once."""
        return self._opening_left_s >= self._cost_s(has_window=False) and any(
            pid not in self._looked_s for pid in self._wanted
        )

    def wait_s(self, now: float) -> float:
        """How long nothing will be due, unless the aim changes or an order is done; at most 1 s."""
        ready = [pid for pid in self._wanted if pid not in self._out]
        due = [max(self._not_before_s.get(pid, 0.0), self._due_s(pid)) for pid in ready]
        soonest_s = min(due, default=now + 1.0) - now
        return min(soonest_s, 1.0) if soonest_s > 0 else _DUE_BUT_DEAR_S

    def _opening(self, ready: Sequence[int], now: float) -> Order | None:
        """A first dump or a first window, on top of the pace."""
        new = [pid for pid in ready if pid not in self._looked_s]
        dumps_out = sum(not order.has_window for order in self._out.values())
        if new:
            order = Order(new[0]) if dumps_out < _FIRST_LOOKS else None
        else:
            unseen = [pid for pid in ready if pid not in self._windowed and self._may_window(pid, now)]
            order = Order(unseen[0], has_window=True) if unseen else None
        if (
            order is None
            or self._opening_left_s < self._cost_s(has_window=order.has_window)
            or not self._can_afford(order, now)
        ):
            return None
        self._opening_left_s -= self._cost_s(has_window=order.has_window)
        return order

    def _paced(self, ready: Sequence[int], now: float) -> Order | None:
        due = [pid for pid in ready if self._due_s(pid) <= now]
        if not due:
            return None
        pid = self._focus if self._focus in due else min(due, key=lambda each: self._looked_s.get(each, -1.0))
        order = Order(pid, has_window=pid in self._looked_s and self._may_window(pid, now))
        if not self._can_afford(order, now):
            return None
        cost_s = self._cost_s(has_window=order.has_window)
        if pid == self._focus:
            self._focus_next_s = now + cost_s / self._focus_pace(now)
        else:
            self._next_s = now + cost_s / (self._pace(now) - self._focus_pace(now)) * (0.5 + self._random())
        return order

    def _may_window(self, pid: int, now: float) -> bool:
        if self._window_s is None or now < self._no_window_before_s.get(pid, 0.0):
            return False
        return pid == self._focus or len(self._wanted) * self._cost_s(has_window=True) <= self._rate * _LONGEST_ROUND_S

    def _due_s(self, pid: int) -> float:
        return self._focus_next_s if pid == self._focus else self._next_s

    @property
    def _allowance_s(self) -> float:
        """CPU time that one minute may take."""
        return self._rate * MINUTE_S

    def _pace(self, now: float) -> float:
        """CPU seconds a second."""
        is_first_minute = self._began_s is None or now - self._began_s < MINUTE_S
        taken_s = self._allowance_s * OPENING_SHARE - self._opening_left_s if is_first_minute else 0.0
        return self._rate - taken_s / MINUTE_S

    def _cost_s(self, *, has_window: bool) -> float:
        """What an order is expected to take."""
        return _USUAL_COST_S[has_window] * (1.0 if self._scale is None else self._scale)

    def _focus_pace(self, now: float) -> float:
        """What the focused process takes of the pace: a window after the other, or less where that is too much."""
        if self._focus is None:
            return 0.0
        has_window = self._may_window(self._focus, now)
        every_s = self._window_s if has_window and self._window_s is not None else DUMPS_APART_S
        return min(FOCUS_SHARE * self._pace(now), self._cost_s(has_window=has_window) / every_s)

    def _can_afford(self, order: Order, now: float) -> bool:
        while self._spent and self._spent[0][0] <= now - MINUTE_S:
            self._spent.popleft()
        taken_s = sum(cost_s for _, cost_s in self._spent)
        promised_s = sum(self._cost_s(has_window=each.has_window) for each in self._out.values())
        return taken_s + promised_s + self._cost_s(has_window=order.has_window) <= self._allowance_s

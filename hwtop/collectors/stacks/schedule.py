"""Which process to sample next, how closely, and when, so that sampling stays cheap. Pure; the clock is an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from hwtop.collectors.stacks.cost import LookCost
from hwtop.collectors.stacks.pyspy_record import SAMPLES, WINDOW_S

MINUTE_S = 60.0
OPENING_SHARE = 0.5
"""What the user who has just attached may have at once: this much of the first minute's allowance. The rest of the minute is
spread evenly, so the first minute as a whole keeps to the budget like any other."""
_COUNTED = 0.95
"""The rest of the budget is for handing over what was found, which is not measured."""
FOCUS_SHARE = 0.67
"""The focused process takes at most this much of what is spent, so that the others are never forgotten."""
DUMPS_APART_S = 1.0
"""The focused process is not sampled more often than that where there are only dumps."""
RETRY_S = 10.0
"""A process that cannot be read for a reason that stays is tried again so often."""
WINDOW_RETRY_S = 20.0
"""A process whose window gave no samples is sampled by dumps only for so long."""
_LONGEST_ROUND_S = 120.0
"""Where one round of windows over all processes would take longer, breadth comes before depth."""
_FIRST_LOOKS = 2
"""Dumps of many processes are taken two at a time: a job on a full machine must not feel them."""
_DUE_BUT_DEAR_S = 0.25
"""What is due but beyond the allowance is asked again so often."""
_MOST_OUT = 12
_MOST_REMEMBERED = 1000
"""Loader workers come and go with what their rank waits for: one that is wanted again is not new."""
_WINDOW_SHARE = 0.1
"""Of a minute's allowance: a window over a process with very many threads has fewer samples, rather than being rare."""
_USUAL_THREADS = 10


class Order(Struct, frozen=True):
    """Look at this process."""

    pid: int
    rate_per_s: int = 0
    """Take a window of samples first (`pyspy_record`), so many a second, then a dump; 0: the dump alone."""

    @property
    def has_window(self) -> bool:
        """Not only a dump."""
        return self.rate_per_s > 0


class StackSchedule:
    """Round-robin over the wanted processes, within `budget_pct` of one core over any minute from the first one on.

    A process that is new gets a dump, then a window, at once, as far as the opening allowance goes; the user wants to see all
    stacks within seconds. After that the orders are spaced so that their measured CPU time keeps to the budget, whatever
    the number of processes. The focused process is looked at without a pause, a window after the other, in at most
    `FOCUS_SHARE` of the budget. Where one round of windows would take over `_LONGEST_ROUND_S`, all but the focused process
    are looked at by dumps alone: seeing all of them comes before seeing some of them closely. While the whole job sleeps each
    process gets one dump at once, within what the minute has left.
    """

    def __init__(self, budget_pct: float, random: Callable[[], float], *, window_s: int | None = WINDOW_S) -> None:
        """`random` gives numbers from 0 to 1. Even spacing would sample the same point of every training step. `window_s` is
        how long a window takes; None: dumps only.
        """
        self.set_budget(budget_pct)
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
        self._cost = LookCost()
        self._threads: Mapping[int, int] = {}
        self._asleep_since_s: Mapping[int, float] = {}
        self._opening_left_s = self._allowance_s * OPENING_SHARE
        self._began_s: float | None = None
        self._next_s = 0.0
        self._focus_next_s = 0.0

    def set_budget(self, budget_pct: float) -> None:
        """Share of one core from now on; what was spent in the minute before counts."""
        self._rate = budget_pct / 100.0 * _COUNTED

    def want(
        self,
        pids: Sequence[int],
        focus: int | None,
        threads: Mapping[int, int] | None = None,
        asleep_since_s: Mapping[int, float] | None = None,
    ) -> None:
        """New aim, the most wanted first. `threads`: how many OS threads a process has, where known; `asleep_since_s`: as in `SamplingPlan`."""
        self._threads = threads or {}
        self._asleep_since_s = asleep_since_s or {}
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
        order = self._opening(ready, now) or self._of_sleeper(ready, now) or self._paced(ready, now)
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
        self._cost.learn(self._threads_of(order.pid), self._samples(order), cost_s)
        if is_lasting:
            self._not_before_s[order.pid] = now + RETRY_S
        if order.has_window:
            self._windowed.add(order.pid)
        if not has_samples:
            self._no_window_before_s[order.pid] = now + WINDOW_RETRY_S

    def retry(self) -> None:
        """What a process was refused for may hold no more: no refused one has to wait."""
        self._not_before_s.clear()
        self._no_window_before_s.clear()

    @property
    def is_first_pass(self) -> bool:
        """Some wanted process has not been sampled yet, and will be at once."""
        return any(
            pid not in self._looked_s and self._opening_left_s >= self._cost_s(Order(pid)) for pid in self._wanted
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
        if new:
            order = Order(new[0]) if self._dumps_out < _FIRST_LOOKS else None
        else:
            unseen = [pid for pid in ready if pid not in self._windowed]
            order = next((each for pid in unseen if (each := self._closest(pid, now)).has_window), None)
        if order is None or self._opening_left_s < self._cost_s(order) or not self._can_afford(order, now):
            return None
        self._opening_left_s -= self._cost_s(order)
        return order

    def _of_sleeper(self, ready: Sequence[int], now: float) -> Order | None:
        """A dump of a process that has not been sampled since the whole job sleeps, on top of the pace."""
        if self._dumps_out >= _FIRST_LOOKS:
            return None
        unseen = (pid for pid, since_s in self._asleep_since_s.items() if self._looked_s.get(pid, since_s) <= since_s)
        order = next((Order(pid) for pid in unseen if pid in ready), None)
        return order if order is not None and self._can_afford(order, now) else None

    @property
    def _dumps_out(self) -> int:
        return sum(not order.has_window for order in self._out.values())

    def _paced(self, ready: Sequence[int], now: float) -> Order | None:
        due = [pid for pid in ready if self._due_s(pid) <= now]
        if not due:
            return None
        pid = self._focus if self._focus in due else min(due, key=lambda each: self._looked_s.get(each, -1.0))
        order = self._closest(pid, now) if pid in self._looked_s else Order(pid)
        if not self._can_afford(order, now):
            return None
        cost_s = self._cost_s(order)
        if pid == self._focus:
            self._focus_next_s = now + cost_s / self._focus_pace(now)
        else:
            self._next_s = now + cost_s / (self._pace(now) - self._focus_pace(now)) * (0.5 + self._random())
        return order

    def _closest(self, pid: int, now: float) -> Order:
        """A window where one may be taken, else a dump."""
        dump = Order(pid)
        if self._window_s is None or now < self._no_window_before_s.get(pid, 0.0):
            return dump
        limit_s = _WINDOW_SHARE * self._allowance_s
        samples = self._cost.samples_for(self._threads_of(pid), limit_s, SAMPLES)
        order = Order(pid, max(1, samples // self._window_s))
        if self._cost_s(order) > self._allowance_s / 2:
            return dump
        fits = len(self._wanted) * self._cost_s(order) <= self._rate * _LONGEST_ROUND_S
        return order if fits or pid == self._focus else dump

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

    def _threads_of(self, pid: int) -> int:
        return self._threads.get(pid, _USUAL_THREADS)

    def _samples(self, order: Order) -> int:
        return order.rate_per_s * (self._window_s or 0)

    def _cost_s(self, order: Order) -> float:
        """What it is expected to take."""
        return self._cost.cost_s(self._threads_of(order.pid), self._samples(order))

    def _focus_pace(self, now: float) -> float:
        """What the focused process takes of the pace: a window after the other, or less where that is too much."""
        if self._focus is None:
            return 0.0
        order = self._closest(self._focus, now)
        every_s = self._window_s if order.has_window and self._window_s is not None else DUMPS_APART_S
        return min(FOCUS_SHARE * self._pace(now), self._cost_s(order) / every_s)

    def _can_afford(self, order: Order, now: float) -> bool:
        while self._spent and self._spent[0][0] <= now - MINUTE_S:
            self._spent.popleft()
        taken_s = sum(cost_s for _, cost_s in self._spent)
        promised_s = sum(self._cost_s(each) for each in self._out.values())
        return taken_s + promised_s + self._cost_s(order) <= self._allowance_s

"""Pulse: how the logs of a job grow, between two rare looks at it. A stat call a second, and nothing is read."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

EVERY_S = 1.0
WINDOW_S = 5.0
"""In which growth is measured, each second anew. Engineering default."""
SLOWER = 0.6
"""Of the slowest window before: less than that is unusual. Logs that are written in blocks have windows without growth, and so
never are. Engineering default."""
_LEAST_S, _MOST_S = 15.0, 300.0
"""Of growth that was seen before: less is no habit, and what was longer ago may be another one. Engineering default."""
_SLOW_FOR_S = 45.0
"""A slower training is looked at for so long: the rule needs 20 s of it (`symptoms/training/slowdown.py`)."""
_MOST_FILES = 32
"""Ranks with a log each: some of them show whether the job goes on. Engineering default."""


class Growth:
    """The speed at which logs grow, in windows that overlap."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._sizes: deque[tuple[float, int]] = deque()
        """When the logs had which size: of the newest window."""
        self._rates: deque[tuple[float, float]] = deque()
        """The end of each window, and the growth in it."""

    def is_slow(self, now_s: float, size: int) -> bool:
        """Whether they grew slower in the window that ends now than in all those that were over before it. A log that shrinks begins
        anew."""
        if self._sizes and size < self._sizes[-1][1]:
            self._sizes.clear()
        self._sizes.append((now_s, size))
        if now_s - self._sizes[0][0] < WINDOW_S:
            return False
        began_s, began_size = self._sizes.popleft()
        rate = (size - began_size) / (now_s - began_s)
        earlier = [other for ended_s, other in self._rates if ended_s <= began_s]
        has_habit = bool(earlier) and began_s - self._rates[0][0] + WINDOW_S >= _LEAST_S
        self._rates.append((now_s, rate))
        while now_s - self._rates[0][0] > _MOST_S:
            self._rates.popleft()
        return has_habit and rate < SLOWER * min(earlier)


class Pulse:
    """Calls `hurry` once when no file has changed for longer than is usual, or all grow slower. In a thread of its own: a dead mount
    blocks only it.
    """

    def __init__(self, hurry: Callable[[], None], now: Callable[[], float] = time.monotonic) -> None:
        self._hurry, self._now = hurry, now
        self._paths: tuple[str, ...] = ()
        self._patience_s: float | None = None
        self._seen: dict[str, tuple[int, int] | None] = {}
        self._changed_at_s = now()
        self._is_silent = False
        self._growth = Growth()
        self._slow_until_s = 0.0
        self._closing = threading.Event()

    @property
    def is_unusual(self) -> bool:
        """They are silent, or have been slow a moment ago."""
        return self._is_silent or self._now() < self._slow_until_s

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._run, name="hwtop-pulse", daemon=True).start()

    def watch(self, paths: Sequence[str], patience_s: float | None) -> None:
        """Until the next call: these files, and how long none of them usually changes at most; None: do not look."""
        files = tuple(paths[:_MOST_FILES])
        if files != self._paths:
            self._growth = Growth()
        self._paths, self._patience_s = files, patience_s

    def look(self) -> None:
        """Once."""
        patience_s, now_s = self._patience_s, self._now()
        if patience_s is None or not self._paths:
            return
        seen = {path: _state(path) for path in self._paths}
        was_unusual = self.is_unusual
        if seen != self._seen:
            self._seen, self._changed_at_s, self._is_silent = seen, now_s, False
        elif now_s - self._changed_at_s > patience_s:
            self._is_silent = True
        if self._growth.is_slow(now_s, sum(state[0] for state in seen.values() if state is not None)):
            self._slow_until_s = now_s + _SLOW_FOR_S
        if self.is_unusual and not was_unusual:
            self._hurry()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()

    def _run(self) -> None:
        while not self._closing.wait(EVERY_S):
            self.look()


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns

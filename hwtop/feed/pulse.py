"""Pulse: whether the logs of a job grow, between two rare looks at it. A stat call a second, and nothing is read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

EVERY_S = 1.0
_MOST_FILES = 32
"""Ranks with a log each: some of them show whether the job goes on. Engineering default."""


class Pulse:
    """Calls `hurry` once when no file has changed for longer than is usual. In a thread of its own: a dead mount blocks only it."""

    def __init__(self, hurry: Callable[[], None], now: Callable[[], float] = time.monotonic) -> None:
        self._hurry, self._now = hurry, now
        self._paths: tuple[str, ...] = ()
        self._patience_s: float | None = None
        self._seen: dict[str, tuple[int, int] | None] = {}
        self._changed_at_s = now()
        self.is_silent = False
        """They have not changed for so long."""
        self._closing = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._run, name="hwtop-pulse", daemon=True).start()

    def watch(self, paths: Sequence[str], patience_s: float | None) -> None:
        """Until the next call: these files, and how long none of them usually changes at most; None: do not look."""
        self._paths, self._patience_s = tuple(paths[:_MOST_FILES]), patience_s

    def look(self) -> None:
        """Once."""
        patience_s, now_s = self._patience_s, self._now()
        if patience_s is None or not self._paths:
            return
        seen = {path: _state(path) for path in self._paths}
        if seen != self._seen:
            self._seen, self._changed_at_s, self.is_silent = seen, now_s, False
        elif now_s - self._changed_at_s > patience_s and not self.is_silent:
            self.is_silent = True
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

"""Calls that may block for ever, one after the other in one thread as long as none does."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from hwtop.collectors.abandon import in_idle_thread

_SLICE_S = 0.01
"""How long one call may hold up the others: reading a source or a GPU takes 0.1 to 4 ms. Engineering default."""


class _Round:
    """What was added between two runs."""

    def __init__(self) -> None:
        self.added = 0
        self.ended: deque[None] = deque()
        """One for each call that has ended; to append is one step, so that no lock is needed."""
        self.is_complete = threading.Event()


class Turns:
    """Runs what is added in a single thread: threads that all want Python's lock take several times the CPU.

    A call that takes longer than its slice keeps that thread, and the rest goes on in another, so one that never returns
    holds up no other.
    """

    def __init__(self) -> None:
        self._queue: deque[tuple[Callable[[], object], threading.Event | None, _Round]] = deque()
        self._round = _Round()
        self._begun = 0

    def add(self, call: Callable[[], object], done: threading.Event | None = None) -> None:
        """For the next `run`. `call` keeps its own result and error; `done` is set when it has ended."""
        self._round.added += 1
        self._queue.append((call, done, self._round))

    def run(self, deadline_s: float) -> None:
        """Returns when all that was added since the last run has ended, or after `deadline_s`; the calls then go on."""
        now, self._round = self._round, _Round()
        end_s = time.monotonic() + deadline_s
        begun = self._begun
        while len(now.ended) < now.added:
            if self._queue and begun == self._begun:
                self._add_thread()
            begun = self._begun
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                return
            now.is_complete.wait(min(_SLICE_S, left_s) if self._queue else left_s)

    def _add_thread(self) -> None:
        with suppress(RuntimeError):  # none can be started now: the calls wait for one that can
            in_idle_thread(self._work, threading.Event())

    def _work(self) -> None:
        while self._queue:
            try:
                call, done, its_round = self._queue.popleft()
            except IndexError:  # another thread was faster
                return
            self._begun += 1
            try:
                call()
            finally:
                if done is not None:
                    done.set()
                its_round.ended.append(None)
                if len(its_round.ended) >= its_round.added and its_round is not self._round:
                    its_round.is_complete.set()

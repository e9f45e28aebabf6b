"""Run what may never return (a dead NFS mount, a wedged driver) where it can be abandoned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Abandonable(Generic[T]):
    """One slot: calls `function` in a daemon thread and keeps its newest result.

    While one call is out, no second one is started, however often `poll` is called: a dead mount costs one thread, not one
    thread a tick. A daemon thread never keeps the interpreter alive.
    """

    def __init__(self, name: str, function: Callable[[], T], now: Callable[[], float]) -> None:
        self._name = name
        self._function = function
        self._now = now
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._started_at_s = 0.0
        self._result: T | None = None
        self._error: Exception | None = None

    def poll(self, deadline_s: float) -> T:
        """Result of a fresh call, or of one that was still out, if it ends within `deadline_s`.

        Raises:
            TimeoutError: it has not returned; the message says since when.
            RuntimeError: no thread can be started.
            Exception: whatever `function` raised.
        """
        if self._thread is None:
            self._start()
        if not self._done.wait(deadline_s):
            raise TimeoutError(f"not answering for {self.out_for_s():.0f} s")
        self._thread = None
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def out_for_s(self) -> float:
        """How long the current call has been out; 0 when none is."""
        return 0.0 if self._thread is None else self._now() - self._started_at_s

    def _start(self) -> None:
        self._done.clear()
        self._result, self._error = None, None
        self._started_at_s = self._now()
        thread = threading.Thread(target=self._run, name=f"hwtop-{self._name}", daemon=True)
        thread.start()
        self._thread = thread  # not before: where no thread can be started, the next call tries again

    def _run(self) -> None:
        try:
            self._result = self._function()
        except Exception as error:  # any failure is the caller's to report
            self._error = error
        finally:
            self._done.set()

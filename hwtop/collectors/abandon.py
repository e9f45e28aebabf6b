"""Run what may never return (a dead NFS mount, a wedged driver) where it can be abandoned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

Run = Callable[[Callable[[], None], threading.Event], None]
"""How a call gets its thread; the event is to be set when it has ended."""

_Work = SimpleQueue[tuple[Callable[[], None], threading.Event]]

_idle: list[_Work] = []
"""Of each thread that waits for work: to start one takes longer than most calls. One that does not return is not among them."""


class Abandonable(Generic[T]):
    """One slot: calls `function` in a daemon thread, which is then free for other slots, and keeps its newest result.

    While one call is out, no second one is started, however often `poll` is called: a dead mount costs one thread, not one
    thread a tick. A daemon thread never keeps the interpreter alive.
    """

    def __init__(self, name: str, function: Callable[[], T], now: Callable[[], float]) -> None:
        self._name = name
        self._function = function
        self._now = now
        self.is_out = False
        """A call was started whose result has not been taken."""
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
        if not self.is_out:
            self.start()
        if not self._done.wait(deadline_s):
            raise TimeoutError(f"not answering for {self.out_for_s():.0f} s")
        self.is_out = False
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def out_for_s(self) -> float:
        """How long the current call has been out; 0 when none is."""
        return self._now() - self._started_at_s if self.is_out else 0.0

    def start(self, run: Run | None = None) -> None:
        """Begin a call, through `run` or in an idle thread, while none is out.

        Raises:
            RuntimeError: no thread can be started.
        """
        self._done.clear()
        self._result, self._error = None, None
        self._started_at_s = self._now()
        (run or in_idle_thread)(self._call, self._done)
        self.is_out = True  # not before: where no thread can be started, the next call tries again

    def _call(self) -> None:
        threading.current_thread().name = f"hwtop-{self._name}"
        try:
            self._result = self._function()
        except Exception as error:  # any failure is the caller's to report
            self._error = error


def in_idle_thread(call: Callable[[], None], done: threading.Event) -> None:
    """Make a call in an idle thread, or in a new one, and set `done`.

    Raises:
        RuntimeError: no thread can be started.
    """
    try:
        work = _idle.pop()
    except IndexError:
        work = SimpleQueue()
        threading.Thread(target=_serve, args=(work,), name="hwtop-idle", daemon=True).start()
    work.put((call, done))


def _serve(work: _Work) -> None:
    while True:
        call, done = work.get()
        call()
        threading.current_thread().name = "hwtop-idle"
        _idle.append(work)  # first: who has the result may have the next call
        done.set()
        del call, done  # nothing is kept while it waits

"""Lane: one source in a thread of its own, with a one-slot mailbox, so that no source can hold up the clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from msgspec import Struct

from hwtop.collectors.source import Source
from hwtop.model.plan import SamplingPlan
from hwtop.model.snapshot import SourceState, SourceStatus


class SourceRunner:
    """Reads one source on request and keeps its newest reading.

    The thread is a daemon: one that hangs in a driver must not keep the program from leaving. `finished` is notified
    (shared by all lanes of a sampler) when a read ends.
    """

    def __init__(self, source: Source, finished: threading.Condition, now: Callable[[], float]) -> None:
        self.source = source
        self._finished = finished
        self._now = now
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._aim: SamplingPlan | None = None
        self._probed = False
        self._reason: str | None = None
        self._reading: Struct | None = None
        self._is_fresh = False
        self._read_at_s: float | None = None
        self._asked_at_s: float | None = None
        self._last_asked_s: float | None = None
        self._cost_ms: float | None = None

    @property
    def is_busy(self) -> bool:
        """A read is out."""
        return self._asked_at_s is not None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Handed to the source before its next read, in the source's thread."""
        self._aim = plan

    def ask(self) -> bool:
        """Start a read if none is out and one is due. True when one was started."""
        now_s = self._now()
        if self.is_busy or (self._last_asked_s is not None and now_s - self._last_asked_s < self.source.every_s):
            return False
        self._asked_at_s = self._last_asked_s = now_s
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"hwtop-{self.source.name}", daemon=True)
            self._thread.start()
        self._wanted.set()
        return True

    def reading(self) -> Struct | None:
        """The newest reading, however old."""
        return self._reading

    def take(self) -> Struct | None:
        """The newest reading if it has not been taken yet: for sources of events."""
        if not self._is_fresh:
            return None
        self._is_fresh = False
        return self._reading

    def status(self) -> SourceStatus:
        """How this source does now."""
        now_s = self._now()
        age_s = None if self._read_at_s is None else max(0.0, now_s - self._read_at_s)
        out_s = 0.0 if self._asked_at_s is None else now_s - self._asked_at_s
        reason = self._reason
        if reason is None and self.is_busy:
            reason = f"{self.source.name} not answering for {out_s:.1f} s"
        state: SourceState = "ok"
        if reason is not None:
            state = "unavailable" if self._reading is None else "stale"
        return SourceStatus(
            name=self.source.name,
            status=state,
            reason=reason,
            age_s=age_s,
            cost_ms=self._cost_ms,
        )

    def close(self) -> None:
        """Ask the thread to end. Does not wait for it."""
        self._closing = True
        self._wanted.set()

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing:
                self.source.close()
                return
            started = time.thread_time()
            reading, reason = self._read()
            with self._finished:
                if reading is not None:
                    self._reading, self._is_fresh, self._read_at_s = reading, True, self._now()
                elif reason is None:
                    self._reading, self._is_fresh, self._read_at_s = None, False, None
                self._reason = reason
                self._cost_ms = (time.thread_time() - started) * 1000
                self._asked_at_s = None
                self._finished.notify_all()

    def _read(self) -> tuple[Struct | None, str | None]:
        try:
            if not self._probed:
                reason = self.source.probe()
                if reason is not None:
                    return None, reason
                self._probed = True
            if self._aim is not None:
                self.source.set_plan(self._aim)
            return self.source.read(), None
        except Exception as error:  # a source that fails is a value in the snapshot
            return None, str(error) or type(error).__name__

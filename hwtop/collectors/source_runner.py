"""One source with its newest reading: it is read in its turn, where it can hold up neither the clock nor the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from hwtop.collectors.source import Source
from hwtop.collectors.turns import Turns
from hwtop.model.plan import SamplingPlan
from hwtop.model.snapshot import SourceState, SourceStatus


class SourceRunner:
    """Reads one source on request, by its turn, and keeps its newest reading. It is never read by two threads at once."""

    def __init__(self, source: Source, turns: Turns, now: Callable[[], float]) -> None:
        self.source = source
        self._turns = turns
        self._now = now
        self._is_closing = self._is_closed = False
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
        """Handed to the source before its next read, in the thread that reads it."""
        self._aim = plan

    def ask(self) -> None:
        """Add a read to the turns if none is out and one is due."""
        now_s = self._now()
        if self.is_busy or (self._last_asked_s is not None and now_s - self._last_asked_s < self.source.every_s):
            return
        self._asked_at_s = self._last_asked_s = now_s
        self._turns.add(self._take_turn)

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
        """Let the source close, after the read that is out."""
        self._is_closing = True
        if not self.is_busy and self._last_asked_s is not None:
            self._turns.add(self._close)

    def _take_turn(self) -> None:
        threading.current_thread().name = f"hwtop-{self.source.name}"
        started = time.thread_time()
        reading, reason = self._read()
        if reading is not None:
            self._reading, self._is_fresh, self._read_at_s = reading, True, self._now()
        elif reason is None:
            self._reading, self._is_fresh, self._read_at_s = None, False, None
        self._reason = reason
        self._cost_ms = (time.thread_time() - started) * 1000
        self._asked_at_s = None
        if self._is_closing:
            self._close()

    def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            with suppress(Exception):  # it leaves either way
                self.source.close()

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

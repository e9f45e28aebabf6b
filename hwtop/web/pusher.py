"""Pusher: sends the newest frame to a collector every few seconds."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable

from hwtop.errors import CannotError, internal_error
from hwtop.fields import units
from hwtop.job.log.text import visible
from hwtop.job.secrets import masked_text
from hwtop.model.frame import Frame
from hwtop.report.exports.metrics import Metrics, metrics_of
from hwtop.report.exports.otlp import rejected, request
from hwtop.web.collector import Collector, NotDeliveredError

_LAST_S = 5.0
"""For the last push, when the user or the end of the job ends hwtop."""
_MOST_WORDS = 200
"""Characters of what a collector says that are shown."""


class Pusher:
    """Pushes in a daemon thread, so that a collector that does not answer delays nothing. A newer frame replaces the one that waits."""

    def __init__(self, collector: Collector, every_s: float, report: Callable[[str], None]) -> None:
        """`report` gets one line when pushing begins to fail, and one when it works again; in the pusher's thread."""
        self._collector = collector
        self._every_s = every_s
        self._report = report
        self._instance = f"{platform.node()}:{os.getpid()}"
        self._newest: Frame | None = None
        self._pushed: Frame | None = None
        self._delivered: Metrics | None = None
        """What the collector has taken last."""
        self._problem = ""
        self._is_refused = False
        """From the first push on: pushing goes on only where it has worked once."""
        self._has_frame, self._ends = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="hwtop-otlp", daemon=True)
        self._thread.start()

    def put(self, frame: Frame) -> None:
        """Push this one next. Returns immediately.

        Raises:
            CannotError: the collector has refused the first push.
        """
        self._newest = frame
        self._has_frame.set()
        if self._is_refused:
            raise CannotError(self._failure())

    def finish(self) -> None:
        """Push the newest frame, and wait a few seconds for it.

        Raises:
            CannotError: the collector has taken nothing at all.
        """
        self._ends.set()
        self._has_frame.set()
        self._thread.join(_LAST_S)
        if self._newest is not None and self._delivered is None:
            raise CannotError(self._failure())

    def _failure(self) -> str:
        return f"no metrics were pushed to {self._collector.url}: {self._problem or 'no answer yet'}"

    def _work(self) -> None:
        self._has_frame.wait()
        is_last = False
        while not (is_last or self._is_refused):
            is_last = self._ends.is_set()
            pause_s = self._push(self._newest)
            self._ends.wait(max(pause_s, self._every_s))

    def _push(self, frame: Frame | None) -> float:
        """How long to wait at least before the next push, in seconds."""
        if frame is None or frame is self._pushed:
            return 0.0
        problem, pause_s = "", 0.0
        try:
            metrics = metrics_of(frame)
            answer = self._collector.post(request(metrics, self._delivered, self._instance))
            self._delivered, self._pushed = metrics, frame
            problem = _left_out(answer)
        except NotDeliveredError as error:
            problem, pause_s = str(error), error.pause_s
            self._is_refused = error.is_refused and self._delivered is None
        except Exception as error:  # a mistake of hwtop must not end the watch
            problem = internal_error(error, "OTLP")
        self._note(problem)
        return pause_s

    def _note(self, problem: str) -> None:
        before, self._problem = self._problem, problem
        if problem and not before and not self._is_refused:
            every = units.duration(self._every_s)
            self._report(f"metrics for {self._collector.url}: {problem}; tried again every {every}")
        elif before and not problem:
            self._report(f"metrics for {self._collector.url}: delivered again")


def _left_out(answer: bytes) -> str:
    """Why the collector did not take all, in a line; "" = it took all."""
    try:
        count, words = rejected(answer)
    except ValueError:
        return "its answer is not one of OTLP"
    if not (count or words):
        return ""
    return f"it left out {count:,} samples: {visible(masked_text(words[:_MOST_WORDS]))}"

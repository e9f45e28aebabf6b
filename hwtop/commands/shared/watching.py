"""The job that the screen watches: its feed, its recording, and what keys ask of it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hwtop.config import Config

if TYPE_CHECKING:
    from hwtop.feed.feed import Feed
    from hwtop.model.frame import Frame
    from hwtop.model.plan import UserFocus
    from hwtop.model.signal import SignalAnswer, SignalOrder
    from hwtop.ui.pictures.shot import Shot

_STARTED = 20
"""Frames after which all is read and drawn that the start takes: logs are read from the first ones on."""
BUNDLE_S = 600.0
"""Of the recording in the bundle of key B: what takes some seconds to mask and to replay."""


class Watching:
    """The feed of the job that the screen watches now."""

    def __init__(
        self,
        target_pid: int | None,
        interval_s: float,
        logs: tuple[str, ...],
        gpus: tuple[int, ...] | None,
        config: Config,
    ) -> None:
        self._target_pid = target_pid
        self._interval_s = interval_s
        self._logs = logs
        self._gpus = gpus
        self._config = config
        from hwtop.bundle.incident import keeper
        from hwtop.feed.flight import Flight
        from hwtop.feed.record import RecordingSwitch

        self._publishing = threading.Lock()
        self._publish: Callable[[Frame], None] | None = None
        self._feed: Feed | None = None
        self._flight = Flight("off", None)
        self._frame: Frame | None = None
        self.recording = RecordingSwitch(earlier=lambda: self._flight.snapshots())
        self.incident = keeper(False)

    def start(self, publish: Callable[[Frame], None]) -> Watching:
        """Publish frames from now on, from a thread: the newest at once where some have come since `begin`."""
        if not gc.isenabled():  # all is imported
            gc.freeze()
            gc.enable()
        with self._publishing:
            self._publish = publish
            if self._frame is not None:
                publish(self._frame)
        if self._feed is None:
            self.begin()
        return self

    def attach(self, pid: int | None) -> None:
        """Watch another job from now on, or with None list those that run. A recording is of one job."""
        self.stop()
        threading.Thread(target=self.recording.close, name="hwtop-recording", daemon=True).start()
        self._target_pid = pid
        self.begin()

    def look(self, user_focus: UserFocus) -> None:
        """The user looks at this: sample it more often, read its details, carry out the request."""
        assert self._feed is not None
        self._feed.focus.user_focus = user_focus

    def interval(self, seconds: float) -> None:
        """Sample at this interval from now on, also the next job."""
        self._interval_s = self._source.interval_s = seconds

    def send(self, order: SignalOrder) -> tuple[SignalAnswer, ...]:
        """Send the signal, and let the frames know: what it does to the job is no finding."""
        from hwtop.collectors.process.signals import send

        answers = send(order)
        reached = tuple(answer.pid for answer in answers if answer.error is None)
        if reached:
            self._source.signalled(order.signal, reached)
        return answers

    def bundle(self, shot: Shot, told: Callable[[str, Path | None], None]) -> None:
        """Make a bundle of what is watched, in a thread."""
        if self._frame is not None:
            from hwtop.commands.saved.bundle import bundle_of_watch

            watched = partial(self._flight.snapshots, BUNDLE_S)
            bundle_of_watch(shot, self._frame, self.incident.seen(), watched, self._config.symptoms, told)

    def stop(self) -> None:
        """Stop publishing; does not wait."""
        if self._feed is not None:
            self._feed.stop()
        self._flight.close()

    def begin(self) -> None:
        """Start to read. Nothing is shown before `start`: the first reading may take a second, and so may the import of the screen."""
        from hwtop.bundle.incident import keeper
        from hwtop.feed.feed import Feed, both
        from hwtop.feed.flight import Flight
        from hwtop.feed.heap import give_back
        from hwtop.feed.learn import learner
        from hwtop.feed.live import LiveSource

        self._flight = flight = Flight(self._config.recording.flight, self._target_pid)
        self.incident = incident = keeper(self._config.incidents.save, flight.snapshots)

        def show(frame: Frame) -> None:
            incident.advance(frame)
            with self._publishing:
                self._frame = frame
                if self._publish is not None:
                    self._publish(frame)
            if frame.number == _STARTED:
                give_back()

        self._source = LiveSource(
            target_pid=self._target_pid, interval_s=self._interval_s, log_globs=self._logs, gpus=self._gpus
        )
        store = both(flight.store, self.recording.store, incident.store)
        learned = learner(self._config.baselines.learn)
        self._feed = Feed(self._source, show, self._config.symptoms, learned, store)
        self._feed.start()

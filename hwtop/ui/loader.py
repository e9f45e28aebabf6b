"""Loader: makes the frames of a recording, in a thread, and hands the screen what there is of them so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from msgspec.structs import replace

from hwtop.errors import internal_error
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui import past
from hwtop.ui.options import Show
from hwtop.ui.past import FrameHistory

_PUBLISH_S = 0.5
"""From one part to the next: each draws the screen."""


class Loader:
    """The feed of a recording. There is no job, so most of what a screen may ask is ignored."""

    def __init__(self, frames: Iterable[Frame], open_at_s: float | None = None) -> None:
        """`open_at_s`: nothing is published before this time (seconds after the epoch) is loaded; None: before the first warning."""
        self._frames = frames
        self._open_at_s = open_at_s
        self._stopping = threading.Event()
        self.failure: str | None = None
        """Why a part of it was not loaded."""

    def start(self, publish: Show) -> Loader:
        """Start to load, in a daemon thread: the file may be on a dead mount."""
        threading.Thread(target=self._load, args=(publish,), name="hwtop-load", daemon=True).start()
        return self

    def attach(self, pid: int | None) -> None:
        """Not possible."""

    def look(self, user_focus: UserFocus) -> None:
        """What was sampled cannot be changed."""

    def interval(self, seconds: float) -> None:
        """As recorded."""

    def stop(self) -> None:
        """End after the current frame; does not wait."""
        self._stopping.set()

    def _load(self, publish: Show) -> None:
        loaded, published_s, is_open = FrameHistory(is_recording=True), 0.0, False
        try:
            for frame in self._frames:
                if self._stopping.is_set():
                    return
                loaded = past.with_frame(loaded, frame)
                is_open = is_open or self._is_open(loaded, frame.derived.time_s)
                if is_open and time.monotonic() - published_s >= _PUBLISH_S:
                    publish(loaded)
                    published_s = time.monotonic()
        except Exception as error:  # what is loaded can still be shown
            self.failure = internal_error(error, "the replay")
        if loaded.newest is not None:
            publish(replace(loaded, is_whole=True))

    def _is_open(self, loaded: FrameHistory, time_s: float) -> bool:
        """What is shown first is loaded."""
        if self._open_at_s is not None:
            return time_s >= self._open_at_s
        return past.first_warning(loaded) is not None or time_s - loaded.kept[0].time_s >= past.OPENED_S

"""Hub: one feed, many tabs. Every frame goes to each tab; their requests are merged."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from msgspec.structs import replace

from hwtop.feed.alerts import AlertBook
from hwtop.model.frame import Frame
from hwtop.model.plan import Request, UserFocus
from hwtop.ui.options import ScreenOptions, Start, Stopper


class Guest(Protocol):
    """A tab as the hub sees it."""

    def show(self, frame: Frame) -> None:
        """Take the newest frame. Never blocks."""


class Hub:
    """Lives in the event loop; only `_receive` is called by the feed's thread."""

    def __init__(self, start: Start, options: ScreenOptions) -> None:
        self.newest: Frame | None = None
        self._start = start
        self._options = options
        self._alerts = AlertBook(options.alerts.severity)
        self._focus_of: dict[Guest, UserFocus] = {}
        """Of each tab, the one changed last at the end."""
        self._request: Request | None = None
        self._loop: asyncio.AbstractEventLoop
        self._feed: Stopper

    def open(self) -> None:
        """Start the feed."""
        self._loop = asyncio.get_running_loop()
        self._feed = self._start(self._receive)

    def close(self) -> None:
        """End the feed; does not wait."""
        self._feed.stop()

    def join(self, guest: Guest) -> None:
        """Send every frame to `guest` from now on."""
        self._focus_of[guest] = UserFocus()

    def leave(self, guest: Guest) -> None:
        """Send no more frames to `guest`, and drop its requests."""
        if self._focus_of.pop(guest, None) not in (None, UserFocus()):
            self._feed.look(self._merged_focus())

    def attach(self, pid: int | None) -> None:
        """Watch another job, or list those that run, for all tabs."""
        self._focus_of = dict.fromkeys(self._focus_of, UserFocus())
        self._request = None
        self._feed.attach(pid)

    def look(self, guest: Guest, user_focus: UserFocus) -> None:
        """Sample what this tab shows; the tab used last takes precedence."""
        request = None if self._options.is_readonly else user_focus.request
        if request is not None and (self._request is None or request.number > self._request.number):
            self._request = request
        self._focus_of.pop(guest, None)
        self._focus_of[guest] = replace(user_focus, request=None)
        self._feed.look(self._merged_focus())

    def interval(self, seconds: float) -> None:
        """Sample at this interval, for all tabs."""
        self._feed.interval(seconds)

    def _merged_focus(self) -> UserFocus:
        focused = [user_focus for user_focus in reversed(self._focus_of.values()) if user_focus != UserFocus()]
        rank = next((user_focus.rank for user_focus in focused if user_focus.rank is not None), None)
        detail_pid = next((user_focus.detail_pid for user_focus in focused if user_focus.detail_pid is not None), None)
        return UserFocus(rank=rank, detail_pid=detail_pid, request=self._request)

    def _receive(self, frame: Frame) -> None:
        if self._options.call is not None:
            for finding in self._alerts.advance(frame):
                self._options.call(finding, frame)
        with contextlib.suppress(RuntimeError):  # the loop has ended before the feed
            self._loop.call_soon_threadsafe(self._send_all, frame)

    def _send_all(self, frame: Frame) -> None:
        self.newest = frame
        for guest in tuple(self._focus_of):
            guest.show(frame)

"""Hub: one feed, many tabs. Every frame goes to each of them; what they ask for is made one."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from msgspec.structs import replace

from hwtop.feed.alerts import AlertBook
from hwtop.model.aim import Request, Wish
from hwtop.model.frame import Frame
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
        self._wishes: dict[Guest, Wish] = {}
        """Of each tab; the one that was changed last stands last."""
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
        """From now on `guest` gets every frame."""
        self._wishes[guest] = Wish()

    def leave(self, guest: Guest) -> None:
        """It gets none any more, and what it wanted is not wanted any more."""
        if self._wishes.pop(guest, None) not in (None, Wish()):
            self._feed.look(self._wish())

    def attach(self, pid: int) -> None:
        """Watch another job, for all tabs."""
        self._wishes = dict.fromkeys(self._wishes, Wish())
        self._request = None
        self._feed.attach(pid)

    def look(self, guest: Guest, wish: Wish) -> None:
        """Look closely at what this tab shows: the tab that was used last decides."""
        request = None if self._options.is_readonly else wish.request
        if request is not None and (self._request is None or request.number > self._request.number):
            self._request = request
        self._wishes.pop(guest, None)
        self._wishes[guest] = replace(wish, request=None)
        self._feed.look(self._wish())

    def interval(self, seconds: float) -> None:
        """Look this often, for all tabs."""
        self._feed.interval(seconds)

    def _wish(self) -> Wish:
        wishes = [wish for wish in reversed(self._wishes.values()) if wish != Wish()]
        rank = next((wish.rank for wish in wishes if wish.rank is not None), None)
        detail_pid = next((wish.detail_pid for wish in wishes if wish.detail_pid is not None), None)
        return Wish(rank=rank, detail_pid=detail_pid, request=self._request)

    def _receive(self, frame: Frame) -> None:
        if self._options.call is not None:
            for finding in self._alerts.advance(frame):
                self._options.call(finding, frame)
        with contextlib.suppress(RuntimeError):  # the loop has ended before the feed has
            self._loop.call_soon_threadsafe(self._deal, frame)

    def _deal(self, frame: Frame) -> None:
        self.newest = frame
        for guest in tuple(self._wishes):
            guest.show(frame)

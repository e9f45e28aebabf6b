"""What an agent has to send, and the thread that sends it: a reader that is slow gets less, and nothing queues without bound."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from hwtop.fleet.wire import Checks, Goodbye, Message, Packer, Report, Whole

_MOST_ANSWERS = 16
"""Short messages that wait; the oldest go. Bounds memory while the reader does not read."""


class Outbox:
    """Of reports, checks and Snapshots only the newest of each waits; short messages are kept in order."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        """`write` may block, and raises OSError once the reader is gone."""
        self._write = write
        self._packer = Packer()
        self._short: deque[Message] = deque(maxlen=_MOST_ANSWERS)
        self._report: Report | Checks | None = None
        self._whole: Whole | None = None
        self._changed = threading.Condition()
        self._is_closing = False
        self.is_gone = threading.Event()
        """The reader is, or everything was sent after `close`."""
        self._thread = threading.Thread(target=self._run, name="hwtop-outbox", daemon=True)
        self._thread.start()

    def put(self, message: Message) -> None:
        """Send it when its turn comes. Never waits."""
        with self._changed:
            if isinstance(message, Report | Checks):
                self._report = message
            elif isinstance(message, Whole):
                self._whole = message
            else:
                self._short.append(message)
            self._changed.notify()

    def close(self, wait_s: float) -> None:
        """Send what is there, and wait so long for the reader to take it."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(wait_s)

    def _run(self) -> None:
        try:
            while (message := self._next()) is not None:
                self._write(self._packer.packed(message))
        except (OSError, ValueError):  # ValueError: a closed file
            pass
        self.is_gone.set()

    def _next(self) -> Message | None:
        with self._changed:
            while True:
                waits = self._report or self._whole
                if self._short and not (waits and isinstance(self._short[0], Goodbye)):
                    return self._short.popleft()
                if self._report is not None:
                    report, self._report = self._report, None
                    return report
                if self._whole is not None:
                    whole, self._whole = self._whole, None
                    return whole
                if self._is_closing:
                    return None
                self._changed.wait()

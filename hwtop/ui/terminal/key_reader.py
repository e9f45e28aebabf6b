"""Keys from the terminal: the thread that reads them sleeps until somebody types."""

from __future__ import annotations

import os
import selectors
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress

from textual._xterm_parser import XTermParser
from textual.message import Message

_READ_BYTES = 4096
_TICK_S = 0.1
"""While a sequence may be incomplete: after an Escape the toolkit waits so long for the rest."""
_OPEN_S = 1.0
"""So long after the newest key: by then the toolkit has given up on every incomplete sequence."""


class WakingEvent(threading.Event):
    """An event that also wakes who waits for a descriptor."""

    def __init__(self) -> None:
        super().__init__()
        self.readable, self._writable = os.pipe()
        os.set_blocking(self.readable, False)

    def set(self) -> None:
        """Set it, and wake."""
        super().set()
        os.write(self._writable, b"\0")

    def clear(self) -> None:
        """Clear it, and let others wait again."""
        super().clear()
        with suppress(BlockingIOError):  # it was not set
            os.read(self.readable, _READ_BYTES)


def read_keys(descriptor: int, closing: WakingEvent, dispatch: Callable[[Message], None]) -> None:
    """Hand on what is typed until `closing` is set or the input ends.

    The toolkit's own reader wakes ten times a second for incomplete sequences: 0.1 % of a core. Here only after a key.
    """
    parser, decode = XTermParser(), getincrementaldecoder("utf-8")(errors="replace").decode
    typed_s = time.monotonic()
    with selectors.SelectSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        selector.register(closing.readable, selectors.EVENT_READ)
        while not closing.is_set():
            ready = selector.select(_TICK_S if time.monotonic() - typed_s < _OPEN_S else None)
            if any(key.fd == descriptor for key, _ in ready):
                typed_s = time.monotonic()
                if not (data := os.read(descriptor, _READ_BYTES)):
                    return
                for message in parser.feed(decode(data)):
                    dispatch(message)
            for message in parser.tick():
                dispatch(message)

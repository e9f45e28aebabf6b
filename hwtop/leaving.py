"""Leaving on a signal. An exception that its handler raises in a callback of the import system is printed and lost: there, it waits a moment."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

_LATER_S = 0.01
"""Engineering default."""


def leave(number: int, frame: FrameType | None) -> None:
    """End as what asks for it expects, and with every child: what is on the stack cleans up."""
    if _is_lost(frame):
        _later(lambda _, then: leave(number, then))
    else:
        sys.exit(128 + number)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While threads and this one import modules: Ctrl-C is not lost. Unless whoever starts hwtop has chosen that it is ignored."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(_: int, frame: FrameType | None) -> None:
    if _is_lost(frame):
        _later(_interrupt)
    else:
        raise KeyboardInterrupt


def _is_lost(frame: FrameType | None) -> bool:
    """In the callback of `importlib._bootstrap._get_module_lock`."""
    while frame is not None:
        if frame.f_code.co_name == "cb" and "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _later(handler: Callable[[int, FrameType | None], None]) -> None:
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, _LATER_S)

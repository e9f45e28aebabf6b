"""One heap for all threads: the C library gives each thread one of its own, and what a thread has freed stays with its heap."""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8
"""As in glibc's malloc.h."""


def share_heap() -> None:
    """Before the first thread starts: let all of them take memory from one heap. Other C libraries than glibc do so anyway."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return to the system what was freed: compiling the patterns of the logs alone leaves 6 MB. Only glibc needs to be asked."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)

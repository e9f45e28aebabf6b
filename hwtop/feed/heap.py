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

"""Where the samples of one rank fell."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.stack import StackFrame


class FlameNode(Struct, frozen=True, gc=False, kw_only=True):
    """A function in the flame of one process, with what it called."""

    frame: StackFrame
    """Line: the one most samples of this node were at; 0 where it calls others from several."""
    samples: int
    """In it or below it."""
    is_user: bool
    children: tuple[FlameNode, ...] = ()
    """Most samples first."""


class Flame(Struct, frozen=True, gc=False, kw_only=True):
    """Where the samples of one rank fell: an icicle, root first."""

    rank: int
    pid: int
    samples: int
    """All of the window, those of waits included."""
    window_s: float
    roots: tuple[FlameNode, ...]

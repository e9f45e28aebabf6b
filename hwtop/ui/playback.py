"""Playback: how a recording is played. Its frames are in `View.past`, like those of a live watch."""

from __future__ import annotations

from msgspec import Struct

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Recorded seconds per second."""
TICK_S = 0.1
"""From one look for a newer frame to the next."""


class Playback(Struct, frozen=True):
    """Of one recording."""

    name: str
    """Of the file."""
    end_s: float
    """Time of its last Snapshot, seconds after the epoch."""
    open_at_s: float | None = None
    """The time to show first; None: that of the first warning (`past.opened_at`)."""
    speed: float = 1.0
    """One of `SPEEDS`."""
    is_playing: bool = False
    ahead_s: float = 0.0
    """Recorded seconds that have passed since the frame in view."""

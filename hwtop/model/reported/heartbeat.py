"""Heartbeats: what the training itself tells hwtop in shared memory (`hwtop.heartbeat`)."""

from __future__ import annotations

from msgspec import Struct


class Beat(Struct, frozen=True, gc=False, kw_only=True):
    """One call of `heartbeat`."""

    number: int
    at_s: float
    """On the monotonic clock."""
    step: int | None = None
    values: dict[str, float] = {}
    """What came with it, by the caller's names; the loss as "loss"."""


class Pulse(Struct, frozen=True, gc=False, kw_only=True):
    """The heartbeat of one process."""

    pid: int
    rank: int | None = None
    beats: tuple[Beat, ...] = ()
    """New since the last reading, oldest first; of very many the newest 56."""
    count: int = 0
    """Calls since the process began."""
    refused: tuple[str, ...] = ()
    """Names that came with something that is no number."""
    is_first: bool = False
    """These beats were there when hwtop looked for the first time."""


class HeartbeatReading(Struct, frozen=True, gc=False, kw_only=True):
    """Of all processes that have one."""

    at_s: float
    pulses: tuple[Pulse, ...] = ()
    missing: dict[str, str] = {}

"""Signals to processes of the job, sent only after a person has confirmed."""

from __future__ import annotations

from msgspec import Struct


class SignalTarget(Struct, frozen=True, gc=False, kw_only=True):
    """A process that a signal is meant for, told from a later one that got the same PID."""

    pid: int
    start_ticks: int
    """As in ProcessInfo."""


class SignalOrder(Struct, frozen=True, gc=False, kw_only=True):
    """What to send to whom."""

    signal: str
    """Name: "SIGTERM"."""
    targets: tuple[SignalTarget, ...]


class SentSignal(Struct, frozen=True, gc=False, kw_only=True):
    """One that was sent."""

    signal: str
    pids: tuple[int, ...]
    """Who got it."""
    at_s: float
    """On the monotonic clock."""


class SignalAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """How it went with one process."""

    pid: int
    error: str | None = None
    """Why it was not sent; None when it was."""
    advice: str | None = None
    """The command that would do it."""

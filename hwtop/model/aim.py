"""Aim: what the collectors should look at next. The only thing that a frame sends back to the machine's side."""

from __future__ import annotations

from msgspec import Struct


class LogTarget(Struct, frozen=True, kw_only=True):
    """A log file to follow."""

    path: str
    pids: tuple[int, ...] = ()
    """Processes whose fd 1 or 2 it is."""


class Aim(Struct, frozen=True, kw_only=True):
    """Computed from the newest Moment; a replay ignores it."""

    target_pid: int | None = None
    stack_pids: tuple[int, ...] = ()
    """Processes to take stacks of, the most wanted first: focused rank, ranks, then workers while data is waited for."""
    focus_pid: int | None = None
    """The rank on screen: sampled at 1 Hz or faster."""
    logs: tuple[LogTarget, ...] = ()

"""Check: one question about this machine, asked of what was read of it, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hwtop.preflight.machine import Machine

Status = Literal["pass", "warn", "fail", "skip"]
"""fail: the run would not start, or its results could not be trusted; warn: it would be slower, or harder to diagnose."""


class Outcome(Struct, frozen=True):
    """What a check has found."""

    status: Status
    reason: str
    remedy: str | None = None
    """An instruction or a command; None where there is nothing to do."""


class Check(Struct, frozen=True, kw_only=True):
    """One question. `look` raises `NotReadError` where it cannot be answered here: then the check is skipped."""

    id: str
    about: str
    """What is not as it should be where it warns or fails."""
    look: Callable[[Machine], Outcome]
    is_slow: bool = False
    """Left out with --fast: it writes, or starts another interpreter."""
    deadline_s: float = 10.0


class CheckResult(Struct, frozen=True, kw_only=True):
    """The answer to one check, in the form of the JSON."""

    id: str
    status: Status
    reason: str
    remedy: str | None
    took_s: float


class Family(Struct, frozen=True):
    """Checks that belong together."""

    title: str
    checks: tuple[Check, ...]


def passed(reason: str) -> Outcome:
    """All is well."""
    return Outcome("pass", reason)


def warned(reason: str, remedy: str) -> Outcome:
    """It would be slower, or harder to diagnose."""
    return Outcome("warn", reason, remedy)


def failed(reason: str, remedy: str) -> Outcome:
    """The run would not start, or its results could not be trusted."""
    return Outcome("fail", reason, remedy)


def skipped(reason: str) -> Outcome:
    """There is nothing to check here."""
    return Outcome("skip", reason)

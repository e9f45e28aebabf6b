"""Check: one question about this machine, asked of what was read of it, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from hwtop.model.check import CheckStatus
from hwtop.preflight.machine import Machine


class Outcome(Struct, frozen=True):
    """What a check has found."""

    status: CheckStatus
    reason: str
    remedy: str | None = None
    """An instruction or a command; None where there is nothing to do."""
    compares: bool = False
    """As in `CheckResult`."""


class Check(Struct, frozen=True, kw_only=True):
    """One question. `look` raises `NotReadError` where it cannot be answered here: then the check is skipped."""

    id: str
    about: str
    """What is not as it should be where it warns or fails."""
    look: Callable[[Machine], Outcome]
    is_slow: bool = False
    """Left out with --fast: it writes, or starts another interpreter."""
    deadline_s: float = 10.0


class Family(Struct, frozen=True):
    """Checks that belong together."""

    title: str
    checks: tuple[Check, ...]


def passed(reason: str, *, compares: bool = False) -> Outcome:
    """All is well. `compares`: nodes that are set up alike give the same reason."""
    return Outcome("pass", reason, compares=compares)


def warned(reason: str, remedy: str) -> Outcome:
    """It would be slower, or harder to diagnose."""
    return Outcome("warn", reason, remedy)


def failed(reason: str, remedy: str) -> Outcome:
    """The run would not start, or its results could not be trusted."""
    return Outcome("fail", reason, remedy)


def skipped(reason: str) -> Outcome:
    """There is nothing to check here."""
    return Outcome("skip", reason)

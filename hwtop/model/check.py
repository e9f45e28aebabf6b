"""What a check of a machine has answered."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

CheckStatus = Literal["pass", "warn", "fail", "skip"]
"""fail: the run would not start, or its results could not be trusted; warn: it would be slower, or harder to diagnose."""


GRAVITY: tuple[CheckStatus, ...] = ("fail", "warn", "pass", "skip")
"""The gravest first."""


class CheckResult(Struct, frozen=True, kw_only=True):
    """The answer to one check, in the form of the JSON."""

    id: str
    status: CheckStatus
    reason: str
    remedy: str | None
    took_s: float
    compares: bool = False
    """The reason tells how the machine is set up, in words that are the same on all nodes that are set up alike: versions, counts,
    limits."""

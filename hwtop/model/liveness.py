"""What is known of a rank's progress: whether it makes any, and how improbable it is that it still does."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

LivenessState = Literal[
    "progressing", "slow", "waiting", "stuck asleep", "stuck polling", "stuck spinning", "stopped", "gone"
]
"""waiting: for other ranks. asleep: the kernel does not wake it. polling: it wakes up, does next to nothing and stays in one
function. spinning: it computes and stays in one function. slow: it moves, and nothing was reported for too long, or the others
wait for it."""


class Liveness(Struct, frozen=True, gc=False, kw_only=True):
    """One rank."""

    state: LivenessState
    phi: float
    """-log10 of the probability that a healthy rank is this long without progress (`hwtop.job.hang.liveness`)."""
    gap_s: float | None = None
    """Since its last sign of progress; None where none is known."""
    waits_for: tuple[int, ...] = ()
    """The ranks that the waiting one waits for, where somebody is outside of the wait."""

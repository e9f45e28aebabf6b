"""Does the job stand still, and why: the question that several rules ask, with the numbers that hold."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta

from hwtop.job.hang.rank_state import LOG_INTERVALS, STUCK_S
from hwtop.job.hang.standstill import (
    BUSY_GPU_QUIET_S,
    HOLLOW_QUIET_S,
    HOLLOW_STEPS,
    UNKNOWN_INTERVAL_S,
    Patience,
)
from hwtop.job.hang.tree import HangCause, hang_cause
from hwtop.symptoms.gpu_spin import SPIN_MOMENTS, looks_idle_inside
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Hold, Limits

HOLLOW_S = 10.0
"""A GPU is hollow when it is full and idle inside in (nearly) each look of so long. Engineering default."""
HOLLOW_LOOKS = 3


class HangLimits(Limits, frozen=True, kw_only=True):
    """Of hang, collective-mismatch and rank-missing-from-collective: how long logs and steps must be silent."""

    quiet_s: Annotated[float, Meta(ge=STUCK_S, le=3600)] = STUCK_S
    """Stacks must be the same for 10 s in any case."""
    busy_gpu_quiet_s: Hold = BUSY_GPU_QUIET_S
    """While a GPU works: a long kernel explains a still stack."""

    @property
    def says(self) -> str:
        """The condition in words."""
        return (
            f"every live rank: same stack for {STUCK_S:.0f} s and no work; no log line for {LOG_INTERVALS:.0f} of its usual "
            f"intervals, at least {self.quiet_s:g} s ({UNKNOWN_INTERVAL_S:g} s where nobody knows them, "
            f"{self.busy_gpu_quiet_s:g} s while a GPU is busy, {HOLLOW_STEPS:.0f} median steps and {HOLLOW_QUIET_S:.0f} s where it is full and hardly uses memory and PCIe)"
        )


HANG = HangLimits()


def standing(history: History, limits: HangLimits = HANG) -> HangCause | None:
    """Why the job stands still; None while anything moves."""
    job = history.job
    if job is None:
        return None
    patience = Patience(quiet_s=limits.quiet_s, busy_gpu_s=limits.busy_gpu_quiet_s, hollow=_hollow(history))
    return hang_cause(job, history.now.gpus, patience)


def _hollow(history: History) -> frozenset[int]:
    own = {index for rank in history.live_ranks for index in rank.gpus}
    full = {gpu.index for gpu in history.now.gpus if gpu.index in own and looks_idle_inside(gpu)}
    if not full or not history.covers(HOLLOW_S):
        return frozenset()
    window = history.over(HOLLOW_S)
    hits = Counter(
        gpu.index for moment in window for gpu in moment.gpus if gpu.index in full and looks_idle_inside(gpu)
    )
    least = max(HOLLOW_LOOKS, SPIN_MOMENTS * len(window))
    return frozenset(index for index in full if hits[index] >= least)

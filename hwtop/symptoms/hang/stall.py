"""Does the job stand still, and why: the question that several rules ask, with the numbers that hold."""

from __future__ import annotations

from collections import Counter

from hwtop.job.hang.liveness import STANDSTILL_S
from hwtop.job.hang.stall import Patience
from hwtop.job.hang.tree import HangCause, hang_cause
from hwtop.model.evidence import NEARLY_ALL, REPEATED
from hwtop.symptoms.gpu.spin import looks_idle_inside
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, limits_of

HANG = limits_of("collective-mismatch")


def stall_cause(history: History, limits: Limits = HANG) -> HangCause | None:
    """Why the job stands still; None while anything moves. Worked out once a frame."""
    return history.once(_cause, limits.quiet_s, limits.busy_gpu_quiet_s)


def _cause(history: History, quiet_s: float, busy_gpu_s: float) -> HangCause | None:
    job = history.job
    if job is None:
        return None
    patience = Patience(quiet_s=quiet_s, busy_gpu_s=busy_gpu_s, spin_waiting=_spin_waiting(history))
    return hang_cause(job, history.now.gpus, patience)


def _spin_waiting(history: History) -> frozenset[int]:
    """GPUs that are full and idle inside in (nearly) each look."""
    own = {index for rank in history.live_ranks for index in rank.gpus}
    full = {gpu.index for gpu in history.now.gpus if gpu.index in own and looks_idle_inside(gpu)}
    if not full or not history.covers(STANDSTILL_S):
        return frozenset()
    window = history.over(STANDSTILL_S)
    hits = Counter(
        gpu.index for derived in window for gpu in derived.gpus if gpu.index in full and looks_idle_inside(gpu)
    )
    least = max(REPEATED, NEARLY_ALL * len(window))
    return frozenset(index for index in full if hits[index] >= least)

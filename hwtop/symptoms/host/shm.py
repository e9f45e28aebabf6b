"""shm-nearly-full: the shared memory that loader workers pass batches through."""

from __future__ import annotations

from hwtop.job.hang.rank_state import STARTING
from hwtop.job.size import part, size
from hwtop.symptoms.history import History
from hwtop.symptoms.host.resources import SHM, outlooks
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

FULL = limits_of("shm-nearly-full")


def check_shm(history: History, limits: Limits = FULL) -> Observation | None:
    """/dev/shm is nearly full, or will be: what workers put there when they start is not a rise."""
    is_starting = any(rank.stack.phase in STARTING or rank.state == "starting" for rank in history.live_ranks)
    for shm in history.once(outlooks, SHM).values():
        used_pct = 100.0 * shm.share
        if used_pct < limits.used_pct and (is_starting or not shm.runs_out):
            return None
        total = shm.limit or 0.0
        return observed(
            "shm-nearly-full",
            confidence=0.95 if used_pct >= limits.used_pct else 0.8,
            facts={"used_pct": used_pct},
            evidence=(
                f"{part(shm.used, total)} used, {size(total - shm.used)} left",
                *shm.words,
            ),
        )
    return None

"""cgroup-throttled: the job's CPU limit stops its threads."""

from __future__ import annotations

from statistics import median

from hwtop.job.hang.rank_state import STARTING
from hwtop.job.rank_set import named
from hwtop.model.frame import DerivedState
from hwtop.model.host.cgroup import CgroupRates
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

QUOTA = limits_of("cgroup-throttled")
_CLEARLY = 2.0
"""Times the warning's level: a third of the window is then enough, for no burst stops a job in every other period for so long."""


def check_throttled(history: History, limits: Limits = QUOTA) -> Observation | None:
    """The cgroup of the job is out of quota in many periods."""
    share, over_s = history.mean(limits.window_s, _throttled_pct), limits.window_s
    if share is None:
        share, over_s = history.mean(over_s / 3, _throttled_pct), over_s / 3
        if (
            any(rank.stack.phase in STARTING for rank in history.live_ranks)
            or (share or 0.0) < _CLEARLY * limits.warning_pct
        ):
            return None
    if share is None or share < limits.periods_pct:
        return None
    cgroup = history.now.cgroup
    quota = cgroup.cpu_quota_cores if cgroup is not None else None
    used = history.mean(over_s, _used_cores)
    ranks = history.live_ranks
    threads = max(1, int(quota / len(ranks))) if quota is not None and ranks else None
    return observed(
        "cgroup-throttled",
        severity="warning" if share >= limits.warning_pct else "info",
        facts={"share": share, "quota": quota, "threads": threads, "ranks": named(rank.rank for rank in ranks)},
        confidence=0.95,
        evidence=(
            f"out of quota in {share:.0f} % of the scheduler's periods over {over_s:g} s",
            *((f"the job used {used:.1f} cores, and wants more",) if used is not None else ()),
            *(_idle_host(history, over_s)),
        ),
    )


def _throttled_pct(derived: DerivedState) -> float | None:
    cgroup: CgroupRates | None = derived.cgroup
    return cgroup.throttled_periods_pct if cgroup is not None else None


def _used_cores(derived: DerivedState) -> float | None:
    """Of all processes of the job."""
    known = [process.cpu_pct for process in derived.job.processes if process.cpu_pct is not None] if derived.job else []
    return sum(known) / 100.0 if known else None


def _idle_host(history: History, window_s: float) -> tuple[str, ...]:
    idle = [
        derived.cpu.count * (1 - derived.cpu.util_pct / 100.0)
        for derived in history.over(window_s)
        if derived.cpu is not None and derived.cpu.util_pct is not None
    ]
    return (f"meanwhile {median(idle):.1f} cores of the machine are idle",) if idle and median(idle) >= 1.0 else ()

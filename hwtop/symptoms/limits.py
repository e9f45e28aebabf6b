"""cgroup-throttled: the job's CPU limit stops its threads."""

from __future__ import annotations

from statistics import median

from hwtop.job.hang.rank_state import STARTING
from hwtop.job.rank_set import named
from hwtop.model.cgroup import CgroupRates
from hwtop.model.frame import Moment
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, Percent, Rule, Window


class QuotaLimits(Limits, frozen=True, kw_only=True):
    """Of cgroup-throttled: percent of the scheduler's periods (100 ms each), mean of the window."""

    periods_pct: Percent = 5.0
    """Engineering default: Kubernetes' own alert (CPUThrottlingHigh of the kubernetes-mixin) speaks at 25 %, for services that
    hardly use their share."""
    warning_pct: Percent = 25.0
    """The alert's own level: from here on a warning."""
    window_s: Window = 30.0


QUOTA = QuotaLimits()
_CLEARLY = 2.0
"""Times the warning's level: a third of the window is then enough, for no burst stops a job in every other period for so long."""


def check_throttled(history: History, limits: QuotaLimits = QUOTA) -> Observation | None:
    """The cgroup of the job is out of quota in many periods."""
    share, over_s = history.mean(limits.window_s, _throttled_pct), limits.window_s
    if share is None:
        share, over_s = history.mean(over_s / 3, _throttled_pct), over_s / 3
        if any(rank.phase in STARTING for rank in history.live_ranks) or (share or 0.0) < _CLEARLY * limits.warning_pct:
            return None
    if share is None or share < limits.periods_pct:
        return None
    cgroup = history.now.cgroup
    quota = cgroup.cpu_quota_cores if cgroup is not None else None
    used = history.mean(over_s, _used_cores)
    ranks = history.live_ranks
    allowed = f"{quota:g} cores" if quota is not None else "its CPU limit"
    return Observation(
        severity="warning" if share >= limits.warning_pct else "info",
        confidence=0.95,
        title=f"The job's CPU limit ({allowed}) stops it in {share:.0f} % of all periods",
        evidence=(
            f"out of quota in {share:.0f} % of the scheduler's periods over {over_s:g} s",
            *((f"the job used {used:.1f} cores, and wants more",) if used is not None else ()),
            *(_idle_host(history, over_s)),
        ),
        next_steps=(
            "Raise the limit: docker update --cpus N CONTAINER, Kubernetes resources.limits.cpu, sbatch --cpus-per-task"
            + (f" (now {quota:g})" if quota is not None else ""),
            *(
                (
                    f"Or want less: OMP_NUM_THREADS={max(1, int(quota / len(ranks)))} for {named(rank.rank for rank in ranks)}, fewer loader workers",
                )
                if quota is not None and ranks
                else ()
            ),
            "cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat   # the limit, and how often it was met",
        ),
    )


def _throttled_pct(moment: Moment) -> float | None:
    cgroup: CgroupRates | None = moment.cgroup
    return cgroup.throttled_periods_pct if cgroup is not None else None


def _used_cores(moment: Moment) -> float | None:
    """Of all processes of the job."""
    known = [process.cpu_pct for process in moment.job.processes if process.cpu_pct is not None] if moment.job else []
    return sum(known) / 100.0 if known else None


def _idle_host(history: History, window_s: float) -> tuple[str, ...]:
    idle = [
        moment.cpu.count * (1 - moment.cpu.util_pct / 100.0)
        for moment in history.over(window_s)
        if moment.cpu is not None and moment.cpu.util_pct is not None
    ]
    return (f"meanwhile {median(idle):.1f} cores of the machine are idle",) if idle and median(idle) >= 1.0 else ()


RULES = (
    Rule(
        symptom="cgroup-throttled",
        category="performance",
        threshold=lambda limits: (
            f"out of CPU quota in over {limits.periods_pct:g} % of the periods over {limits.window_s:g} s; a warning from {limits.warning_pct:g} % on, "
            f"from {_CLEARLY * limits.warning_pct:g} % on after {limits.window_s / 3:g} s"
        ),
        raise_s=0.0,
        clear_s=15.0,
        check=check_throttled,
        limits=QUOTA,
    ),
)

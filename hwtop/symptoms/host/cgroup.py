"""cgroup-throttled: a CPU limit stops threads of the job."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import partial
from statistics import median

from msgspec import Struct

from hwtop.job.hang.rank_state import STARTING
from hwtop.job.rank_set import named
from hwtop.model.frame import DerivedState
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

QUOTA = limits_of("cgroup-throttled")
_CLEARLY = 2.0
"""Times the level of the warning: a third of the window is then enough, for no burst stops a job in every other period for
so long. Engineering default."""


class _Limit(Struct, frozen=True):
    """A CPU limit, and who runs under it."""

    ranks: tuple[Rank, ...]
    quota: float | None
    is_whole: bool
    """It holds for all of the job."""
    share: Callable[[DerivedState], float | None]
    """Percent of the periods in which it was used up, at one moment."""
    used: Callable[[DerivedState], float | None]
    """Cores."""


def check_throttled(history: History, limits: Limits = QUOTA) -> Observation | None:
    """The cgroup of the job, or of some of its ranks, is out of quota in many periods."""
    seen = [each for limit in _limits(history) if (each := _throttled(history, limit, limits)) is not None]
    return max(seen, key=lambda each: float(each.facts["share"] or 0.0), default=None)


def _limits(history: History) -> Iterator[_Limit]:
    cgroup = history.now.cgroup
    quota = cgroup.cpu_quota_cores if cgroup is not None else None
    yield _Limit(history.live_ranks, quota, True, _throttled_pct, capacity.used)
    for other in cgroup.others if cgroup is not None else ():
        ranks = tuple(rank for rank in history.live_ranks if rank.pid in other.pids)
        if ranks:
            share, used = partial(_other_pct, other.path), partial(_ranks_use, {rank.rank for rank in ranks})
            yield _Limit(ranks, other.cpu_quota_cores, False, share, used)


def _throttled(history: History, limit: _Limit, limits: Limits) -> Observation | None:
    share, over_s = history.mean(limits.window_s, limit.share), limits.window_s
    if share is None:
        share, over_s = history.mean(over_s / 3, limit.share), over_s / 3
        if (
            any(rank.stack.phase in STARTING for rank in history.live_ranks)
            or (share or 0.0) < _CLEARLY * limits.warning_pct
        ):
            return None
    if share is None or share < limits.periods_pct:
        return None
    quota, numbers = limit.quota, tuple(rank.rank for rank in limit.ranks)
    used = history.mean(over_s, limit.used)
    threads = max(1, int(quota / len(numbers))) if quota is not None and numbers else None
    whose = "the job" if limit.is_whole else named(numbers)
    return observed(
        "cgroup-throttled",
        severity="warning" if share >= limits.warning_pct else "info",
        facts={
            "share": share,
            "quota": quota,
            "threads": threads,
            "ranks": named(numbers),
            "limited": None if limit.is_whole else named(numbers).capitalize(),
        },
        confidence=0.95,
        evidence=(
            f"out of quota in {share:.0f} % of the scheduler's periods over {over_s:g} s (nr_throttled of cpu.stat)",
            *((f"{whose} used {used:.1f} cores, and wants more",) if used is not None else ()),
            *(_idle_host(history, over_s)),
        ),
        ranks=() if limit.is_whole else numbers,
    )


def _throttled_pct(derived: DerivedState) -> float | None:
    cgroup: CgroupRates | None = derived.cgroup
    return cgroup.throttled_periods_pct if cgroup is not None else None


def _other_pct(path: str, derived: DerivedState) -> float | None:
    others = derived.cgroup.others if derived.cgroup is not None else ()
    return next((other.throttled_periods_pct for other in others if other.path == path), None)


def _ranks_use(numbers: Container[int], derived: DerivedState) -> float | None:
    ranks = derived.job.ranks if derived.job is not None else ()
    known = [
        rank.process.tree_cpu_pct for rank in ranks if rank.rank in numbers and rank.process.tree_cpu_pct is not None
    ]
    return sum(known) / 100.0 if known else None


def _idle_host(history: History, window_s: float) -> tuple[str, ...]:
    idle = [
        derived.cpu.count * (1 - derived.cpu.util_pct / 100.0)
        for derived in history.over(window_s)
        if derived.cpu is not None and derived.cpu.util_pct is not None
    ]
    return (f"meanwhile {median(idle):.1f} cores of the machine are idle",) if idle and median(idle) >= 1.0 else ()

"""How many cores the job's ranks may use, and how many of those are free: affinity and CPU limit count, not the machine."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.cpu_list import cpus_of
from hwtop.model.frame import DerivedState
from hwtop.symptoms.history import History

WINDOW_S = 10.0
"""Of the means over workers, threads, cores and GPUs that answer what is busy now. Engineering default."""
FULL_SHARE = 0.85
"""Of the cores in use: hardly one is left. Engineering default."""
OUTSIDE_SHARE = 0.25
"""Of the cores that the ranks may use: with so many taken by other programs these may be the reason. Engineering default."""
_SHOWN = 3
"""Programs that a text names."""
_SHOWN_ROUNDING = 0.05
"""Of a core: numbers are written to a tenth."""
_SHOWN_PCT = 10.0
"""Of a core: what uses less is not named."""


def allowed(derived: DerivedState) -> frozenset[int]:
    """Cores that any rank that lives may run on; empty where that is not known."""
    ranks = derived.job.ranks if derived.job is not None else ()
    lists = {rank.process.allowed_cpus for rank in ranks if rank.is_alive}
    return frozenset[int]().union(*(cpus_of(each) for each in lists if each))


def cores(derived: DerivedState) -> float:
    """So many the ranks may use at a time: the CPU limit may be a part of one."""
    may = allowed(derived)
    return min(derived.cores, len(may)) if may else derived.cores


def used(derived: DerivedState) -> float | None:
    """Cores that all processes of the job use."""
    known = [row.cpu_pct for row in derived.job.processes if row.cpu_pct is not None] if derived.job else []
    return sum(known) / 100.0 if known else None


def free(history: History, window_s: float) -> float | None:
    """Mean over what is known of the window; None where nothing is."""
    known = history.values(window_s, _free)
    return fmean(known) if known else None


class Outside(Struct, frozen=True):
    """What processes outside the job use of the cores that its ranks may use, mean over `WINDOW_S`."""

    cores: float
    of: float
    who: tuple[str, ...]
    """The busiest, by name, with the cores of each; empty where they are not seen or not looked for."""
    is_scarce: bool
    """They use much, and leave hardly any."""


def outside(history: History) -> Outside | None:
    """hwtop itself is not counted; None where the load is not known."""
    may = len(allowed(history.now)) or history.now.cores
    idle, own = history.mean(WINDOW_S, _idle), history.mean(WINDOW_S, used)
    if idle is None or own is None:
        return None
    mine = history.mean(WINDOW_S, lambda derived: derived.own_cpu_pct) or 0.0
    cores = max(0.0, may - idle - own - mine / 100)
    is_scarce = idle <= (1 - FULL_SHARE) * may and cores >= OUTSIDE_SHARE * may
    return Outside(cores, may, _named(_busiest(history), cores), is_scarce)


def taken(history: History) -> Outside | None:
    """What is outside where it leaves hardly a core to the job."""
    found = history.once(outside)
    return found if found is not None and found.is_scarce else None


def _named(busy: Sequence[tuple[str, float]], cores: float) -> tuple[str, ...]:
    """ "pytest of alice (PID 42) 1.6", "cc1plus of bob (3 programs) 0.9", in cores. Programs are read every few seconds: where that makes
    them more than all use together, their numbers are of another time and left out."""
    if round(sum(used for _, used in busy) - cores, 6) > _SHOWN_ROUNDING * len(busy):
        return tuple(name for name, _ in busy)
    return tuple(f"{name} {used:.1f}" for name, used in busy)


def _busiest(history: History) -> list[tuple[str, float]]:
    """What runs outside the job, with the cores that it uses, mean over `WINDOW_S`.

    Programs of one name are one: those of a build or of a test run last seconds each.
    """
    seen = [derived for derived in history.over(WINDOW_S) if derived.programs]
    busy: dict[tuple[str, str], float] = {}
    for each in (each for derived in seen for each in derived.programs):
        busy[each.name, each.user] = busy.get((each.name, each.user), 0.0) + (each.cpu_pct or 0.0) / len(seen)
    ranked = sorted(busy.items(), key=lambda item: -item[1])[:_SHOWN]
    return [(_program(history.now, *which), used / 100) for which, used in ranked if used >= _SHOWN_PCT]


def _program(derived: DerivedState, name: str, user: str) -> str:
    pids = [each.pid for each in derived.programs if (each.name, each.user) == (name, user)]
    which = f" (PID {pids[0]})" if len(pids) == 1 else f" ({len(pids)} programs)" if pids else ""
    return f"{name} of {user}{which}"


def _idle(derived: DerivedState) -> float | None:
    """Cores that the ranks may use and nobody does."""
    cpu, may = derived.cpu, allowed(derived)
    if cpu is None or cpu.util_pct is None:
        return None
    idle = [1 - core.util_pct / 100 for core in cpu.cores if core.number in may]
    if may and len(idle) < len(may) < cpu.count:
        return None  # of some cores that it may use the load is not known
    return sum(idle) if may and len(idle) == len(may) else cpu.count * (1 - cpu.util_pct / 100)


def _free(derived: DerivedState) -> float | None:
    whole = _idle(derived)
    if whole is None:
        return None
    quota = derived.cgroup.cpu_quota_cores if derived.cgroup is not None else None
    own = used(derived)
    left = whole if quota is None or own is None else min(whole, quota - own)
    return min(cores(derived), max(0.0, left))

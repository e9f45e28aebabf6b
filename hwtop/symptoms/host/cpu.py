"""cpu-oversubscribed, cpu-steal: threads of the job wait for a core."""

from __future__ import annotations

from msgspec import Struct

from hwtop.job.cpu_list import cpus_of
from hwtop.job.rank_set import named
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

CORES = limits_of("cpu-oversubscribed")
STEAL = limits_of("cpu-steal")


def most_runnable(limits: Limits, cores: float) -> float:
    """So many threads or workers may want to run."""
    return max(limits.per_core * cores, cores + limits.excess)


def runnable(derived: DerivedState) -> float | None:
    """Threads of the job's ranks and workers in state R at this moment."""
    job = derived.job
    return None if job is None or not job.ranks else float(sum(rank.process.runnable_threads for rank in job.ranks))


def check_oversubscribed(history: History, limits: Limits = CORES) -> Observation | None:
    """The job's own threads want far more cores than it may use, and really wait for one."""
    return _crowded(history, limits) or _too_many_threads(history, limits)


class _Crowd(Struct, frozen=True):
    """Ranks that may use a part of the machine only, and fill that."""

    ranks: tuple[Rank, ...]
    cores: frozenset[int]
    used: float
    """Cores that they and their workers use."""
    wanted: float
    """... and would use at least: with what their main threads were ready to run without a core."""
    delay_pct: float | None
    """Of the rank whose main thread waits most for a core."""


def _crowded(history: History, limits: Limits) -> Observation | None:
    """Ranks are bound to fewer cores than the machine has, use these up by themselves, and wait for them."""
    crowds = [crowd for rank in history.live_ranks if (crowd := _crowd(history, rank, limits)) is not None]
    if not crowds:
        return None
    worst = max(crowds, key=lambda crowd: (len(crowd.ranks), crowd.used / len(crowd.cores)))
    count, numbers = len(worst.cores), tuple(rank.rank for rank in worst.ranks)
    cpus = worst.ranks[0].process.allowed_cpus
    machine = history.now.cpu.count if history.now.cpu else count
    return observed(
        "cpu-oversubscribed",
        confidence=0.9,
        facts={
            "bound": named(numbers).capitalize(),
            "cpus": cpus,
            "count": count,
            "machine": machine,
            "used": worst.used,
            "wanted": None if worst.delay_pct is None else worst.wanted,
            "each": max(1, count // len(numbers)),
            "cores": count,
            "ranks": len(numbers),
            "first_pid": worst.ranks[0].pid,
        },
        evidence=(
            f"{named(numbers)} with their workers use {worst.used:.2f} cores over {limits.window_s:g} s",
            f"their affinity is CPU {cpus}: {count} of the machine's {machine} cores",
            *_delays(history, worst, limits),
        ),
        ranks=numbers,
    )


def _crowd(history: History, rank: Rank, limits: Limits) -> _Crowd | None:
    """Those that may only use cores that `rank` may use."""
    mine = _may_use(rank)
    machine = history.now.cpu.count if history.now.cpu else 0
    if not 0 < len(mine) < machine:
        return None
    ranks = tuple(each for each in history.live_ranks if each.process.allowed_cpus and _may_use(each) <= mine)
    known = [history.rank_mean(limits.window_s, each.rank, lambda seen: seen.process.tree_cpu_pct) for each in ranks]
    total = sum(value for value in known if value is not None) / 100.0
    delays = [delay for each in ranks if (delay := _delay(history, each, limits)) is not None]
    crowd = _Crowd(ranks, mine, total, total + sum(delays) / 100.0, max(delays, default=None))
    is_full = None not in known and total >= limits.full_share * len(mine)
    if crowd.delay_pct is None:
        return crowd if is_full and len(ranks) > len(mine) else None
    wants_more = crowd.wanted >= limits.per_core * len(mine)  # also where a neighbour takes much of these cores
    return crowd if (is_full or wants_more) and crowd.delay_pct >= limits.pressure_pct else None


def _may_use(rank: Rank) -> frozenset[int]:
    return cpus_of(rank.process.allowed_cpus or "")


def _delay(history: History, rank: Rank, limits: Limits) -> float | None:
    return history.rank_mean(limits.window_s, rank.rank, lambda seen: seen.process.run_delay_pct)


def _delays(history: History, crowd: _Crowd, limits: Limits) -> list[str]:
    return [
        f"rank {rank.rank} (PID {rank.pid}): its main thread was ready to run and had no core {delay:.0f} % of the time"
        for rank in crowd.ranks[:4]
        if (delay := _delay(history, rank, limits)) is not None
    ]


def _too_many_threads(history: History, limits: Limits) -> Observation | None:
    job, cores = history.job, capacity.cores(history.now)
    threads = history.median(limits.window_s, runnable)
    if job is None or threads is None or threads < most_runnable(limits, cores):
        return None
    pressure = history.mean(limits.window_s, some_pct("cpu"))
    if pressure is not None and pressure < limits.pressure_pct:
        return None
    ranks = [rank for rank in job.ranks if rank.is_alive]
    each = max(1, int(cores // max(1, len(ranks))))
    load = history.now.cpu.load[0] if history.now.cpu else None
    return observed(
        "cpu-oversubscribed",
        confidence=0.9 if pressure is not None else 0.7,
        facts={"threads": threads, "cores": cores, "each": each, "ranks": len(ranks)},
        evidence=(
            f"{threads:.0f} runnable threads in {len(ranks)} ranks and their workers (median over {limits.window_s:g} s), {cores:g} cores",
            *(
                (f"CPU pressure: some task waited for a core {pressure:.0f} % of the time",)
                if pressure is not None
                else ()
            ),
            *((f"load average {load:.1f}",) if load is not None else ()),
            *(
                f"rank {rank.rank} (PID {rank.pid}) has {rank.process.thread_count} threads, {rank.process.runnable_threads} runnable now"
                for rank in ranks[:2]
            ),
        ),
        ranks=tuple(rank.rank for rank in ranks),
    )


def check_steal(history: History, limits: Limits = STEAL) -> Observation | None:
    """The hypervisor gives the virtual machine less CPU time than it asks for."""
    steal = history.mean(limits.window_s, lambda derived: derived.cpu.steal_pct if derived.cpu else None)
    if steal is None or steal < limits.steal_pct:
        return None
    cores = history.now.cpu.count if history.now.cpu else None
    return observed(
        "cpu-steal",
        confidence=0.95,
        facts={"steal_pct": steal, "lost_cores": steal / 100 * cores if cores else None},
        evidence=(f"steal time {steal:.1f} % of all CPU time over {limits.window_s:g} s (/proc/stat)",),
    )

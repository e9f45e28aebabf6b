"""cpu-oversubscribed, cpu-steal: threads of the job wait for a core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.cpu_list import cpus_of
from hwtop.job.hang.liveness import RUNS_PCT
from hwtop.job.rank_set import named
from hwtop.model.evidence import REPEATED
from hwtop.model.frame import DerivedState
from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN, counted

CORES = limits_of("cpu-oversubscribed")
STEAL = limits_of("cpu-steal")


def most_runnable(limits: Limits, cores: float) -> float:
    """So many threads or workers may want to run."""
    return max(limits.per_core * cores, cores + limits.excess)


def runnable(derived: DerivedState) -> float | None:
    """Threads of the job in state R at this moment, whatever process they are of: trials of a search are no ranks."""
    job = derived.job
    return None if job is None or not job.ranks else float(sum(map(_running, job.processes)))


def _running(process: JobProcess) -> int:
    return process.thread_states.get("R", 0)


def check_oversubscribed(history: History, limits: Limits = CORES) -> Observation | None:
    """The job's own threads want far more cores than it may use, and really wait for one."""
    return _crowded(history, limits) or _too_many_threads(history, limits)


class _Mean(Struct, frozen=True):
    """Of one rank over the window; None where too little is known."""

    used_pct: float | None
    """With its workers; 100 = one core."""
    delay_pct: float | None
    """Share of the time for which its main thread was ready to run and had no core."""


class _Crowd(Struct, frozen=True):
    """Ranks that may use a part of the machine only, and fill that."""

    ranks: tuple[Rank, ...]
    cpus: str
    """Their cores as the kernel lists them, and how many these are."""
    cores: int
    used: float
    """Cores that they and their workers use."""
    wanted: float
    """... and would use at least: with what their main threads were ready to run without a core."""
    delays_pct: tuple[float | None, ...]
    """Of each of `ranks`."""


def _crowded(history: History, limits: Limits) -> Observation | None:
    """Ranks are bound to fewer cores than the machine has, use these up by themselves, and wait for them."""
    means = _means(history, limits.window_s)
    waits = {
        rank.process.allowed_cpus: None
        for rank in history.live_ranks
        if (delay := means[rank.rank].delay_pct) is None or delay >= limits.pressure_pct
    }
    crowds = [crowd for cpus in waits if cpus and (crowd := _crowd(history, cpus, means, limits)) is not None]
    if not crowds:
        return None
    worst = max(crowds, key=lambda crowd: (len(crowd.ranks), crowd.used / crowd.cores))
    cpus, count, numbers = worst.cpus, worst.cores, tuple(rank.rank for rank in worst.ranks)
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
            "wanted": None if set(worst.delays_pct) == {None} else worst.wanted,
            "each": max(1, count // len(numbers)),
            "cores": count,
            "sharing": counted(len(numbers), "rank"),
            "first_pid": worst.ranks[0].pid,
        },
        evidence=(
            f"{named(numbers)} with their workers use {worst.used:.2f} cores over {limits.window_s:g} s",
            f"their affinity is CPU {cpus}: {count} of the machine's {machine} cores",
            *_delays(worst),
        ),
        ranks=numbers,
    )


def _means(history: History, window_s: float) -> dict[int, _Mean]:
    """By rank, in one pass: there may be hundreds."""
    used: dict[int, list[float]] = defaultdict(list)
    delays: dict[int, list[float]] = defaultdict(list)
    for derived in history.over(window_s) if history.covers(window_s) else ():
        for rank in derived.job.ranks if derived.job is not None else ():
            if rank.process.tree_cpu_pct is not None:
                used[rank.rank].append(rank.process.tree_cpu_pct)
            if rank.process.run_delay_pct is not None:
                delays[rank.rank].append(rank.process.run_delay_pct)
    return {rank.rank: _Mean(_mean(used[rank.rank]), _mean(delays[rank.rank])) for rank in history.live_ranks}


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if len(values) >= REPEATED else None


def _crowd(history: History, cpus: str, means: Mapping[int, _Mean], limits: Limits) -> _Crowd | None:
    """The ranks that may only use cores of this list."""
    cores = cpus_of(cpus)
    machine = history.now.cpu.count if history.now.cpu else 0
    if not 0 < len(cores) < machine:
        return None
    ranks = tuple(rank for rank in history.live_ranks if _is_within(rank, cores))
    known = [means[rank.rank] for rank in ranks]
    used = sum(mean.used_pct for mean in known if mean.used_pct is not None) / 100.0
    delays = [mean.delay_pct for mean in known if mean.delay_pct is not None]
    crowd = _Crowd(ranks, cpus, len(cores), used, used + sum(delays) / 100.0, tuple(mean.delay_pct for mean in known))
    is_full = all(mean.used_pct is not None for mean in known) and used >= limits.full_share * len(cores)
    if not delays:
        return crowd if is_full and len(ranks) > len(cores) else None
    wants_more = crowd.wanted >= limits.per_core * len(cores)  # also where a neighbour takes much of these cores
    return crowd if (is_full or wants_more) and max(delays) >= limits.pressure_pct else None


def _is_within(rank: Rank, cores: frozenset[int]) -> bool:
    return rank.process.allowed_cpus is not None and cpus_of(rank.process.allowed_cpus) <= cores


def _delays(crowd: _Crowd) -> list[str]:
    return [
        f"rank {rank.rank} (PID {rank.pid}): its main thread was ready to run and had no core {delay:.0f} % of the time"
        for rank, delay in zip(crowd.ranks[:SHOWN], crowd.delays_pct, strict=False)
        if delay is not None
    ]


def _too_many_threads(history: History, limits: Limits) -> Observation | None:
    job, cores = history.job, capacity.cores(history.now)
    threads = history.median(limits.window_s, runnable)
    if job is None or threads is None or threads < most_runnable(limits, cores):
        return None
    pressure = history.mean(limits.window_s, some_pct("cpu"))
    if pressure is not None and pressure < limits.pressure_pct:
        return None
    busy = sorted((each for each in job.processes if _running(each)), key=_running, reverse=True)
    ranks = [rank.rank for rank in job.ranks if rank.is_alive and (rank.process.tree_cpu_pct or 0.0) >= RUNS_PCT]
    count = len(ranks) or len(busy)
    load = history.now.cpu.load[0] if history.now.cpu else None
    return observed(
        "cpu-oversubscribed",
        confidence=0.9 if pressure is not None else 0.7,
        facts={
            "threads": threads,
            "cores": cores,
            "each": max(1, int(cores // max(1, count))),
            "sharing": counted(count, "rank") if ranks else counted(count, "process", "processes"),
        },
        evidence=(
            f"{threads:.0f} runnable threads in {len(busy)} processes of the job (median over {limits.window_s:g} s), {cores:g} cores",
            *(
                (f"CPU pressure: some task waited for a core {pressure:.0f} % of the time",)
                if pressure is not None
                else ()
            ),
            *((f"load average {load:.1f}",) if load is not None else ()),
            *(
                f"PID {each.pid} ({each.role if each.rank is None else f'rank {each.rank}'}) has {each.thread_count} threads, {_running(each)} runnable now"
                for each in busy[:SHOWN]
            ),
        ),
        ranks=tuple(ranks),
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

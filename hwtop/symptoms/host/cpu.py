"""cpu-oversubscribed, cpu-steal: threads of the job wait for a core."""

from __future__ import annotations

from hwtop.model.frame import DerivedState
from hwtop.symptoms.history import History
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
    """The job's own runnable threads exceed its cores by far, and tasks really wait for a CPU."""
    job, cores = history.job, history.now.cores
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

"""cpu-oversubscribed: more threads want to run than there are cores."""

from __future__ import annotations

from hwtop.model.frame import Moment
from hwtop.symptoms.history import History
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Observation, Rule

WINDOW_S = 10.0
PRESSURE_PCT = 20.0
"""PSI cpu "some": in a fifth of the time a task waited for a core. Engineering default."""
RATIO = 1.5
EXCESS = 4
"""Runnable threads of the job over 1.5 per core, and at least 4 more than cores: two busy ranks with two loader workers
each on a two-core box are a full machine, not a fault."""


def runnable(moment: Moment) -> float | None:
    """Threads of the job's ranks and workers in state R at this moment."""
    job = moment.job
    return None if job is None or not job.ranks else float(sum(rank.runnable_threads for rank in job.ranks))


def check_oversubscribed(history: History) -> Observation | None:
    """The job's own runnable threads exceed its cores by far, and tasks really wait for a CPU."""
    job, cores = history.job, history.now.cores
    threads = history.median(WINDOW_S, runnable)
    if job is None or threads is None or threads < max(RATIO * cores, cores + EXCESS):
        return None
    pressure = history.mean(WINDOW_S, some_pct("cpu"))
    if pressure is not None and pressure < PRESSURE_PCT:
        return None
    ranks = [rank for rank in job.ranks if rank.is_alive]
    each = max(1, int(cores // max(1, len(ranks))))
    load = history.now.cpu.load[0] if history.now.cpu else None
    return Observation(
        severity="warning",
        confidence=0.9 if pressure is not None else 0.7,
        title=f"CPU oversubscribed: {threads:.0f} threads of the job want to run on {cores:g} cores",
        evidence=(
            f"{threads:.0f} runnable threads in {len(ranks)} ranks and their workers (median over {WINDOW_S:.0f} s), {cores:g} cores",
            *(
                (f"CPU pressure: some task waited for a core {pressure:.0f} % of the time",)
                if pressure is not None
                else ()
            ),
            *((f"load average {load:.1f}",) if load is not None else ()),
            *(
                f"rank {rank.rank} (PID {rank.pid}) has {rank.thread_count} threads, {rank.runnable_threads} runnable now"
                for rank in ranks[:2]
            ),
        ),
        next_steps=(
            f"export OMP_NUM_THREADS={each} MKL_NUM_THREADS={each}   # {cores:g} cores / {len(ranks)} ranks",
            "In each loader worker: torch.set_num_threads(1), cv2.setNumThreads(0)",
            "Fewer loader workers or ranks, or more cores (--cpus-per-task, container CPU limit)",
        ),
        ranks=tuple(rank.rank for rank in ranks),
    )


RULES = (
    Rule(
        symptom="cpu-oversubscribed",
        category="performance",
        threshold=(
            f"runnable threads of the job over {RATIO:g} x cores and {EXCESS} above them (median of {WINDOW_S:.0f} s), and PSI cpu "
            f"over {PRESSURE_PCT:.0f} %"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_oversubscribed,
    ),
)

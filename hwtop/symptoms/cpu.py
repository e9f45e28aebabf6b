"""cpu-oversubscribed: more threads want to run than there are cores."""

from __future__ import annotations

from hwtop.model.frame import Moment
from hwtop.symptoms.history import History
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, Percent, Positive, Rule, Window


class CoreLimits(Limits, frozen=True, kw_only=True):
    """Of cpu-oversubscribed and dataloader-oversubscribed."""

    per_core: Positive = 1.5
    excess: Positive = 4
    """Runnable threads (or workers) over 1.5 per core, and at least 4 more than cores: two busy ranks with two loader workers
    each on a two-core box are a full machine, not a fault. Engineering default."""
    pressure_pct: Percent = 20.0
    """PSI cpu "some": in a fifth of the time a task waited for a core. Engineering default."""
    window_s: Window = 10.0

    def most(self, cores: float) -> float:
        """So many may want to run."""
        return max(self.per_core * cores, cores + self.excess)


CORES = CoreLimits()


def runnable(moment: Moment) -> float | None:
    """Threads of the job's ranks and workers in state R at this moment."""
    job = moment.job
    return None if job is None or not job.ranks else float(sum(rank.runnable_threads for rank in job.ranks))


def check_oversubscribed(history: History, limits: CoreLimits = CORES) -> Observation | None:
    """The job's own runnable threads exceed its cores by far, and tasks really wait for a CPU."""
    job, cores = history.job, history.now.cores
    threads = history.median(limits.window_s, runnable)
    if job is None or threads is None or threads < limits.most(cores):
        return None
    pressure = history.mean(limits.window_s, some_pct("cpu"))
    if pressure is not None and pressure < limits.pressure_pct:
        return None
    ranks = [rank for rank in job.ranks if rank.is_alive]
    each = max(1, int(cores // max(1, len(ranks))))
    load = history.now.cpu.load[0] if history.now.cpu else None
    return Observation(
        severity="warning",
        confidence=0.9 if pressure is not None else 0.7,
        title=f"CPU oversubscribed: {threads:.0f} threads of the job want to run on {cores:g} cores",
        evidence=(
            f"{threads:.0f} runnable threads in {len(ranks)} ranks and their workers (median over {limits.window_s:g} s), {cores:g} cores",
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
        threshold=lambda limits: (
            f"runnable threads of the job over {limits.per_core:g} x cores and {limits.excess:g} above them (median of "
            f"{limits.window_s:g} s), and PSI cpu over {limits.pressure_pct:g} %"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_oversubscribed,
        limits=CORES,
    ),
)

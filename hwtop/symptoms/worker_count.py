"""dataloader-oversubscribed: more loader workers than the job has cores, and they stand in line for them."""

from __future__ import annotations

from hwtop.model.frame import Moment
from hwtop.symptoms.cpu import CORES, CoreLimits
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Observation, Rule

_NAMED = 4


def waiting_workers(moment: Moment) -> float | None:
    """Loader workers of all ranks that are in state R: on a core, or in line for one."""
    job = moment.job
    return None if job is None else float(sum(worker.state == "R" for rank in job.ranks for worker in rank.workers))


def check_oversubscribed(history: History, limits: CoreLimits = CORES) -> Observation | None:
    """Far more workers want to run than there are cores. Many that sleep are no fault, whatever torch warns of at the start."""
    cores = history.now.cores
    ranks = [rank for rank in history.live_ranks if rank.workers]
    count = sum(len(rank.workers) for rank in ranks)
    ready = history.median(limits.window_s, waiting_workers)
    if ready is None or count <= cores or ready < limits.most(cores):
        return None
    pressure = history.mean(limits.window_s, some_pct("cpu"))
    if pressure is not None and pressure < limits.pressure_pct:
        return None
    busy = [worker.cpu_pct for rank in ranks for worker in rank.workers if worker.cpu_pct is not None]
    each = max(1, int((cores - len(ranks)) // len(ranks)))
    told = check_pattern("dataloader-oversubscribed", history)
    return Observation(
        severity="warning",
        confidence=0.9 if pressure is not None else 0.7,
        title=f"{count} loader workers of {len(ranks)} rank{'s' if len(ranks) > 1 else ''} for {cores:g} core{'s' if cores != 1 else ''}: "
        f"{ready:.0f} of them want to run at a time",
        evidence=(
            f"{ready:.0f} of {count} workers in state R (median over {limits.window_s:g} s)",
            *((f"each gets {sum(busy) / len(busy):.0f} % of a core on average",) if busy else ()),
            *(
                (f"CPU pressure: some task waited for a core {pressure:.0f} % of the time",)
                if pressure is not None
                else ()
            ),
            *(f"rank {rank.rank} (PID {rank.pid}): {len(rank.workers)} workers" for rank in ranks[:_NAMED]),
            *((f"torch warned: {told.log_line[:200]}",) if told is not None and told.log_line else ()),
        ),
        next_steps=(
            f"DataLoader(num_workers={each})   # {cores:g} cores, one for each of {len(ranks)} training processes, the rest shared",
            "num_workers counts for each rank, and for each loader: those of an evaluation with persistent_workers stay",
            "Still waiting for data then? Decoding itself is too dear: prepare the data once, or decode on the GPU",
            "More cores for the job: --cpus-per-task, the container's CPU limit, taskset",
        ),
        ranks=tuple(rank.rank for rank in ranks),
        log_line=told.log_line if told is not None else None,
    )


RULES = (
    Rule(
        symptom="dataloader-oversubscribed",
        category="performance",
        threshold=lambda limits: (
            f"loader workers in state R over {limits.per_core:g} x cores and {limits.excess:g} above them (median of "
            f"{limits.window_s:g} s), and PSI cpu over {limits.pressure_pct:g} %"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_oversubscribed,
        limits=CORES,
    ),
)

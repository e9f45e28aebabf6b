"""dataloader-oversubscribed: more loader workers than the job has cores, and they stand in line for them."""

from __future__ import annotations

from hwtop.model.frame import DerivedState
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.cpu import most_runnable
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.input.loading import is_loading
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN, counted, quoted

WORKERS = limits_of("dataloader-oversubscribed")


def waiting_workers(derived: DerivedState) -> float | None:
    """Loader workers of all ranks that are in state R: on a core, or in line for one."""
    job = derived.job
    return None if job is None else float(sum(worker.state == "R" for rank in job.ranks for worker in rank.workers))


def check_oversubscribed(history: History, limits: Limits = WORKERS) -> Observation | None:
    """Far more workers want to run than there are cores. Many that sleep are no fault, whatever torch warns of at the start."""
    cores, ready = capacity.cores(history.now), history.median(limits.window_s, waiting_workers)
    if ready is None or ready < most_runnable(limits, cores):
        return None
    ranks = [rank for rank in history.live_ranks if rank.workers and is_loading(history, rank)]
    count = sum(len(rank.workers) for rank in ranks)
    if count <= cores:
        return None
    pressure = history.mean(limits.window_s, some_pct("cpu"))
    if pressure is not None and pressure < limits.pressure_pct:
        return None
    busy = [worker.cpu_pct for rank in ranks for worker in rank.workers if worker.cpu_pct is not None]
    each = max(1, int((cores - len(ranks)) // len(ranks)))
    reported = check_pattern("dataloader-oversubscribed", history)
    return observed(
        "dataloader-oversubscribed",
        confidence=0.9 if pressure is not None else 0.7,
        facts={
            "count": count,
            "of": counted(len(ranks), "rank"),
            "ranks": len(ranks),
            "cores": cores,
            "ready": ready,
            "each": each,
        },
        evidence=(
            f"{ready:.0f} of {count} workers in state R (median over {limits.window_s:g} s)",
            *((f"each gets {sum(busy) / len(busy):.0f} % of a core on average",) if busy else ()),
            *(
                (f"CPU pressure: some task waited for a core {pressure:.0f} % of the time",)
                if pressure is not None
                else ()
            ),
            *(f"rank {rank.rank} (PID {rank.pid}): {len(rank.workers)} workers" for rank in ranks[:SHOWN]),
            *((f"torch warned: {quoted(reported.log_line)}",) if reported is not None and reported.log_line else ()),
        ),
        ranks=tuple(rank.rank for rank in ranks),
        log_line=reported.log_line if reported is not None else None,
    )

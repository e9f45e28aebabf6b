"""gpu-idle-cpu-busy: the headline. The GPU waits while a process computes."""

from __future__ import annotations

from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.job.rank_set import named, rank_set
from hwtop.model.frame import Moment
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import DATA_SHARE, WINDOW_S, at, hot_spot, state_share
from hwtop.symptoms.rule import Observation, Rule

GPU_IDLE_PCT = 30.0
"""Mean utilization over the window. Engineering default."""
CPU_BUSY_PCT = 80.0
"""Of a core, main thread or a worker: such a process does little but compute. Engineering default."""
CPU_WANTED_SHARE = 0.8
"""... or on the run queue in so many of the looks: the same need on a full machine, where nobody gets 80 % of a core."""


def check_gpu_idle(history: History) -> Observation | None:
    """GPU idle, CPU busy: the headline."""
    ranks = [rank for rank in history.live_ranks if rank.gpus and rank.state in ("training", "data-wait", "unknown")]
    seen = [(rank, gpu_util(history, rank, WINDOW_S), _busiest_pct(history, rank)) for rank in ranks]
    hit = [
        (rank, util, busy)
        for rank, util, busy in seen
        if util is not None
        and util < GPU_IDLE_PCT
        and busy is not None
        and (busy > CPU_BUSY_PCT or state_share(history, rank, "R") >= CPU_WANTED_SHARE)
    ]
    if not hit:
        return None
    spot = hot_spot([rank for rank, _, _ in hit])
    util = fmean(util for _, util, _ in hit)
    busy_pct = fmean(busy for _, _, busy in hit)
    gpus = sorted({gpu for rank, _, _ in hit for gpu in rank.gpus})
    data = fmean(share_of(rank, "data", "data-main") for rank, _, _ in hit)
    what = f": `{spot.function}` takes {spot.share:.0%} of the time" if spot else ""
    if spot and data > DATA_SHARE:
        what = f": {data:.0%} of each step waits for `{spot.function}` in the loader"
    pid = hit[0][0].pid
    return Observation(
        severity="warning",
        confidence=0.9 if spot else 0.7,
        title=f"GPU idle, CPU busy{what}",
        evidence=(
            f"GPU {rank_set(gpus)}: {util:.0f} % busy over {WINDOW_S:.0f} s",
            f"{named(rank.rank for rank, _, _ in hit)}: busiest process at {busy_pct:.0f} % of a core"
            + ("" if busy_pct > CPU_BUSY_PCT else ", always on the run queue: the machine is full"),
            *(
                (f"hottest line {spot.function} ({at(spot)}): {spot.share:.0%} of {spot.samples} samples",)
                if spot
                else ()
            ),
        ),
        next_steps=(
            f"hwtop stacks {pid}   # where the CPU time goes",
            "If it is the data pipeline: more loader workers, or move the work to the GPU",
            "If it is Python in forward or backward: larger batches, torch.compile, CUDA graphs",
        ),
        ranks=tuple(rank.rank for rank, _, _ in hit),
    )


def _busiest_pct(history: History, rank: Rank) -> float | None:
    def busiest(seen: Rank) -> float | None:
        known = [seen.main_thread_cpu_pct, *(worker.cpu_pct for worker in seen.workers)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(WINDOW_S, rank.rank, busiest)


def gpu_util(history: History, rank: Rank, window_s: float) -> float | None:
    """Mean utilization of the rank's GPUs over the window."""

    def util(moment: Moment) -> float | None:
        known = [gpu.util_pct for gpu in moment.gpus if gpu.index in rank.gpus and gpu.util_pct is not None]
        return fmean(known) if known else None

    return history.mean(window_s, util)


RULES = (
    Rule(
        symptom="gpu-idle-cpu-busy",
        category="performance",
        threshold=f"GPU under {GPU_IDLE_PCT:.0f} % over {WINDOW_S:.0f} s, a thread or worker over {CPU_BUSY_PCT:.0f} % of a core",
        raise_s=2.0,
        clear_s=15.0,
        check=check_gpu_idle,
    ),
)

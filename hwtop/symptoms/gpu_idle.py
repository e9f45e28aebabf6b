"""gpu-idle-cpu-busy: the headline. The GPU waits while a process computes."""

from __future__ import annotations

from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.job.rank_set import named, rank_set
from hwtop.model.rank import Rank, RankState
from hwtop.symptoms.gpu_load import gpu_util, load, sm_active_pct
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import DATA_SHARE, WINDOW_S, at, hot_spot, state_share
from hwtop.symptoms.rule import Limits, Observation, Percent, Rule, Window
from hwtop.symptoms.statistics import share_at_least

GPU_IDLE_PCT = 30.0
"""Mean utilization over the window. Engineering default."""
CPU_WANTED_SHARE = 0.8
"""... or on the run queue in so many of the looks: the same need on a full machine, where nobody gets 80 % of a core."""
SPIN_SHARE = 0.5
"""A main thread that surely spends so much of its time in waits for the device or for other ranks does not compute, it spins:
where there are fewer CUDA contexts than cores a wait for the device takes a whole one (CUDA Runtime API,
cudaDeviceScheduleAuto). Engineering default."""
_COUNTED: frozenset[RankState] = frozenset({"training", "data-wait", "slow", "unknown"})


class IdleLimits(Limits, frozen=True, kw_only=True):
    """Of gpu-idle-cpu-busy."""

    gpu_pct: Percent = GPU_IDLE_PCT
    cpu_pct: Percent = 80.0
    """Of a core, main thread or a worker: such a process does little but compute. Engineering default."""
    window_s: Window = WINDOW_S


IDLE = IdleLimits()


def check_gpu_idle(history: History, limits: IdleLimits = IDLE) -> Observation | None:
    """GPU idle, CPU busy: the headline."""
    ranks = [rank for rank in history.live_ranks if rank.gpus and rank.state in _COUNTED]
    seen = [
        (rank, gpu_util(history, rank, limits.window_s), _busiest_pct(history, rank, limits.window_s)) for rank in ranks
    ]
    hit = [
        (rank, util, busy)
        for rank, util, busy in seen
        if util is not None
        and util < limits.gpu_pct
        and busy is not None
        and (busy > limits.cpu_pct or _wants_cpu(history, rank))
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
            f"GPU {rank_set(gpus)}: {util:.0f} % busy over {limits.window_s:g} s"
            + _sm_active(history, hit[0][0], limits.window_s),
            f"{named(rank.rank for rank, _, _ in hit)}: busiest process at {busy_pct:.0f} % of a core"
            + ("" if busy_pct > limits.cpu_pct else ", always on the run queue: the machine is full"),
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


def _busiest_pct(history: History, rank: Rank, window_s: float) -> float | None:
    main_spins = spins(rank)

    def busiest(seen: Rank) -> float | None:
        main = None if main_spins else seen.main_thread_cpu_pct
        known = [main, *(worker.cpu_pct for worker in seen.workers)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(window_s, rank.rank, busiest)


def _wants_cpu(history: History, rank: Rank) -> bool:
    is_counted = bool(rank.workers) or not spins(rank)
    return is_counted and state_share(history, rank, "R") >= CPU_WANTED_SHARE


def spins(rank: Rank) -> bool:
    """Its main thread mostly waits, however much of a core that takes."""
    return share_at_least(share_of(rank, "sync", "collective"), rank.samples) >= SPIN_SHARE


def _sm_active(history: History, rank: Rank, window_s: float) -> str:
    sm_pct = load(history, rank, window_s, sm_active_pct)
    return "" if sm_pct is None else f", its SMs {sm_pct:.0f} %"


RULES = (
    Rule(
        symptom="gpu-idle-cpu-busy",
        category="performance",
        threshold=lambda limits: (
            f"GPU under {limits.gpu_pct:g} % over {limits.window_s:g} s, a thread or worker over {limits.cpu_pct:g} % of a core"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_gpu_idle,
        limits=IDLE,
    ),
)

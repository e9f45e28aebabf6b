"""gpu-idle-cpu-busy: the headline. The GPU waits while a process computes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.job.rank_set import named, rank_set
from hwtop.model.evidence import MOSTLY
from hwtop.model.rank import Rank, RankState
from hwtop.symptoms.gpu.load import gpu_util, load, sm_active_pct
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import DATA, at, hot_spot, loading_share
from hwtop.symptoms.input.waits import state_share
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import share_at_least
from hwtop.symptoms.text import percent

CPU_WANTED_SHARE = 0.8
"""Of the samples on the run queue: as much need for a core as 80 % of one, on a full machine, where no process gets that.
Engineering default."""
_COUNTED: frozenset[RankState] = frozenset({"training", "data-wait", "slow", "unknown"})


IDLE = limits_of("gpu-idle-cpu-busy")


def check_gpu_idle(history: History, limits: Limits = IDLE) -> Observation | None:
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
    data = fmean(loading_share(rank) for rank, _, _ in hit)
    return observed(
        "gpu-idle-cpu-busy",
        confidence=0.9 if spot else 0.7,
        facts={
            "function": spot.function if spot else None,
            "share": spot.share if spot else None,
            "data": data if data > DATA.data_share else None,
            "pid": hit[0][0].pid,
        },
        evidence=(
            f"GPU {rank_set(gpus)}: {util:.0f} % busy over {limits.window_s:g} s"
            + _sm_active(history, hit[0][0], limits.window_s),
            f"{named(rank.rank for rank, _, _ in hit)}: busiest process at {busy_pct:.0f} % of a core"
            + (
                ""
                if busy_pct > limits.cpu_pct
                else f", running or in line for a core in {percent(_wanted(history, hit))} of the samples"
            ),
            *((f"{percent(data)} of their stack samples in data loading",) if data > DATA.data_share else ()),
            *(
                (f"hottest line {spot.function} ({at(spot)}): {percent(spot.share)} of {spot.samples} samples",)
                if spot
                else ()
            ),
        ),
        ranks=tuple(rank.rank for rank, _, _ in hit),
    )


def _wanted(history: History, hit: Sequence[tuple[Rank, float, float]]) -> float:
    return max(state_share(history, rank, "R") for rank, _, _ in hit)


def _busiest_pct(history: History, rank: Rank, window_s: float) -> float | None:
    main_spins = spins(rank)

    def busiest(seen: Rank) -> float | None:
        main = None if main_spins else seen.process.main_thread_cpu_pct
        known = [main, *(worker.cpu_pct for worker in seen.workers)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(window_s, rank.rank, busiest)


def _wants_cpu(history: History, rank: Rank) -> bool:
    is_counted = bool(rank.workers) or not spins(rank)
    return is_counted and state_share(history, rank, "R") >= CPU_WANTED_SHARE


def spins(rank: Rank) -> bool:
    """Its main thread mostly waits, however much of a core that takes."""
    return share_at_least(share_of(rank, "sync", "collective"), rank.stack.samples) >= MOSTLY


def _sm_active(history: History, rank: Rank, window_s: float) -> str:
    sm_pct = load(history, rank, window_s, sm_active_pct)
    return "" if sm_pct is None else f", its SMs {sm_pct:.0f} %"

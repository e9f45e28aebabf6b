"""numa-misplaced: a rank runs far from its GPU, on another socket or NUMA node."""

from __future__ import annotations

from statistics import fmean

from hwtop.job.cpu_list import cpus_of
from hwtop.job.rank_set import named, rank_set
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.load import at_work, home, load
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import percent

FAR = limits_of("numa-misplaced")


def check_numa(history: History, limits: Limits = FAR) -> Observation | None:
    """Ranks that feed a GPU across the link between sockets or nodes."""
    hit = [
        (rank, gpu, share, rate)
        for rank in history.live_ranks
        if (rate := load(history, rank, limits.window_s, lambda gpu: gpu.pcie_rx_bytes_per_s)) is not None
        and rate > 1e9 * limits.to_gpu_gb_per_s
        and (gpu := _home(history, rank)) is not None
        and (share := _far_share(history, rank, gpu, limits.window_s)) > limits.far_share
    ]
    if not hit:
        return None
    numbers = [rank.rank for rank, _, _, _ in hit]
    first, gpu, _, _ = hit[0]
    rate = fmean(rate for _, _, _, rate in hit)
    node = "NODE" if gpu.numa_node is None else gpu.numa_node
    return observed(
        "numa-misplaced",
        severity="warning" if rate > 1e9 * limits.warning_gb_per_s else "info",
        facts={
            "ranks": named(numbers).capitalize(),
            "gpus": rank_set(gpu.index for _, gpu, _, _ in hit),
            "gb_per_s": rate / 1e9,
            "node": node,
            "gpu": gpu.index,
            "cpus": gpu.cpus,
            "pid": first.pid,
            "rank": first.rank,
        },
        confidence=0.7,
        evidence=tuple(
            f"rank {rank.rank} (PID {rank.pid}): {percent(share)} of the samples on CPUs far from GPU {gpu.index}"
            + (f" (NUMA node {gpu.numa_node})" if gpu.numa_node is not None else "")
            + f", near are {gpu.cpus}; {rate / 1e9:.1f} GB/s to the GPU"
            for rank, gpu, share, rate in hit[:8]
        ),
        ranks=tuple(numbers),
    )


def _home(history: History, rank: Rank) -> Gpu | None:
    """Its GPU, where it works on one only."""
    indexes = home(history.now, rank)
    return next((gpu for gpu in history.now.gpus if gpu.index in indexes), None) if len(indexes) == 1 else None


def _far_share(history: History, rank: Rank, gpu: Gpu, window_s: float) -> float:
    """0 where it is not known, or a look in two is missing."""
    near = cpus_of(gpu.cpus) if gpu.cpus else frozenset[int]()
    looks = [
        seen.process.cpu not in near
        for derived in at_work(history, rank, window_s)
        for seen in (derived.job.ranks if derived.job else ())
        if seen.rank == rank.rank and seen.process.cpu is not None
    ]
    return sum(looks) / len(looks) if near and len(looks) >= len(history.over(window_s)) / 2 else 0.0

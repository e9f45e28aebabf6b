"""numa-misplaced: a rank runs far from its GPU, on another socket or NUMA node."""

from __future__ import annotations

from statistics import fmean

from hwtop.job.cpu_list import cpus_of
from hwtop.job.rank_set import named, rank_set
from hwtop.model.gpu import Gpu
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu_load import at_work, home, load
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, Positive, Rule, Share, Window


class FarLimits(Limits, frozen=True, kw_only=True):
    """Of numa-misplaced."""

    far_share: Share = 0.8
    """Of the looks at the CPU that the main thread ran on last. Engineering default."""
    to_gpu_gb_per_s: Positive = 1
    """Less than this to the GPU goes over the link between the sockets without being felt. Engineering default."""
    warning_gb_per_s: Positive = 10
    """From here on the link between the sockets may be the limit (a x16 port of PCIe 4 carries some 25 GB/s): a warning."""
    window_s: Window = 60.0


FAR = FarLimits()


def check_numa(history: History, limits: FarLimits = FAR) -> Observation | None:
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
    return Observation(
        severity="warning" if rate > 1e9 * limits.warning_gb_per_s else "info",
        confidence=0.7,
        title=f"{named(numbers).capitalize()} {'runs' if len(numbers) == 1 else 'run'} on CPUs far from "
        f"GPU {rank_set(gpu.index for _, gpu, _, _ in hit)}: {rate / 1e9:.1f} GB/s cross the link between them",
        evidence=tuple(
            f"rank {rank.rank} (PID {rank.pid}): {share:.0%} of the looks on CPUs far from GPU {gpu.index}"
            + (f" (NUMA node {gpu.numa_node})" if gpu.numa_node is not None else "")
            + f", near are {gpu.cpus}; {rate / 1e9:.1f} GB/s to the GPU"
            for rank, gpu, share, rate in hit[:8]
        ),
        next_steps=(
            "torchrun --numa-binding=node ...   # torch 2.9 and later: each rank beside its GPU",
            f"numactl --cpunodebind={_node(gpu)} --membind={_node(gpu)} python ...   # by hand, for the rank of GPU {gpu.index}",
            f"taskset -acp {gpu.cpus} {first.pid}   # moves rank {first.rank} now; its memory stays where it is",
        ),
        ranks=tuple(numbers),
    )


def _node(gpu: Gpu) -> str:
    return "NODE" if gpu.numa_node is None else str(gpu.numa_node)


def _home(history: History, rank: Rank) -> Gpu | None:
    """Its GPU, where it works on one only."""
    indexes = home(history.now, rank)
    return next((gpu for gpu in history.now.gpus if gpu.index in indexes), None) if len(indexes) == 1 else None


def _far_share(history: History, rank: Rank, gpu: Gpu, window_s: float) -> float:
    """0 where it is not known, or a look in two is missing."""
    near = cpus_of(gpu.cpus) if gpu.cpus else frozenset[int]()
    looks = [
        seen.cpu not in near
        for moment in at_work(history, rank, window_s)
        for seen in (moment.job.ranks if moment.job else ())
        if seen.rank == rank.rank and seen.cpu is not None
    ]
    return sum(looks) / len(looks) if near and len(looks) >= len(history.over(window_s)) / 2 else 0.0


RULES = (
    Rule(
        symptom="numa-misplaced",
        category="performance",
        threshold=lambda limits: (
            f"main thread on CPUs far from its GPU in over {100 * limits.far_share:.3g}% of the looks of {limits.window_s:g} s of work, and over "
            f"{limits.to_gpu_gb_per_s:g} GB/s to the GPU; a warning over {limits.warning_gb_per_s:g} GB/s"
        ),
        raise_s=5.0,
        clear_s=30.0,
        check=check_numa,
        limits=FAR,
    ),
)

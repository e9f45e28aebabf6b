"""gpu-memory-near-full, gpu-memory-leak: the memory of the job's devices is full, or will be."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from hwtop.job.size import GIB
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.seconds import span
from hwtop.symptoms.gpu.load import at_work, rank_bytes
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.host.memory import LEAK_S
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians
from hwtop.symptoms.text import SHOWN, quoted, roughly

FLUSH_S = 60.0
"""Window in which memory that is given back and taken again is counted. Engineering default."""
RETRY_S = 120.0
"""How long a line about retries of cudaMalloc counts. Engineering default."""
RETRIES = "gpu-memory-near-full"

FAST_LEAK_S = 180.0
"""Shortest window of a leak that fills the memory within `SOON_S`. Engineering default."""
SOON_S = 900.0
"""A leak that fills the memory within so long is reported early. Engineering default."""
BLOCKS = 6
"""Equal parts of the window, each of which must rise. Engineering default."""
_LOOKS = 120
"""So many readings are enough for the medians of the window. Engineering default."""
EVEN = 0.7
FAST_EVEN = 0.8
"""In each sixth of the window it must rise at least at this part of the mean rate: an allocator that fills up slows down,
an evaluation or a longer batch gains once. Engineering default."""


FULL = limits_of("gpu-memory-near-full")


LEAK = limits_of("gpu-memory-leak")


def check_near_full(history: History, limits: Limits = FULL) -> Observation | None:
    """The job's GPUs are full; a warning only where the allocator visibly fights for room."""
    full = [
        (rank, gpu)
        for rank in history.live_ranks
        for gpu in history.now.gpus
        if gpu.index in rank.gpus and _is_full(history, gpu.index, limits)
    ]
    if not full:
        return None
    retried = _retries(history)
    flushes = {gpu.index: count for _, gpu in full if (count := _flushes(history, gpu.index, limits)) >= limits.flushes}
    gpus = sorted({gpu.index for _, gpu in full})
    shares = [share for _, gpu in full if (share := full_share(gpu)) is not None]
    is_tight = bool(retried or flushes)
    return observed(
        "gpu-memory-near-full",
        severity="warning" if is_tight else "info",
        facts={"gpus": named_gpus(gpus), "used": max(shares), "is_tight": is_tight},
        confidence=0.9 if retried else 0.6 if flushes else 0.8,
        evidence=(
            *(memory(gpu) for gpu in {gpu.index: gpu for _, gpu in full}.values()),
            *(
                f"GPU {index}: over {100 * limits.flush_share:.3g}% given back and taken again {count} times in {FLUSH_S:.0f} s"
                for index, count in flushes.items()
            ),
            *retried,
        ),
        ranks=tuple(sorted({rank.rank for rank, _ in full})),
    )


def full_share(gpu: Gpu) -> float | None:
    """Memory in use, of what is left to programs."""
    if gpu.status != "ok" or gpu.mem_used_bytes is None or not gpu.mem_total_bytes:
        return None
    return gpu.mem_used_bytes / max(1, gpu.mem_total_bytes - (gpu.mem_reserved_bytes or 0))


def _is_full(history: History, index: int, limits: Limits) -> bool:
    """Now, and nearly all the time: a flush is short."""
    shares = history.values(limits.window_s, lambda derived: _share_at(derived, index))
    full = [share for share in shares if share > limits.used_share]
    return len(shares) >= 3 and history.covers(limits.window_s) and len(full) >= 0.7 * len(shares)


def _share_at(derived: DerivedState, index: int) -> float | None:
    gpu = next((each for each in derived.gpus if each.index == index), None)
    return None if gpu is None else full_share(gpu)


def _flushes(history: History, index: int, limits: Limits) -> int:
    """How often it fell from full, and came back."""
    shares = history.values(FLUSH_S, lambda derived: _share_at(derived, index))
    falls = [before > limits.used_share and before - after >= limits.flush_share for before, after in pairwise(shares)]
    return sum(falls)


def _retries(history: History) -> tuple[str, ...]:
    """What the log told of late."""
    job = history.job
    lines = [
        quoted(event.text)
        for event in (job.logs.events if job else ())
        if event.pattern == RETRIES and not event.is_past and history.now.at_s - event.at_s <= RETRY_S
    ]
    return tuple(dict.fromkeys(lines))[-2:]


def memory(gpu: Gpu) -> str:
    """ "GPU 0: 79.1 of 80.0 GiB"."""
    reserved = f", {gpu.mem_reserved_bytes / GIB:.1f} reserved by the driver" if gpu.mem_reserved_bytes else ""
    return f"GPU {gpu.index}: {(gpu.mem_used_bytes or 0) / GIB:.1f} of {(gpu.mem_total_bytes or 0) / GIB:.1f} GiB{reserved}"


class Leak(Struct, frozen=True, kw_only=True):
    """A steady rise of the memory that one rank holds on one GPU."""

    rank: Rank
    gpu: Gpu
    bytes_per_s: float
    gained_bytes: float
    seconds: float
    full_in_s: float | None


def check_leak(history: History, limits: Limits = LEAK) -> Observation | None:
    """Device memory of a rank only ever grows."""
    leaks = [
        leak
        for rank in history.live_ranks
        for gpu in history.now.gpus
        if gpu.index in rank.gpus and (leak := leak_of(history, rank, gpu, limits)) is not None
    ]
    if not leaks:
        return None
    worst = min(leaks, key=lambda leak: leak.full_in_s if leak.full_in_s is not None else float("inf"))
    left_s = worst.full_in_s
    return observed(
        "gpu-memory-leak",
        severity="warning" if left_s is not None and left_s < 3600 * limits.warning_h else "info",
        facts={
            "rank": worst.rank.rank,
            "mib_per_min": worst.bytes_per_s * 60 / 2**20,
            "left": roughly(left_s) if left_s is not None else None,
        },
        confidence=0.8 if worst.seconds >= 0.9 * LEAK_S else 0.65,
        evidence=tuple(
            f"rank {leak.rank.rank} (PID {leak.rank.pid}) on GPU {leak.gpu.index}: +{leak.gained_bytes / 2**20:.0f} MiB in "
            f"{span(leak.seconds)}, in each sixth of that time" + f"; {memory(leak.gpu)}"
            for leak in leaks[:SHOWN]
        ),
        ranks=tuple(sorted({leak.rank.rank for leak in leaks})),
    )


def leak_of(history: History, rank: Rank, gpu: Gpu, limits: Limits = LEAK) -> Leak | None:
    """The rise on this GPU over the longest window in which the rank trained without a break."""
    if not _has_grown(history, gpu.index):
        return None
    points = _held(history, rank, gpu.index)
    seconds = points[-1][0] - points[0][0] if len(points) >= 2 * BLOCKS else 0.0
    if seconds < FAST_LEAK_S - 2 * history.now.interval_s:
        return None
    times, sizes = (block_medians([point[part] for point in points], BLOCKS) for part in (0, 1))
    rates = [(sizes[i + 1] - sizes[i]) / (times[i + 1] - times[i]) for i in range(BLOCKS - 1)]
    rate = (sizes[-1] - sizes[0]) / (times[-1] - times[0])
    is_long = seconds >= 0.9 * LEAK_S
    if min(rates) < (EVEN if is_long else FAST_EVEN) * rate or 60 * rate < limits.share_per_min * sizes[0]:
        return None
    room = _room_bytes(gpu)
    full_in_s = room / rate if room is not None else None
    if not is_long and (full_in_s is None or full_in_s > SOON_S):
        return None
    return Leak(
        rank=rank,
        gpu=gpu,
        bytes_per_s=rate,
        gained_bytes=points[-1][1] - points[0][1],
        seconds=seconds,
        full_in_s=full_in_s,
    )


def _has_grown(history: History, index: int) -> bool:
    """A look at three moments, before hundreds are looked at."""
    derived_states = history.over(LEAK_S)
    looks = [_used_at(derived_states[place], index) for place in (0, len(derived_states) // 2, -1)]
    known = [used for used in looks if used is not None]
    return len(known) < len(looks) or known[0] < known[1] < known[2]


def _used_at(derived: DerivedState, index: int) -> int | None:
    return next((gpu.mem_used_bytes for gpu in derived.gpus if gpu.index == index), None)


def _held(history: History, rank: Rank, index: int) -> list[tuple[float, float]]:
    """(time, bytes) that the rank held on this GPU while it trained, since it last began to."""
    points: list[tuple[float, float]] = []
    for derived in at_work(history, rank, LEAK_S, _LOOKS):
        gpu = next((each for each in derived.gpus if each.index == index and each.status == "ok"), None)
        size = None if gpu is None else rank_bytes(gpu, rank)
        if size is None and gpu is not None and not any(entry.mem_bytes for entry in gpu.processes or ()):
            size = gpu.mem_used_bytes  # the driver does not tell it by process
        if size is not None:
            points.append((derived.at_s, float(size)))
    return points


def _room_bytes(gpu: Gpu) -> int | None:
    if gpu.mem_used_bytes is None or gpu.mem_total_bytes is None:
        return None
    return max(0, gpu.mem_total_bytes - (gpu.mem_reserved_bytes or 0) - gpu.mem_used_bytes)

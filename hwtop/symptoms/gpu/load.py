"""The load of a rank's GPUs while it works: what the rules about their use ask.

Moments in which the rank starts, compiles, saves, evaluates or is stopped do not count: then a GPU may well be idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from statistics import fmean

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.model.rank import Rank, RankState
from hwtop.symptoms.history import History

AWAY: frozenset[RankState] = frozenset({"starting", "checkpoint", "eval", "stopped", "dead"})
"""States in which nobody expects work on the GPU."""
NEIGHBOUR_SM_PCT = 5.0
"""Another process that has a kernel on the GPU for so much of the time takes it from the job. Engineering default."""
_OWN_MEMORY = 0.25
"""A context that holds less than this part of a process's largest one is a stray: the process works elsewhere. Engineering
default."""

Value = Callable[[Gpu], float | None]


def gpus_at(derived: DerivedState, rank: Rank) -> list[Gpu]:
    """The rank's GPUs that answered."""
    return [gpu for gpu in derived.gpus if gpu.index in rank.gpus and gpu.status == "ok"]


def at_work(history: History, rank: Rank, window_s: float, at_most: int = 10_000) -> Iterator[DerivedState]:
    """The moments of the window in which this process worked; of more than `at_most` an even choice is looked at."""
    stride = -(-len(history.over(window_s)) // at_most)
    for derived, seen in islice(history.of_rank(window_s, rank.rank), None, None, stride):
        if seen.pid == rank.pid and seen.state not in AWAY:
            yield derived


def values(history: History, rank: Rank, window_s: float, value: Value) -> list[float]:
    """Of each moment at work the mean over the rank's GPUs, where known."""
    found = []
    for gpus in history.once(_gpus_at_work, rank.rank, rank.pid, window_s):
        known = [number for gpu in gpus if (number := value(gpu)) is not None]
        if known:
            found.append(known[0] if len(known) == 1 else fmean(known))
    return found


def _gpus_at_work(history: History, number: int, pid: int, window_s: float) -> list[list[Gpu]]:
    """The same for every quantity: those of each moment at work."""
    rank = (
        next((each for each in history.job.ranks if (each.rank, each.pid) == (number, pid)), None)
        if history.job
        else None
    )
    return [] if rank is None else [gpus_at(derived, rank) for derived in at_work(history, rank, window_s)]


def load(history: History, rank: Rank, window_s: float, value: Value) -> float | None:
    """Mean over the window; None before it is covered, or where less than half of it was work with known numbers."""
    known = values(history, rank, window_s, value)
    is_enough = len(known) >= max(3.0, len(history.over(window_s)) / 2)
    return fmean(known) if is_enough and history.covers(window_s) else None


def gpu_util(history: History, rank: Rank, window_s: float) -> float | None:
    """Mean utilization of the rank's GPUs over the window."""
    return load(history, rank, window_s, busy_pct)


def busy_pct(gpu: Gpu) -> float | None:
    """Share of the time with a kernel on the GPU; where that is not told, with warps on its SMs."""
    return gpu.util_pct if gpu.util_pct is not None else sm_active_pct(gpu)


def sm_active_pct(gpu: Gpu) -> float | None:
    """Share of SM cycles with work."""
    return gpu.activity.sm_active_pct if gpu.activity is not None else None


def own_pids(derived: DerivedState) -> frozenset[int]:
    """All processes of the job."""
    job = derived.job
    if job is None:
        return frozenset()
    return frozenset([*(process.pid for process in job.processes), *(rank.pid for rank in job.ranks)])


def neighbours(derived: DerivedState, gpu: Gpu) -> tuple[GpuProcess, ...]:
    """Computing processes on this GPU that are not the job's.

    None are told where the driver lists no process of the job on any GPU: then its PIDs are of another namespace.
    """
    own = own_pids(derived)
    if not any(entry.pid in own for each in derived.gpus for entry in each.processes or ()):
        return ()
    return tuple(entry for entry in gpu.processes or () if entry.pid not in own and entry.kind == "compute")


def home(derived: DerivedState, rank: Rank) -> tuple[int, ...]:
    """The GPUs that the rank works on: those where it only has a small context are left out."""
    held = {gpu.index: rank_bytes(gpu, rank) for gpu in derived.gpus if gpu.index in rank.gpus}
    largest = max((size for size in held.values() if size is not None), default=0)
    return tuple(index for index, size in held.items() if size is None or size >= _OWN_MEMORY * largest)


def rank_bytes(gpu: Gpu, rank: Rank) -> int | None:
    """Device memory that the rank's process holds on this GPU; None where the driver does not tell."""
    known = [entry.mem_bytes for entry in gpu.processes or () if entry.pid == rank.pid and entry.mem_bytes is not None]
    return sum(known) if known else None

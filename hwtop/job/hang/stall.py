"""Does the whole job stand still? Pure: the one question before anybody may be blamed for a hang."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.job.hang.prompt import prompt_of
from hwtop.job.hang.rank_state import LOG_INTERVALS, STARTING, STUCK_S, is_idle_loop, is_still, is_stuck
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Phase, Rank

UNKNOWN_INTERVAL_S = 12.0
"""Silence that is asked of a job whose logging interval nobody knows. Engineering default: so that, raised, it is told within 15 s."""
BUSY_GPU_QUIET_S = 60.0
"""While a GPU of the job is busy a long kernel explains a still stack: then only this much silence counts
(engineering default; production systems wait 300 s (xpu_timer, NVRx) to 600 s (NCCL))."""
SPIN_QUIET_S = 20.0
SPIN_QUIET_INTERVALS = 20.0
"""A rank that computes may have a long step: silence must be far longer than usual. Engineering defaults."""
SPIN_WAIT_STEPS = 3.0
SPIN_WAIT_QUIET_S = 15.0
"""A GPU that is full and does nothing is no long kernel: three usual steps and this much silence prove it. Engineering
defaults."""
SPIN_WAIT_UNKNOWN_S = 30.0
"""The same where nobody knows how long a step takes. Engineering default."""
STARTING_STILL_S = 60.0
"""A rank in the rendezvous waits for the others, but so it does in each healthy start. Engineering default."""
GPU_SPINS_PCT = 98.0
"""A collective or a synchronisation that waits keeps its GPU at (nearly) 100 %: the kernel spins."""
GPU_BUSY_PCT = 10.0
_AMONG_RANKS: frozenset[Phase | None] = frozenset({"collective", "backward"})
"""Who sleeps there waits for what other ranks send."""
_LONG_BY_NATURE: frozenset[Phase | None] = frozenset({None, "checkpoint", "eval", "compile", "startup", "rendezvous"})


class Patience(Struct, frozen=True, kw_only=True):
    """How much silence is asked before a job that looks still is called so."""

    quiet_s: float = STUCK_S
    busy_gpu_s: float = BUSY_GPU_QUIET_S
    """While a GPU of the job works."""
    spin_waiting: frozenset[int] = frozenset()
    """GPUs that have been full for some time and did nothing: their kernel waits."""


PATIENCE = Patience()


def is_standing_still(ranks: Sequence[Rank], gpus: Sequence[Gpu] = (), patience: Patience = PATIENCE) -> bool:
    """Every live rank is stuck (or spins on one line while others wait), and the logs are silent for unusually long."""
    live = [rank for rank in ranks if rank.is_alive]
    spinning = [rank for rank in live if not _is_halted(rank, live)]
    all_spin = len(spinning) == len(live)
    if (
        not any(_trains(rank) for rank in live)
        or not all(_spins(rank) for rank in spinning)
        or (all_spin and not _spin_on_gpus(live, gpus))
    ):
        return False
    intervals = [rank.log.interval_s for rank in live if rank.log.interval_s is not None]
    quiet_s = max(_quiet_s(live, gpus, patience), LOG_INTERVALS * min(intervals) if intervals else UNKNOWN_INTERVAL_S)
    if spinning and not _only_spin_waiting(live, gpus, patience):
        quiet_s = max(quiet_s, SPIN_QUIET_S, SPIN_QUIET_INTERVALS * min(intervals, default=0.0))
    return silent_s(live) >= quiet_s


def _quiet_s(live: Sequence[Rank], gpus: Sequence[Gpu], patience: Patience) -> float:
    if not _busy(live, gpus):
        return patience.quiet_s
    steps = [rank.progress.step_time_s for rank in live if rank.progress.step_time_s is not None]
    if not _only_spin_waiting(live, gpus, patience):
        return patience.busy_gpu_s
    spin_wait_s = SPIN_WAIT_QUIET_S + SPIN_WAIT_STEPS * max(steps) if steps else SPIN_WAIT_UNKNOWN_S
    return min(patience.busy_gpu_s, max(patience.quiet_s, spin_wait_s))


def _busy(live: Sequence[Rank], gpus: Sequence[Gpu]) -> set[int]:
    """The GPUs of these ranks that have something to do."""
    own = {index for rank in live for index in rank.gpus}
    return {gpu.index for gpu in gpus if gpu.index in own and (gpu.util_pct or 0.0) >= GPU_BUSY_PCT}


def _only_spin_waiting(live: Sequence[Rank], gpus: Sequence[Gpu], patience: Patience) -> bool:
    """Whatever is busy only looks so, and there is such a GPU."""
    busy = _busy(live, gpus)
    return bool(busy) and busy <= patience.spin_waiting


def silent_s(ranks: Sequence[Rank]) -> float:
    """Since the newest sign of life: a log line, a step, or (without logs) a change of a stack."""
    ages = [age for rank in ranks for age in (rank.progress.step_age_s, rank.log.age_s) if age is not None]
    return min(ages) if ages else still_s(ranks)


def still_s(ranks: Sequence[Rank]) -> float:
    """How long no stack of these ranks has changed; blocked ones count since they are blocked."""
    seen = [
        max(rank.stall.same_stack_for_s or 0.0, rank.stall.blocked.for_s if rank.stall.blocked else 0.0)
        for rank in ranks
    ]
    return min(seen, default=0.0)


def utils(rank: Rank, gpus: Sequence[Gpu]) -> list[float | None]:
    """Utilisation of the rank's GPUs, in percent."""
    return [gpu.util_pct for gpu in gpus if gpu.index in rank.gpus]


def waits(rank: Rank) -> bool:
    """For other ranks: in a collective, in the rendezvous, or asleep (on a GPU: spinning) in backward or a synchronisation."""
    if rank.stack.phase == "rendezvous" or rank.stack.is_waiting:
        return True
    return bool(rank.gpus) and rank.stack.phase == "sync"


def _trains(rank: Rank) -> bool:
    """It told a step or an epoch, asks for input, or stands in something that only a training does: else it may be a notebook or a
    server that idles."""
    progress = rank.progress.newest
    if progress is not None and (progress.step is not None or progress.epoch is not None):
        return True
    return prompt_of(rank) is not None or (
        rank.stack.phase not in (None, "other", "logging", "startup") and not is_idle_loop(rank)
    )


def _is_halted(rank: Rank, live: Sequence[Rank]) -> bool:
    """Stuck or stopped, or at a prompt while others wait for it, or in the rendezvous for long while a rank past it is stuck."""
    if is_stuck(rank) or (rank.stall.stopped_for_s or 0.0) >= STUCK_S:
        return True
    if is_still(rank) and is_idle_loop(rank):
        return any(other.stack.phase in _AMONG_RANKS and other.stack.is_waiting and is_still(other) for other in live)
    if rank.stack.phase != "rendezvous" or (rank.stack.phase_for_s or 0.0) < STARTING_STILL_S:
        return False
    others = [other for other in live if other.stack.phase not in STARTING]
    return any(is_still(other) and (other.stall.same_stack_for_s or 0.0) >= STARTING_STILL_S for other in others)


def _spins(rank: Rank) -> bool:
    """Computes, and has not left its line for long: an endless loop, or a call that does not return."""
    return (rank.stall.same_stack_for_s or 0.0) >= STUCK_S and rank.stack.phase not in _LONG_BY_NATURE


def _spin_on_gpus(live: Sequence[Rank], gpus: Sequence[Gpu]) -> bool:
    """All wait in a synchronisation whose kernel spins: every GPU of the job is full, or idle (the one that never came)."""
    known = [util for rank in live for util in utils(rank, gpus) if util is not None]
    if not known or not all(rank.stack.phase in ("sync", "backward", "collective") for rank in live):
        return False
    return max(known) >= GPU_SPINS_PCT and all(util >= GPU_SPINS_PCT or util < GPU_BUSY_PCT for util in known)

"""gpu-low-utilization: GPUs that could do more, and what is known of why they do not."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.rank_set import do, named
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.model.gpu.device import GpuProcess
from hwtop.model.rank import Rank, RankState
from hwtop.symptoms.gpu.idle import spins
from hwtop.symptoms.gpu.load import (
    NEIGHBOUR_SM_PCT,
    at_work,
    busy_pct,
    gpu_util,
    gpus_at,
    load,
    neighbours,
    sm_active_pct,
    values,
)
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import share_at_least
from hwtop.symptoms.text import SHOWN, Fact, percent

LEAST_PCT = 5.0
"""Of a rank without stacks: what uses its GPU less may not train at all. Engineering default."""
SWING = (20.0, 80.0)
"""Utilization below the first and above the second alternates in a saw-tooth. Engineering default."""
SWINGS = 0.2
"""Least share of the readings on either side of a saw-tooth. Engineering default."""
BUSY_CORE_PCT = 90.0
"""Of a core: a main thread that computes so much and does not spin keeps the GPU waiting. Engineering default."""
_WORKS: frozenset[RankState] = frozenset({"training", "slow", "data-wait", "collective-wait", "unknown"})

_Why = Literal["neighbour", "wait", "core", "swing", "small", "unknown"]


USE = limits_of("gpu-low-utilization")


class Low(Struct, frozen=True, kw_only=True):
    """One rank whose GPU has little to do."""

    rank: Rank
    util_pct: float
    sm_pct: float | None
    own_pct: float | None
    """Of this the rank's own part, where others use the GPU as well."""
    neighbours: tuple[GpuProcess, ...]
    why: _Why


def check_low(history: History, limits: Limits = USE) -> Observation | None:
    """Ranks that train, and leave their GPUs half of the time without work."""
    ranks = [rank for rank in history.live_ranks if rank.gpus and rank.state in _WORKS]
    found = [low for rank in ranks if (low := _low(history, rank, limits)) is not None]
    if not found:
        return None
    order: tuple[_Why, ...] = ("neighbour", "wait", "core", "swing", "unknown", "small")
    why = min((low.why for low in found), key=order.index)
    hit = [low for low in found if low.why == why]
    numbers = tuple(low.rank.rank for low in hit)
    is_proven = why != "small" and all(
        low.rank.stack.samples >= limits.warning_samples and low.rank.state != "unknown" for low in hit
    )
    return observed(
        "gpu-low-utilization",
        severity="warning" if is_proven or why == "neighbour" else "info",
        facts=_facts(hit, why, limits),
        confidence=0.85 if why == "neighbour" else 0.7 if is_proven else 0.5,
        evidence=tuple(line for low in hit[:SHOWN] for line in _evidence(history, low, limits.window_s)),
        ranks=numbers,
    )


def _low(history: History, rank: Rank, limits: Limits) -> Low | None:
    window_s = limits.window_s
    util = gpu_util(history, rank, window_s)
    if util is None or (rank.state == "unknown" and util < LEAST_PCT):
        return None
    sm = load(history, rank, window_s, sm_active_pct)
    others = _busy_neighbours(history, rank, window_s)
    own = load(history, rank, window_s, lambda gpu: _own_sm(gpu.processes, rank)) if others else None
    if min(util, own if own is not None else util) < limits.gpu_pct:
        why = _why(history, rank, others, window_s)
    elif sm is not None and sm < limits.gpu_pct and rank.state in ("training", "slow") and not _waits(rank):
        why = "small"
    else:
        return None
    return Low(rank=rank, util_pct=util, sm_pct=sm, own_pct=own, neighbours=others, why=why)


def _why(history: History, rank: Rank, others: Sequence[GpuProcess], window_s: float) -> _Why:
    if others:
        return "neighbour"
    if _waits(rank):
        return "wait"
    core = history.rank_mean(window_s, rank.rank, lambda seen: seen.process.main_thread_cpu_pct)
    if core is not None and core >= BUSY_CORE_PCT and not spins(rank):
        return "core"
    readings = values(history, rank, window_s, busy_pct)
    low, high = (
        sum(test) / len(readings) for test in ([r < SWING[0] for r in readings], [r > SWING[1] for r in readings])
    )
    return "swing" if min(low, high) >= SWINGS else "unknown"


def _waits(rank: Rank) -> bool:
    is_reported = share_at_least(rank.stack.wait_share or 0.0, rank.stack.wait_samples) >= EXPLAINS
    return is_reported or rank.state == "collective-wait"


def _busy_neighbours(history: History, rank: Rank, window_s: float) -> tuple[GpuProcess, ...]:
    """Those that are there now and took their part all through the window."""
    here = [entry for gpu in gpus_at(history.now, rank) for entry in neighbours(history.now, gpu)]

    def sm_pct(pid: int) -> float:
        known = [
            entry.sm_pct or 0.0
            for derived in at_work(history, rank, window_s)
            for gpu in gpus_at(derived, rank)
            for entry in gpu.processes or ()
            if entry.pid == pid
        ]
        return fmean(known) if len(known) >= len(history.over(window_s)) / 2 else 0.0

    return tuple(replace(entry, sm_pct=sm) for entry in here if (sm := sm_pct(entry.pid)) > NEIGHBOUR_SM_PCT)


def _own_sm(processes: Sequence[GpuProcess] | None, rank: Rank) -> float | None:
    known = [entry.sm_pct for entry in processes or () if entry.pid == rank.pid and entry.sm_pct is not None]
    return sum(known) if known else None


def _facts(hit: Sequence[Low], why: _Why, limits: Limits) -> dict[str, Fact]:
    numbers = [low.rank.rank for low in hit]
    pids = [str(pid) for pid in dict.fromkeys(entry.pid for low in hit for entry in low.neighbours)]
    return {
        "gpus": named_gpus(index for low in hit for index in low.rank.gpus),
        "util_pct": fmean(low.util_pct for low in hit),
        "window_s": limits.window_s,
        "ranks": named(numbers),
        "waits": f"{named(numbers)} {do(numbers, 'wait')}" if why == "wait" else None,
        "neighbours": ", ".join(pids) if why == "neighbour" else None,
        "neighbour_pids": " ".join(pids) if why == "neighbour" else None,
        "small_sm_pct": fmean(low.sm_pct or 0.0 for low in hit) if why == "small" else None,
        "is_core": why == "core",
        "is_swing": why == "swing",
        "pid": hit[0].rank.pid,
    }


def _evidence(history: History, low: Low, window_s: float) -> tuple[str, ...]:
    rank = low.rank
    gpus = f"{named_gpus(rank.gpus)} (rank {rank.rank})"
    readings = values(history, rank, window_s, busy_pct)
    sm = f", SMs {low.sm_pct:.0f} %" if low.sm_pct is not None else ""
    lines = [f"{gpus}: {low.util_pct:.0f} % busy on average{sm}, from {min(readings):.0f} to {max(readings):.0f} %"]
    power = load(history, rank, window_s, lambda gpu: gpu.power_w)
    limit = load(history, rank, window_s, lambda gpu: gpu.power_limit_w)
    if power is not None and limit:
        lines.append(f"{gpus}: {power:.0f} of {limit:.0f} W")
    lines += [
        f"{gpus}: PID {entry.pid} ({entry.name or 'name unknown'}) had a kernel on it {entry.sm_pct or 0.0:.0f} % of the time"
        + (f", the rank itself {low.own_pct:.0f} %" if low.own_pct is not None else "")
        for entry in low.neighbours
    ]
    core = history.rank_mean(window_s, rank.rank, lambda seen: seen.process.main_thread_cpu_pct)
    if core is not None:
        lines.append(f"rank {rank.rank}: main thread at {core:.0f} % of a core")
    shares = ", ".join(f"{percent(entry.share)} {entry.phase}" for entry in rank.stack.shares[:3])
    lines.append(
        f"rank {rank.rank}: {shares} of {rank.stack.samples} stack samples"
        if shares
        else f"rank {rank.rank}: no stack is known"
    )
    return tuple(lines)

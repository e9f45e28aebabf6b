"""multi-gpu-imbalance: of the GPUs of one job a few are persistently unlike the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import fmean, median

from msgspec import Struct

from hwtop.job.rank_set import named, rank_set
from hwtop.job.size import GIB
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.load import AWAY, Value, at_work, busy_pct, home
from hwtop.symptoms.gpu.utilization import check_low
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import block_medians, spread

THIRDS = 3
"""Equal parts of the window, each of which must show the difference. Engineering default."""
ROBUST_Z = 3.5
"""Distance from the median in robust standard deviations (modified z-score). Source: Iglewicz & Hoaglin 1993."""
FEW = 0.25
"""Of the GPUs: more of them are not outliers but another kind. Of two GPUs one may differ, by twice as much. Engineering
default."""
FIRST_MEMORY_SHARE = 0.30
"""Of the memory; rank 0 often holds more: gathered outputs, an optimizer's state that is not sharded. Engineering default."""
_STAGES = re.compile(r"pipeline[-_](?:model[-_])?parallel[-_]size[= ]+([2-9]|\d\d)|--pp(?:[-_]size)?[= ]+([2-9]|\d\d)")


PEERS = limits_of("multi-gpu-imbalance")


class Outlier(Struct, frozen=True, kw_only=True):
    """One GPU that is unlike the others in one respect."""

    index: int
    rank: Rank
    value: float
    usual: float


class _Respect(Struct, frozen=True):
    """What is compared."""

    name: str
    unit: str
    value: Value
    floor: Callable[[Gpu, Limits], float]
    """What a difference must at least be to be worth a word."""

    def says(self, outlier: Outlier, gpus: int) -> str:
        scale = GIB if self.unit == "GiB" else 1.0
        others = f"the other {gpus - 1}" if gpus > 2 else "the other one"
        return (
            f"GPU {outlier.index} (rank {outlier.rank.rank}): {self.name} {outlier.value / scale:.0f} {self.unit}; "
            f"{others}: {outlier.usual / scale:.0f} {self.unit}"
        )


_UTIL = _Respect("busy", "%", busy_pct, lambda _, limits: limits.util_points)
_POWER = _Respect(
    "power", "W", lambda gpu: gpu.power_w, lambda gpu, limits: limits.power_share * (gpu.power_limit_w or 1e9)
)
_MEMORY = _Respect(
    "memory",
    "GiB",
    lambda gpu: None if gpu.mem_used_bytes is None else float(gpu.mem_used_bytes),
    lambda gpu, limits: limits.memory_share * (gpu.mem_total_bytes or 1e15),
)

_SETTINGS: tuple[tuple[str, str, Value], ...] = (
    ("power limit", "W", lambda gpu: gpu.power_limit_w),
    ("SM clock", "MHz", lambda gpu: gpu.sm_clock_mhz),
    ("temperature", "°C", lambda gpu: gpu.temp_c),
)


def check_imbalance(history: History, limits: Limits = PEERS) -> Observation | None:
    """One or a few GPUs do other work than the rest, minute after minute."""
    ranks = [rank for rank in history.live_ranks if rank.gpus]
    if not history.covers(limits.window_s) or any(rank.state in AWAY or rank.state == "stuck" for rank in ranks):
        return None
    owners = _owners(history.now, ranks)
    if len(owners) < 2 or len({gpu.name for gpu, _ in owners.values()}) > 1:
        return None
    found = {respect.name: _outliers(history, owners, respect, limits) for respect in (_UTIL, _POWER, _MEMORY)}
    at_work_differently = [*found["busy"], *found["power"]]
    strays = _strays(owners)
    memory = [each for each in found["memory"] if not _is_first_alone(each, owners)]
    hit = at_work_differently or memory
    if not hit and not strays:
        return None
    is_info = not at_work_differently or _has_stages(history) or any(rank.state == "unknown" for rank in ranks)
    if is_info and check_low(history) is not None:
        return None  # that tells more
    return _observation(history, owners, found, strays, hit, is_info=is_info)


def _observation(
    history: History,
    owners: dict[int, tuple[Gpu, Rank]],
    found: dict[str, list[Outlier]],
    strays: Sequence[str],
    hit: Sequence[Outlier],
    *,
    is_info: bool,
) -> Observation:
    by_name = {respect.name: respect for respect in (_UTIL, _POWER, _MEMORY)}
    lines = [by_name[name].says(each, len(owners)) for name, outliers in found.items() for each in outliers]
    indexes = sorted({each.index for each in hit}) or sorted(owners)[:1]
    ranks = tuple(sorted({owners[index][1].rank for index in indexes}))
    first = owners[indexes[0]][1]
    outlier = None
    if hit:
        name = next(name for name, outliers in found.items() if hit[0] in outliers)
        outlier = by_name[name].says(hit[0], len(owners))
    stages = (
        ("the command line asks for pipeline stages, which are expected to differ",) if _has_stages(history) else ()
    )
    return observed(
        "multi-gpu-imbalance",
        severity="info" if is_info else "warning",
        facts={
            "outlier": outlier,
            "more": rank_set(indexes[1:]) if len(indexes) > 1 else None,
            "stray": strays[0] if strays else None,
            "pid": first.pid,
            "ranks": named(ranks),
            "numbers": ",".join(map(str, indexes)),
        },
        confidence=0.5 if is_info else 0.7,
        evidence=(*lines, *(_settings(owners, indexes)), *strays, *stages),
        ranks=ranks,
    )


def _owners(derived: DerivedState, ranks: Sequence[Rank]) -> dict[int, tuple[Gpu, Rank]]:
    """GPU number -> the GPU and the one rank that works on it; shared ones are left out."""
    homes = [(index, rank) for rank in ranks for index in home(derived, rank)]
    numbers = [index for index, _ in homes]
    known = {gpu.index: gpu for gpu in derived.gpus if gpu.status == "ok"}
    return {index: (known[index], rank) for index, rank in homes if index in known and numbers.count(index) == 1}


def _outliers(
    history: History, owners: dict[int, tuple[Gpu, Rank]], respect: _Respect, limits: Limits
) -> list[Outlier]:
    """Those far from the median of all, in each third of the window to the same side."""
    thirds = {
        index: _thirds(history, index, rank, respect.value, limits.window_s) for index, (_, rank) in owners.items()
    }
    if any(len(each) < THIRDS for each in thirds.values()):
        return []
    means = {index: fmean(each) for index, each in thirds.items()}
    usual = median(means.values())
    if len(owners) == 2:
        return _of_two(owners, thirds, respect, limits)
    deviation = spread(list(means.values()))
    found = []
    for index, (gpu, rank) in owners.items():
        least = max(ROBUST_Z * deviation, respect.floor(gpu, limits))
        gaps = [thirds[index][part] - median(each[part] for each in thirds.values()) for part in range(THIRDS)]
        is_steady = min(gaps) > least / 2 or max(gaps) < -least / 2
        if abs(means[index] - usual) > least and is_steady:
            found.append(Outlier(index=index, rank=rank, value=means[index], usual=usual))
    return found if len(found) <= max(1.0, FEW * len(owners)) else []


def _of_two(
    owners: dict[int, tuple[Gpu, Rank]], thirds: dict[int, list[float]], respect: _Respect, limits: Limits
) -> list[Outlier]:
    low, high = sorted(thirds, key=lambda index: fmean(thirds[index]))
    gpu, rank = owners[low]
    gaps = [thirds[high][part] - thirds[low][part] for part in range(THIRDS)]
    least = 2 * respect.floor(gpu, limits)
    if fmean(gaps) <= least or min(gaps) <= least / 2:
        return []
    return [Outlier(index=low, rank=rank, value=fmean(thirds[low]), usual=fmean(thirds[high]))]


def _thirds(history: History, index: int, rank: Rank, value: Value, window_s: float) -> list[float]:
    """Medians of the thirds of the window; fewer where too little of it was work."""
    readings = [
        known
        for derived in at_work(history, rank, window_s)
        for gpu in derived.gpus
        if gpu.index == index and gpu.status == "ok" and (known := value(gpu)) is not None
    ]
    return block_medians(readings, THIRDS) if len(readings) >= len(history.over(window_s)) / 2 else []


def _is_first_alone(outlier: Outlier, owners: dict[int, tuple[Gpu, Rank]]) -> bool:
    """Rank 0 with somewhat more memory than the others."""
    total = owners[outlier.index][0].mem_total_bytes or 0
    return outlier.rank.rank == 0 and 0 < outlier.value - outlier.usual <= FIRST_MEMORY_SHARE * total


def _strays(owners: dict[int, tuple[Gpu, Rank]]) -> tuple[str, ...]:
    """Contexts that ranks hold on GPUs where another rank works."""
    by_pid = {rank.pid: rank for _, rank in owners.values()}
    lines = []
    for index, (gpu, owner) in owners.items():
        guests = [entry for entry in gpu.processes or () if entry.pid in by_pid and entry.pid != owner.pid]
        if guests:
            held = sum(entry.mem_bytes or 0 for entry in guests) / GIB
            numbers = [by_pid[entry.pid].rank for entry in guests]
            lines.append(
                f"{named(numbers)} also {'holds' if len(numbers) == 1 else 'hold'} {held:.1f} GiB on GPU {index}"
            )
    return tuple(lines)


def _settings(owners: dict[int, tuple[Gpu, Rank]], indexes: Sequence[int]) -> tuple[str, ...]:
    """What is set or read otherwise on these GPUs than on the rest."""
    rest = [gpu for index, (gpu, _) in owners.items() if index not in indexes]
    lines = []
    for index in indexes:
        gpu = owners[index][0]
        for name, unit, value in _SETTINGS:
            own, others = value(gpu), [known for each in rest if (known := value(each)) is not None]
            if own is not None and others and abs(own - median(others)) > 0.1 * median(others):
                lines.append(f"GPU {index}: {name} {own:.0f} {unit}, the others {median(others):.0f} {unit}")
    return tuple(lines)


def _has_stages(history: History) -> bool:
    job = history.job
    return job is not None and any(_STAGES.search(process.command) for process in job.processes)

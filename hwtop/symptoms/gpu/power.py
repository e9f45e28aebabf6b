"""gpu-power-cap: the power limit holds the clocks of a GPU down."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.model.gpu.device import Gpu
from hwtop.symptoms.gpu.words import (
    clock_words,
    gpu_facts,
    named_gpus,
    not_ours,
    own_severity,
    peers_of,
    ranks_on,
    samples,
    since_words,
)
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import share_at_least
from hwtop.symptoms.text import SHOWN

LOW_LIMIT = 0.99
"""Limit / default: below it the limit was lowered; the driver rounds to whole watts. Engineering default."""
LOW_BESIDE_PEERS = 0.97
"""Limit / median limit of the other GPUs of its kind. Engineering default."""


CAP = limits_of("gpu-power-cap")


def check_power_cap(history: History, limits: Limits = CAP) -> Observation | None:
    """The power limit holds clocks down: usual at full load, unless the limit is lower than it was made or than that of others."""
    capped = [gpu for rows in samples(history, limits.window_s).values() if (gpu := _capped(rows, limits)) is not None]
    low = [gpu for gpu in capped if _is_low(gpu, history)]
    return _low_limit(history, low, limits) if low else _full_load(history, capped) if capped else None


def _low_limit(history: History, low: Sequence[Gpu], limits: Limits) -> Observation:
    indexes = [gpu.index for gpu in low]

    def reading(gpu: Gpu) -> str:
        since = since_words(history, gpu.index, lambda each: _is_capped(each, limits))
        return f"GPU {gpu.index}: {gpu.power_w:.0f} W of {_limit_words(gpu)}{clock_words(gpu)}{since}"

    return observed(
        "gpu-power-cap",
        severity=own_severity(history, indexes, "warning"),
        facts={
            "gpus": named_gpus(indexes),
            "low_limit": _limits(low),
            "usual_w": _usual_limit(low[0], history),
            **gpu_facts(low[0]),
        },
        confidence=0.9,
        evidence=(
            *not_ours(history, indexes),
            *map(reading, low[:SHOWN]),
            *_peer_limits(history, low),
        ),
        ranks=ranks_on(history, indexes),
    )


def _full_load(history: History, capped: Sequence[Gpu]) -> Observation | None:
    indexes = [gpu.index for gpu in capped]
    if not_ours(history, indexes):
        return None
    return observed(
        "gpu-power-cap",
        severity="info",
        facts={"gpus": named_gpus(indexes), "full_limit": _limits(capped)},
        confidence=0.9,
        evidence=tuple(
            f"GPU {gpu.index}: {gpu.power_w:.0f} of {gpu.power_limit_w:.0f} W{clock_words(gpu)}"
            for gpu in capped[:SHOWN]
        ),
        ranks=ranks_on(history, indexes),
    )


def _capped(rows: Sequence[Gpu], limits: Limits) -> Gpu | None:
    """The newest sample of a GPU whose power limit holds it back."""
    known = [gpu for gpu in rows if gpu.throttle is not None and gpu.power_w is not None and gpu.power_limit_w]
    hits = [gpu for gpu in known if _is_capped(gpu, limits)]
    return hits[-1] if known and share_at_least(len(hits) / len(known), len(known)) > limits.capped_share else None


def _is_capped(gpu: Gpu, limits: Limits) -> bool:
    is_at_limit = (gpu.power_w or 0.0) >= limits.at_limit_share * (gpu.power_limit_w or 0.0)
    return "sw_power_cap" in (gpu.throttle or ()) and is_at_limit


def _is_low(gpu: Gpu, history: History) -> bool:
    return gpu.power_limit_w is not None and (
        gpu.power_limit_w < LOW_LIMIT * (gpu.power_limit_default_w or 0.0)
        or gpu.power_limit_w < LOW_BESIDE_PEERS * (_peer_limit(gpu, history) or 0.0)
    )


def _peer_limit(gpu: Gpu, history: History) -> float | None:
    limits = [each.power_limit_w for each in peers_of(gpu, history) if each.power_limit_w is not None]
    return median(limits) if limits else None


def _usual_limit(gpu: Gpu, history: History) -> float:
    return gpu.power_limit_default_w or _peer_limit(gpu, history) or 0.0


def _peer_limits(history: History, low: Sequence[Gpu]) -> tuple[str, ...]:
    indexes = {gpu.index for gpu in low}
    others = [
        each for each in peers_of(low[0], history) if each.index not in indexes and each.power_limit_w is not None
    ]
    return (f"{named_gpus(each.index for each in others)}: limit {_limits(others)}",) if others else ()


def _limits(gpus: Sequence[Gpu]) -> str:
    limits = [gpu.power_limit_w for gpu in gpus if gpu.power_limit_w is not None]
    return f"{min(limits):.0f} W" if min(limits) == max(limits) else f"{min(limits):.0f} to {max(limits):.0f} W"


def _limit_words(gpu: Gpu) -> str:
    default = f", default {gpu.power_limit_default_w:.0f} W" if gpu.power_limit_default_w is not None else ""
    return f"{gpu.power_limit_w:.0f} W allowed{default}"

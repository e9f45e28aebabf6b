"""gpu-power-cap: the power limit holds the clocks of a GPU down."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.model.gpu import Gpu
from hwtop.symptoms.gpu_words import (
    clock_words,
    named_gpus,
    not_ours,
    own_severity,
    peers_of,
    ranks_on,
    samples,
    steps_for,
    with_log,
)
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, Rule, Share, Window
from hwtop.symptoms.statistics import share_at_least

LOW_LIMIT = 0.99
"""Limit / default: below it somebody lowered it; the driver rounds to whole watts."""
LOW_BESIDE_PEERS = 0.97
"""Limit / median limit of the other GPUs of its kind."""
_SHOWN = 4


class CapLimits(Limits, frozen=True, kw_only=True):
    """Of gpu-power-cap."""

    capped_share: Share = 0.5
    """Of the samples, proven."""
    at_limit_share: Share = 0.97
    """Power draw / limit from which the cap, and not the driver's caution, holds clocks down (engineering default)."""
    window_s: Window = 60.0


CAP = CapLimits()


def check_power_cap(history: History, limits: CapLimits = CAP) -> Observation | None:
    """The power limit holds clocks down: usual at full load, unless the limit is lower than it was made or than that of others."""
    capped = [gpu for rows in samples(history, limits.window_s).values() if (gpu := _capped(rows, limits)) is not None]
    low = [gpu for gpu in capped if _is_low(gpu, history)]
    seen = _low_limit(history, low) if low else _full_load(history, capped) if capped else None
    return with_log("gpu-power-cap", history, seen)


def _low_limit(history: History, low: Sequence[Gpu]) -> Observation:
    indexes = [gpu.index for gpu in low]
    return Observation(
        severity=own_severity(history, indexes, "warning"),
        confidence=0.9,
        title=f"{named_gpus(indexes)} {'is' if len(low) == 1 else 'are'} held back by a low power limit of {_limits(low)}",
        evidence=(
            *(f"GPU {gpu.index}: {gpu.power_w:.0f} W of {_limit_words(gpu)}{clock_words(gpu)}" for gpu in low[:_SHOWN]),
            *_peer_limits(history, low),
            *not_ours(history, indexes),
        ),
        next_steps=steps_for(
            low[0],
            (
                f"sudo nvidia-smi -i GPU -pl {_usual_limit(low[0], history):.0f}",
                "nvidia-smi -q -d POWER   # limits of all",
                "Ask who lowered it: somebody, or the power management of the site",
            ),
        ),
        ranks=ranks_on(history, indexes),
    )


def _full_load(history: History, capped: Sequence[Gpu]) -> Observation | None:
    indexes = [gpu.index for gpu in capped]
    if not_ours(history, indexes):
        return None
    return Observation(
        severity="info",
        confidence=0.9,
        title=f"{named_gpus(indexes)} {'runs' if len(capped) == 1 else 'run'} at the power limit of {_limits(capped)}: usual at full load",
        evidence=tuple(
            f"GPU {gpu.index}: {gpu.power_w:.0f} of {gpu.power_limit_w:.0f} W{clock_words(gpu)}"
            for gpu in capped[:_SHOWN]
        ),
        next_steps=("Nothing: the limit is the default one, and the same on its peers",),
        ranks=ranks_on(history, indexes),
    )


def _capped(rows: Sequence[Gpu], limits: CapLimits) -> Gpu | None:
    """The newest sample of a GPU whose power limit holds it back."""
    known = [gpu for gpu in rows if gpu.throttle is not None and gpu.power_w is not None and gpu.power_limit_w]
    hits = [gpu for gpu in known if _is_capped(gpu, limits)]
    return hits[-1] if known and share_at_least(len(hits) / len(known), len(known)) > limits.capped_share else None


def _is_capped(gpu: Gpu, limits: CapLimits) -> bool:
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


RULES = (
    Rule(
        symptom="gpu-power-cap",
        category="performance",
        threshold=lambda limits: (
            f"power cap in over {100 * limits.capped_share:.3g}% of the samples of {limits.window_s:g} s at {100 * limits.at_limit_share:.3g}% of the limit; "
            "warning only where the limit is below its default or that of its peers"
        ),
        raise_s=3.0,
        clear_s=60.0,
        check=check_power_cap,
        limits=CAP,
    ),
)

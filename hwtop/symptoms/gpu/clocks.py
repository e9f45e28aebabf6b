"""gpu-thermal-throttle, gpu-hw-slowdown: heat, or the hardware's own protection, holds the clocks of a GPU down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from hwtop.model.evidence import REPEATED
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
from hwtop.symptoms.text import SHOWN, percent

SPELLS_S = 600.0
"""Window in which intervals of throttling are counted. Source: gpud (leptonai/gpud, hw-slowdown component), 10 min."""
FLICKER_LOOKS = 2
"""A hardware slowdown that only one sample in a row shows is a change of the performance state (NVML documentation of the
bit). Engineering default."""
_WORDS = {
    "sw_thermal": "thermal slowdown by the driver",
    "hw_thermal": "thermal slowdown by the hardware",
    "hw_slowdown": "slowdown by the hardware",
    "hw_power_brake": "power brake",
    "hw_current": "current limit",
}


class _Held(Struct, frozen=True):
    """A GPU whose clocks are held down."""

    gpu: Gpu
    """Newest sample that shows it."""
    reasons: tuple[str, ...]
    hits: int
    looks: int
    intervals: int
    """In the last `SPELLS_S`; 0 where the share is enough."""
    is_steady: bool
    """It is held now, and was in one stretch of the window; others come and go."""


SLOWED = limits_of("gpu-thermal-throttle")


def check_thermal(history: History, limits: Limits = SLOWED) -> Observation | None:
    """Heat holds clocks down: the driver or the hardware itself says so."""
    held = _held(history, _is_hot, 1, limits)
    return _hot(history, held, limits) if held else None


def check_hw_slowdown(history: History, limits: Limits = SLOWED) -> Observation | None:
    """The hardware holds clocks down, and not because of heat: power brake, power supply, current."""
    held = _held(history, _is_slowed, FLICKER_LOOKS, limits)
    return _slowed(history, held) if held else None


def _hot(history: History, held: Sequence[_Held], limits: Limits) -> Observation:
    indexes = [each.gpu.index for each in held]
    one = held[0].gpu
    return observed(
        "gpu-thermal-throttle",
        severity=own_severity(history, indexes, "warning"),
        facts={
            "gpus": named_gpus(indexes),
            "temp_c": one.temp_c if len(held) == 1 else None,
            "clock": clock_words(one),
            **gpu_facts(one),
        },
        confidence=0.95,
        evidence=(
            *not_ours(history, indexes),
            *(
                line
                for each in held[:SHOWN]
                for line in (
                    _seen(history, each, _is_hot),
                    _temperatures(each.gpu),
                    *_counted(history, each, limits.window_s),
                )
            ),
            *_cool(history, held),
        ),
        ranks=ranks_on(history, indexes),
    )


def _slowed(history: History, held: Sequence[_Held]) -> Observation:
    indexes = [each.gpu.index for each in held]
    is_brake = any("hw_power_brake" in each.reasons for each in held)
    return observed(
        "gpu-hw-slowdown",
        severity=own_severity(history, indexes, "warning"),
        facts={
            "gpus": named_gpus(indexes),
            "is_brake": is_brake,
            "clock": clock_words(held[0].gpu) if len(held) == 1 else "",
            **gpu_facts(held[0].gpu),
        },
        confidence=0.9,
        evidence=(
            *not_ours(history, indexes),
            *(line for each in held[:SHOWN] for line in (_seen(history, each, _is_slowed), *_power(each.gpu))),
            *_cool(history, held),
        ),
        ranks=ranks_on(history, indexes),
    )


def _held(history: History, is_held: Callable[[Gpu], bool], least_run: int, limits: Limits) -> list[_Held]:
    found = []
    long_ago: dict[int, list[Gpu]] | None = None
    for index, rows in samples(history, limits.window_s).items():
        known = [gpu for gpu in rows if gpu.throttle is not None]
        intervals = _intervals([is_held(gpu) for gpu in known], least_run)
        if not intervals:
            continue
        hits, count = sum(intervals), 0
        is_braked = bool(_intervals([is_held(gpu) and _has(gpu, "hw_power_brake") for gpu in known], REPEATED))
        if not is_braked and share_at_least(hits / len(known), len(known)) <= limits.slowed_share:
            long_ago = samples(history, SPELLS_S) if long_ago is None else long_ago
            count = len(_intervals([is_held(gpu) for gpu in long_ago[index] if gpu.throttle is not None], least_run))
            if count < limits.intervals:
                continue
        newest = [gpu for gpu in known if is_held(gpu)][-1]
        reasons = tuple(
            dict.fromkeys(reason for gpu in known if is_held(gpu) for reason in gpu.throttle or () if reason in _WORDS)
        )
        is_steady = len(intervals) == 1 and is_held(known[-1])
        found.append(_Held(newest, reasons, hits, len(known), count, is_steady))
    return found


def _intervals(flags: Iterable[bool], least: int) -> list[int]:
    """Lengths of the stretches of True, those shorter than `least` left out."""
    lengths, run = [], 0
    for flag in (*flags, False):
        if flag:
            run += 1
        elif run:
            lengths.append(run)
            run = 0
    return [length for length in lengths if length >= least]


def _has(gpu: Gpu, *reasons: str) -> bool:
    return not set(reasons).isdisjoint(gpu.throttle or ())


def _is_hot(gpu: Gpu) -> bool:
    return _has(gpu, "sw_thermal", "hw_thermal")


def _is_slowed(gpu: Gpu) -> bool:
    return _has(gpu, "hw_power_brake") or (
        _has(gpu, "hw_slowdown", "hw_current") and not _has(gpu, "hw_thermal", "sw_thermal")
    )


def _seen(history: History, held: _Held, is_held: Callable[[Gpu], bool]) -> str:
    words = ", ".join(_WORDS[reason] for reason in held.reasons)
    since = since_words(history, held.gpu.index, is_held) if held.is_steady else ""
    often = f", {held.intervals} times in {SPELLS_S / 60:.0f} min" if held.intervals else ""
    return f"GPU {held.gpu.index}: {words} in {held.hits} of {held.looks} samples{often}{since}"


def _temperatures(gpu: Gpu) -> str:
    parts = [f"{gpu.temp_c:.0f} °C" if gpu.temp_c is not None else "temperature unknown"]
    if gpu.temp_slowdown_c is not None:
        parts[0] += f" (hardware slows it from {gpu.temp_slowdown_c:.0f} °C)"
    if gpu.mem_temp_c is not None:
        parts.append(f"memory {gpu.mem_temp_c:.0f} °C")
    return f"GPU {gpu.index}: {', '.join(parts)}{clock_words(gpu)}"


def _power(gpu: Gpu) -> tuple[str, ...]:
    limit = f" of {gpu.power_limit_w:.0f} W" if gpu.power_limit_w is not None else " W"
    return (f"GPU {gpu.index}: {gpu.power_w:.0f}{limit}{clock_words(gpu)}",) if gpu.power_w is not None else ()


def _counted(history: History, held: _Held, window_s: float) -> tuple[str, ...]:
    """The driver's own count, over the window: a counter that was read late makes the share of one sample wrong."""
    counted_s = passed_s = 0.0
    for before, now in pairwise(history.over(window_s)):
        rates = next((each for each in now.gpu_rates if each.index == held.gpu.index), None)
        if rates is not None and rates.thermal_violation_share is not None:
            passed_s += now.at_s - before.at_s
            counted_s += rates.thermal_violation_share * (now.at_s - before.at_s)
    if not counted_s:
        return ()
    share = percent(counted_s / passed_s)
    return (f"GPU {held.gpu.index}: throttled by temperature {share} of the last {passed_s:.0f} s (driver counter)",)


def _cool(history: History, held: Sequence[_Held]) -> tuple[str, ...]:
    """The others of its kind, which are not held back."""
    hit = {each.gpu.index for each in held}
    others = [gpu for gpu in peers_of(held[0].gpu, history) if gpu.index not in hit]
    temps = [gpu.temp_c for gpu in others if gpu.temp_c is not None]
    clocks = [gpu.sm_clock_mhz for gpu in others if gpu.sm_clock_mhz is not None]
    if not temps and not clocks:
        return ()
    reported = [f"{min(temps):.0f} to {max(temps):.0f} °C"] if temps else []
    reported += [f"SM clock {median(clocks):.0f} MHz"] if clocks else []
    return (f"not throttled: {named_gpus(gpu.index for gpu in others)}: {', '.join(reported)}",)

"""What an NVIDIA GPU can do at most, and how it was set up. The first never changes, the second at an administrator's hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Group, Question, Refused, asked, first, one
from hwtop.collectors.gpu.nvidia.fields import field_values
from hwtop.collectors.gpu.nvidia.levels import CLOCK_MEM, CLOCK_SM, TEMPERATURE_CALLS

ComputeMode = Literal["default", "exclusive thread", "prohibited", "exclusive process"]
_COMPUTE_MODES: tuple[ComputeMode, ...] = ("default", "exclusive thread", "prohibited", "exclusive process")
"""In the order of nvmlComputeMode_t."""
_THRESHOLDS = {"temp_shutdown_c": (0, 193), "temp_slowdown_c": (1, 194)}
"""Field -> nvmlTemperatureThresholds_t and NVML_FI_DEV_TEMPERATURE_*_TLIMIT."""


def _compute_mode(number: int) -> tuple[Any, ...]:
    if number < len(_COMPUTE_MODES):
        return (_COMPUTE_MODES[number],)
    return (Refused("nvmlDeviceGetComputeMode", 0, f"unknown mode {number}"),)


def _thresholds(ask: Ask, handle: Any) -> Mapping[str, Any]:
    """Temperatures at which the GPU slows down and shuts down.

    Newer drivers report them for Ada and later only as distances to the limit (nvml.h at nvmlDeviceGetTemperatureThreshold): the limit
    is the temperature now plus the margin that is left.
    """
    found = {field: _threshold(ask, handle, number) for field, (number, _) in _THRESHOLDS.items()}
    lacking = {
        field: (_THRESHOLDS[field][1], 0)
        for field, answer in found.items()
        if isinstance(answer, Refused) and answer.code == codes.NOT_SUPPORTED
    }
    if not lacking:
        return found
    try:
        margin_c = ask("nvmlDeviceGetMarginTemperature", handle)
        limit_c = float(first(ask, handle, TEMPERATURE_CALLS) + margin_c)
        distances = field_values(ask, handle, lacking.values())
    except Refused:
        return found
    known = {field: distances[number] for field, number in lacking.items()}
    return found | {field: limit_c - away for field, away in known.items() if not isinstance(away, Refused)}


def _threshold(ask: Ask, handle: Any, number: int) -> float | Refused:
    try:
        return float(ask("nvmlDeviceGetTemperatureThreshold", handle, number))
    except Refused as refused:
        return refused


LIMITS = Group(
    math.inf,
    (
        one("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", CLOCK_SM, scale=1.0),
        one("mem_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", CLOCK_MEM, scale=1.0),
        one("pcie_gen_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
        one("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
        one("power_limit_default_w", "nvmlDeviceGetPowerManagementDefaultLimit", scale=1e-3),
        asked(
            ("power_limit_min_w", "power_limit_max_w"),
            (("nvmlDeviceGetPowerManagementLimitConstraints", ()),),
            lambda limits: (limits[0] * 1e-3, limits[1] * 1e-3),
        ),
        Question(tuple(_THRESHOLDS), _thresholds),
    ),
)
POWER_LIMIT = Group(4.9, (one("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", scale=1e-3),))
SETTINGS = Group(
    29.9,
    (
        asked(("persistence_mode",), (("nvmlDeviceGetPersistenceMode", ()),), lambda mode: (bool(mode),)),
        asked(("compute_mode",), (("nvmlDeviceGetComputeMode", ()),), _compute_mode),
    ),
)

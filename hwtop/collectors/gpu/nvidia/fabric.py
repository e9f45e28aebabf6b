"""The NVLink fabric that NVSwitches make of the GPUs: without it they cannot reach each other (nvmlDeviceGetGpuFabricInfoV)."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused

FABRIC_EVERY_S = 29.9
_FUNCTION = "nvmlDeviceGetGpuFabricInfoV"
_NO_FABRIC = "no NVLink fabric: only GPUs behind NVSwitches have one"
_STATES = {1: "not started", 2: "in progress", 3: "completed"}  # nvmlGpuFabricState_t
_FLAGS = {0: "degraded bandwidth", 2: "route recovery", 4: "route unhealthy", 6: "access timeout recovery"}
"""Place of two bits of the health mask -> what is so when they hold 1 (NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_*)."""
_MISCONFIGURED = {
    2: "wrong system GUID",
    3: "wrong chassis serial number",
    4: "no partition",
    5: "too few NVLinks",
    6: "incompatible GPU firmware",
    7: "invalid location",
    8: "invalid GPU state",
}
"""Bits 8 to 11 of the health mask (NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_*)."""


def fabric_question() -> Question:
    """Fills `fabric`: "completed", "in progress", "not started", or what is wrong."""
    return Question(("fabric",), _read)


def _read(ask: Ask, handle: Any) -> Mapping[str, Any]:
    info = importlib.import_module("pynvml").c_nvmlGpuFabricInfo_v2_t()  # v2 is the first with the health mask
    try:
        ask(_FUNCTION, handle, ctypes.byref(info))  # pynvml hands it on as it is
    except Refused as refused:
        if refused.code == codes.NOT_SUPPORTED:
            raise Refused(_FUNCTION, codes.NOT_SUPPORTED, str(refused), _NO_FABRIC) from refused
        raise
    if info.state not in _STATES:
        raise Refused(_FUNCTION, codes.NOT_SUPPORTED, "no fabric", _NO_FABRIC)
    return {"fabric": fabric_state(info.state, info.status, info.healthMask)}


def fabric_state(state: int, status: int, health: int) -> str:
    """A state of nvmlGpuFabricState_t with the result of its registration and its health mask, in words."""
    if _STATES[state] != "completed":
        return _STATES[state]
    if status != codes.SUCCESS:
        return f"failed: NVML error {status}"
    troubles = [text for shift, text in _FLAGS.items() if health >> shift & 0x3 == 1]
    misconfigured = health >> 8 & 0xF
    if misconfigured > 1:
        troubles.append(_MISCONFIGURED.get(misconfigured, f"incorrect configuration {misconfigured}"))
    return f"unhealthy: {', '.join(troubles)}" if troubles else "completed"

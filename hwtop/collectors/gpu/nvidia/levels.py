"""What each tick asks of an NVIDIA GPU: how busy, full, warm and fast it is, and the counters from which rates are made."""

from __future__ import annotations

from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Call, Group, Refused, asked, one
from hwtop.collectors.gpu.nvidia.batch import Wanted, batched
from hwtop.collectors.gpu.nvidia.fields import ALL_LINKS, bytes_of_kib
from hwtop.model.gpu.device import UNIFIED_MEMORY, ThrottleReason

CLOCK_SM, CLOCK_MEM = 1, 2  # nvmlClockType_t
_TEMPERATURE_GPU = 0  # nvmlTemperatureSensors_t
TEMPERATURE_CALLS: tuple[Call, ...] = (
    ("nvmlDeviceGetTemperature", (_TEMPERATURE_GPU,)),
    ("nvmlDeviceGetTemperatureV", (_TEMPERATURE_GPU,)),  # CUDA 14 is to lack the first
)
_MEMORY_V2 = 0x2000028
"""Version word of nvmlMemory_v2_t. Unlike v1 its `used` leaves out what the driver reserves, as nvidia-smi does."""
MEMORY_CALLS: tuple[Call, ...] = (("nvmlDeviceGetMemoryInfo", (_MEMORY_V2,)), ("nvmlDeviceGetMemoryInfo", ()))

_THROTTLE_BITS: dict[int, ThrottleReason] = {
    0x001: "idle",
    0x002: "app_clocks",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal",
    0x040: "hw_thermal",
    0x080: "hw_power_brake",
    0x100: "display_clocks",
}
"""nvmlClocksEventReason* of nvml.h, formerly nvmlClocksThrottleReason*."""


def throttle_reasons(bits: int) -> tuple[ThrottleReason, ...]:
    """Names of the clock event bits that are set; bits that NVML has not documented are left out."""
    return tuple(name for bit, name in _THROTTLE_BITS.items() if bits & bit)


def _memory(memory: Any) -> tuple[Any, ...]:
    """A total of 0 is how a driver may answer for a GPU without memory of its own; more in use than there is, is no number."""
    if not memory.total or memory.used > memory.total:
        reason = UNIFIED_MEMORY if not memory.total else "the driver reports more in use than there is"
        return (Refused("nvmlDeviceGetMemoryInfo", codes.NOT_SUPPORTED, "", reason),) * 3
    too_old = Refused("nvmlDeviceGetMemoryInfo_v2", codes.FUNCTION_NOT_FOUND, "")
    return memory.used, memory.total, getattr(memory, "reserved", too_old)


LEVELS = Group(
    0.0,
    (
        asked(
            ("util_pct", "mem_util_pct"),
            (("nvmlDeviceGetUtilizationRates", ()),),
            lambda rates: (float(rates.gpu), float(rates.memory)),
        ),
        asked(
            ("mem_used_bytes", "mem_total_bytes", "mem_reserved_bytes"),
            MEMORY_CALLS,
            _memory,
            unsupported=UNIFIED_MEMORY,
        ),
        one("power_w", "nvmlDeviceGetPowerUsage", scale=1e-3),
        asked(("temp_c",), TEMPERATURE_CALLS, lambda temp_c: (float(temp_c),)),
        one("sm_clock_mhz", "nvmlDeviceGetClockInfo", CLOCK_SM, scale=1.0),
        asked(
            ("throttle",),
            (("nvmlDeviceGetCurrentClocksEventReasons", ()), ("nvmlDeviceGetCurrentClocksThrottleReasons", ())),
            lambda bits: (throttle_reasons(bits),),
        ),
        batched(
            Wanted("mem_temp_c", (82,), float),  # NVML_FI_DEV_MEMORY_TEMP
            Wanted("counters.energy_mj", (83,)),  # NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
            Wanted("counters.power_violation_ns", (74,)),  # NVML_FI_DEV_PERF_POLICY_POWER
            Wanted("counters.thermal_violation_ns", (75,)),
            Wanted("counters.board_violation_ns", (77,)),
            Wanted("counters.reliability_violation_ns", (79,)),
            Wanted("counters.pcie_replays", (94,)),  # NVML_FI_DEV_PCIE_REPLAY_COUNTER
            Wanted(
                "counters.nvlink_tx_bytes", (138,), bytes_of_kib, ALL_LINKS
            ),  # NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
            Wanted("counters.nvlink_rx_bytes", (139,), bytes_of_kib, ALL_LINKS),
        ),
    ),
)
"""The field values are what DCGM maps to the same numbers (dcgm_fields.cpp); violations are in ns (nvmlViolationTime_t)."""

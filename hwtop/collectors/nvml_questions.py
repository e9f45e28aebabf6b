"""What is asked of one NVIDIA GPU, how often, and how NVML's answers become fields of Gpu."""

from __future__ import annotations

import math
from typing import Any

from hwtop.collectors.nvml_ask import Group, asked, one
from hwtop.collectors.nvml_mig import MigReader
from hwtop.collectors.nvml_processes import ProcessReader
from hwtop.model.gpu import ThrottleReason

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


_CLOCK_SM, _CLOCK_MEM = 1, 2  # nvmlClockType_t
_PCIE_TX, _PCIE_RX = 0, 1  # nvmlPcieUtilCounter_t
_TEMPERATURE_GPU = 0  # nvmlTemperatureSensors_t
_MEMORY_V2 = 0x2000028
"""Version word of nvmlMemory_v2_t. Unlike v1 its `used` leaves out what the driver reserves, as nvidia-smi does."""
_KIB = 1024.0  # throughput comes in KB/s, by which NVML means KiB/s

IDENTITY = Group(
    math.inf,
    (
        one("name", "nvmlDeviceGetName"),
        one("uuid", "nvmlDeviceGetUUID"),
        asked(("pci_bus_id",), (("nvmlDeviceGetPciInfo", ()),), lambda pci: (pci_bus_id(pci),)),
    ),
)
LIMITS = Group(
    math.inf,
    (
        one("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", _CLOCK_SM, scale=1.0),
        one("pcie_gen_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
        one("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
    ),
)
LEVELS = Group(
    0.0,
    (
        asked(
            ("util_pct", "mem_util_pct"),
            (("nvmlDeviceGetUtilizationRates", ()),),
            lambda rates: (float(rates.gpu), float(rates.memory)),
        ),
        asked(
            ("mem_used_bytes", "mem_total_bytes"),
            (("nvmlDeviceGetMemoryInfo", (_MEMORY_V2,)), ("nvmlDeviceGetMemoryInfo", ())),
            lambda memory: (memory.used, memory.total),
            unsupported="not supported by this GPU (unified memory: it uses the host's RAM)",
        ),
        one("power_w", "nvmlDeviceGetPowerUsage", scale=1e-3),
        one("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", scale=1e-3),
        one("temp_c", "nvmlDeviceGetTemperature", _TEMPERATURE_GPU, scale=1.0),
        one("sm_clock_mhz", "nvmlDeviceGetClockInfo", _CLOCK_SM, scale=1.0),
        one("mem_clock_mhz", "nvmlDeviceGetClockInfo", _CLOCK_MEM, scale=1.0),
        asked(
            ("throttle",),
            (("nvmlDeviceGetCurrentClocksEventReasons", ()), ("nvmlDeviceGetCurrentClocksThrottleReasons", ())),
            lambda bits: (throttle_reasons(bits),),
        ),
        one("pcie_gen", "nvmlDeviceGetCurrPcieLinkGeneration"),
        one("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
    ),
)
PCIE_TRAFFIC = Group(
    4.9,  # dear: each call watches the bus for 20 ms (nvmlDeviceGetPcieThroughput in nvml.h)
    (
        one("pcie_tx_bytes_per_s", "nvmlDeviceGetPcieThroughput", _PCIE_TX, scale=_KIB),
        one("pcie_rx_bytes_per_s", "nvmlDeviceGetPcieThroughput", _PCIE_RX, scale=_KIB),
    ),
    is_staggered=True,
)


def device_groups() -> tuple[Group, ...]:
    """All groups for one device: what has readers that remember something (a time, a handle) is made for each."""
    return (
        IDENTITY,
        LEVELS,
        LIMITS,
        Group(1.9, (ProcessReader().question(),)),  # at every second tick of 1 s, even if that comes a little early
        Group(1.9, (MigReader().question(),)),
        PCIE_TRAFFIC,
    )


def throttle_reasons(bits: int) -> tuple[ThrottleReason, ...]:
    """Names of the clock event bits that are set; bits that NVML has not documented are left out."""
    return tuple(name for bit, name in _THROTTLE_BITS.items() if bits & bit)


def pci_bus_id(pci: Any) -> str:
    """The address as sysfs and dmesg spell it ("0000:1b:00.0"); NVML writes the domain with eight digits."""
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"

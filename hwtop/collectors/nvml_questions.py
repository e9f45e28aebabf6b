"""What is asked of one NVIDIA GPU, how often, and how NVML's answers become fields of Gpu."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from hwtop.model.gpu import GpuProcess, ThrottleReason

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


class Question(NamedTuple):
    """What to ask for some fields of Gpu: the first of `calls` (function, arguments) that the driver has."""

    fields: tuple[str, ...]
    calls: tuple[tuple[str, tuple[int, ...]], ...]
    answer: Callable[[Any], tuple[Any, ...]]


class Group(NamedTuple):
    """Questions that are asked together, and how often."""

    every_s: float
    questions: tuple[Question, ...]

    def fields(self) -> set[str]:
        """All fields that the group fills."""
        return {field for question in self.questions for field in question.fields}


def _one(field: str, function: str, *args: int, scale: float | None = None) -> Question:
    """A question for one number; `scale` makes it a float."""
    return Question((field,), ((function, args),), lambda value: (value if scale is None else value * scale,))


_CLOCK_SM, _CLOCK_MEM = 1, 2  # nvmlClockType_t
_PCIE_TX, _PCIE_RX = 0, 1  # nvmlPcieUtilCounter_t
_TEMPERATURE_GPU = 0  # nvmlTemperatureSensors_t
_MEMORY_V2 = 0x2000028
"""Version word of nvmlMemory_v2_t. Unlike v1 its `used` leaves out what the driver reserves, as nvidia-smi does."""
_KIB = 1024.0  # throughput comes in KB/s, by which NVML means KiB/s

IDENTITY = Group(
    math.inf,
    (
        _one("name", "nvmlDeviceGetName"),
        _one("uuid", "nvmlDeviceGetUUID"),
        Question(("pci_bus_id",), (("nvmlDeviceGetPciInfo", ()),), lambda pci: (pci_bus_id(pci),)),
    ),
)
LIMITS = Group(
    math.inf,
    (
        _one("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", _CLOCK_SM, scale=1.0),
        _one("pcie_gen_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
        _one("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
    ),
)
LEVELS = Group(
    0.0,
    (
        Question(
            ("util_pct", "mem_util_pct"),
            (("nvmlDeviceGetUtilizationRates", ()),),
            lambda rates: (float(rates.gpu), float(rates.memory)),
        ),
        Question(
            ("mem_used_bytes", "mem_total_bytes"),
            (("nvmlDeviceGetMemoryInfo", (_MEMORY_V2,)), ("nvmlDeviceGetMemoryInfo", ())),
            lambda memory: (memory.used, memory.total),
        ),
        _one("power_w", "nvmlDeviceGetPowerUsage", scale=1e-3),
        _one("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", scale=1e-3),
        _one("temp_c", "nvmlDeviceGetTemperature", _TEMPERATURE_GPU, scale=1.0),
        _one("sm_clock_mhz", "nvmlDeviceGetClockInfo", _CLOCK_SM, scale=1.0),
        _one("mem_clock_mhz", "nvmlDeviceGetClockInfo", _CLOCK_MEM, scale=1.0),
        Question(
            ("throttle",),
            (("nvmlDeviceGetCurrentClocksEventReasons", ()), ("nvmlDeviceGetCurrentClocksThrottleReasons", ())),
            lambda bits: (throttle_reasons(bits),),
        ),
        _one("pcie_gen", "nvmlDeviceGetCurrPcieLinkGeneration"),
        _one("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
    ),
)
PROCESSES = Group(
    1.9,  # at every second tick of 1 s, even if that comes a little early
    (
        Question(
            ("compute",),
            (("nvmlDeviceGetComputeRunningProcesses_v3", ()), ("nvmlDeviceGetComputeRunningProcesses_v2", ())),
            lambda processes: (processes,),
        ),
        Question(
            ("graphics",),
            (("nvmlDeviceGetGraphicsRunningProcesses_v3", ()), ("nvmlDeviceGetGraphicsRunningProcesses_v2", ())),
            lambda processes: (processes,),
        ),
    ),
)
PCIE_TRAFFIC = Group(
    4.9,  # dear: each call watches the bus for 20 ms (nvmlDeviceGetPcieThroughput in nvml.h)
    (
        _one("pcie_tx_bytes_per_s", "nvmlDeviceGetPcieThroughput", _PCIE_TX, scale=_KIB),
        _one("pcie_rx_bytes_per_s", "nvmlDeviceGetPcieThroughput", _PCIE_RX, scale=_KIB),
    ),
)
GROUPS = (IDENTITY, LEVELS, PROCESSES, LIMITS, PCIE_TRAFFIC)
"""In the order in which they are asked."""


def gpu_processes(compute: list[Any], graphics: list[Any]) -> tuple[GpuProcess, ...]:
    """NVML's two lists as one; a process in both counts as compute."""
    found = {p.pid: GpuProcess(pid=p.pid, mem_bytes=p.usedGpuMemory, kind="graphics") for p in graphics}
    found |= {p.pid: GpuProcess(pid=p.pid, mem_bytes=p.usedGpuMemory, kind="compute") for p in compute}
    return tuple(sorted(found.values(), key=lambda process: process.pid))


def throttle_reasons(bits: int) -> tuple[ThrottleReason, ...]:
    """Names of the clock event bits that are set; bits that NVML has not documented are left out."""
    return tuple(name for bit, name in _THROTTLE_BITS.items() if bits & bit)


def pci_bus_id(pci: Any) -> str:
    """The address as sysfs and dmesg spell it ("0000:1b:00.0"); NVML writes the domain with eight digits."""
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"

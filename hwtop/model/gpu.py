"""Accelerators. One struct serves every vendor; what a vendor cannot tell is None with its reason."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

GpuStatus = Literal["ok", "lost", "stale", "error"]

ThrottleReason = Literal[
    "idle",
    "app_clocks",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal",
    "hw_thermal",
    "hw_power_brake",
    "display_clocks",
]


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that holds a context on a GPU."""

    pid: int
    """As the driver reports it: a host PID, also inside a container."""
    mem_bytes: int | None
    kind: Literal["compute", "graphics"] = "compute"


class Gpu(Struct, frozen=True, kw_only=True):
    """One device at one time. Everything here is a level, not a counter, so no rates need deriving."""

    index: int
    vendor: str
    name: str
    uuid: str | None
    pci_bus_id: str | None = None
    status: GpuStatus
    reason: str | None = None
    """Why the status is not "ok", in words a user can act on."""
    age_s: float = 0.0
    """How old the numbers are; above 0 only when the status is "stale"."""
    util_pct: float | None = None
    mem_util_pct: float | None = None
    """Share of the time in which device memory was read or written."""
    mem_used_bytes: int | None = None
    mem_total_bytes: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temp_c: float | None = None
    sm_clock_mhz: float | None = None
    sm_clock_max_mhz: float | None = None
    mem_clock_mhz: float | None = None
    throttle: tuple[ThrottleReason, ...] | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_tx_bytes_per_s: float | None = None
    pcie_rx_bytes_per_s: float | None = None
    processes: tuple[GpuProcess, ...] | None = None
    missing: dict[str, str] = {}


class GpuReading(Struct, frozen=True, kw_only=True):
    """All devices of all vendors."""

    at_s: float
    gpus: tuple[Gpu, ...]
    driver: str | None = None

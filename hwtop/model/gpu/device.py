"""Accelerators. One struct serves every vendor; what a vendor cannot tell is None with its reason."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.gpu.health import EccErrors, RemappedRows, RetiredPages, XidEvent
from hwtop.model.gpu.link import NvLink, Topology

GpuStatus = Literal["ok", "lost", "stale", "error"]
Vendor = Literal["nvidia", "amd", "intel", "tpu"]
ProcessKind = Literal["compute", "graphics", "mps"]

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
    "hw_current",
]
"""What holds clocks down, in NVML's words (nvmlClocksEventReason*). Other vendors' reasons take the nearest of them; "hw_current"
is theirs alone: a limit on current."""


UNIFIED_MEMORY = "not supported by this GPU (unified memory: it uses the host's RAM)"
"""Reason in `missing` of a GPU without memory of its own."""


class GpuProcess(Struct, frozen=True, gc=False, kw_only=True):
    """A process that holds a context on a GPU."""

    pid: int
    """As the driver reports it: a host PID, also inside a container."""
    mem_bytes: int | None
    kind: ProcessKind = "compute"
    sm_pct: float | None = None
    """Share of the time in which it had a kernel on the GPU, over the driver's last sampling period."""
    name: str | None = None
    """What the driver calls it: all that is known of a process that /proc does not show here."""
    mig: int | None = None
    """Number of the MIG instance it is in (`MigInstance.index`)."""
    state: str | None = None
    """As ThreadInfo.state, "X" where there is no such process any more; None where processes of others cannot be seen
    (another PID namespace)."""


class GpuActivity(Struct, frozen=True, gc=False, kw_only=True):
    """What the units of the chip did, averaged by the hardware between two reads (GPM on Hopper and later)."""

    sm_active_pct: float | None = None
    """Share of SM cycles with at least one warp in flight: what utilization only pretends to be."""
    sm_occupancy_pct: float | None = None
    tensor_active_pct: float | None = None
    dram_bw_pct: float | None = None
    nvlink_tx_bytes_per_s: float | None = None
    nvlink_rx_bytes_per_s: float | None = None
    pcie_tx_bytes_per_s: float | None = None
    pcie_rx_bytes_per_s: float | None = None


class GpuCounters(Struct, frozen=True, gc=False, kw_only=True):
    """What only grows since the driver was loaded. Rates of it are `GpuRates`."""

    energy_mj: int | None = None
    power_violation_ns: int | None = None
    """Time in which clocks were below what was asked for, because of the power limit (nvmlPerfPolicyType_t)."""
    thermal_violation_ns: int | None = None
    reliability_violation_ns: int | None = None
    board_violation_ns: int | None = None
    pcie_replays: int | None = None
    nvlink_tx_bytes: int | None = None
    """Payload over all links."""
    nvlink_rx_bytes: int | None = None


class MigInstance(Struct, frozen=True, gc=False, kw_only=True):
    """A slice of a GPU that is a device of its own to CUDA."""

    index: int
    uuid: str | None
    name: str | None = None
    """Profile as nvidia-smi spells it: "1g.10gb"."""
    gpu_instance: int | None = None
    compute_instance: int | None = None
    multiprocessors: int | None = None
    mem_used_bytes: int | None = None
    mem_total_bytes: int | None = None
    processes: tuple[GpuProcess, ...] | None = None
    missing: dict[str, str] = {}


class Gpu(Struct, frozen=True, gc=False, kw_only=True):
    """One device at one time. All levels but `counters`."""

    index: int
    """As the vendor's own tool numbers it; devices of a second vendor follow those of the first. Over several nodes: numbered on, node
    after node."""
    node: str | None = None
    """Name of its node; None where only this machine is watched."""
    local_index: int | None = None
    """Its number on that node."""
    vendor: Vendor
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
    encoder_pct: float | None = None
    decoder_pct: float | None = None
    activity: GpuActivity | None = None

    mem_used_bytes: int | None = None
    mem_total_bytes: int | None = None
    mem_reserved_bytes: int | None = None
    """Kept by the driver for itself; not in `mem_used_bytes`."""
    bar1_used_bytes: int | None = None
    bar1_total_bytes: int | None = None

    power_w: float | None = None
    power_limit_w: float | None = None
    """The limit that holds now (enforced)."""
    power_limit_default_w: float | None = None
    power_limit_min_w: float | None = None
    power_limit_max_w: float | None = None

    temp_c: float | None = None
    mem_temp_c: float | None = None
    temp_slowdown_c: float | None = None
    """Above it the hardware cuts clocks."""
    temp_shutdown_c: float | None = None
    fan_pct: float | None = None

    sm_clock_mhz: float | None = None
    sm_clock_max_mhz: float | None = None
    mem_clock_mhz: float | None = None
    mem_clock_max_mhz: float | None = None
    pstate: int | None = None
    """0 is the fastest, 15 the slowest."""
    throttle: tuple[ThrottleReason, ...] | None = None

    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_tx_bytes_per_s: float | None = None
    """From the GPU to the host."""
    pcie_rx_bytes_per_s: float | None = None
    numa_node: int | None = None
    cpus: str | None = None
    """CPUs near to it, as the kernel writes lists: "0-47,96-143"."""

    ecc: EccErrors | None = None
    remapped: RemappedRows | None = None
    retired: RetiredPages | None = None
    recovery_action: str | None = None
    """What the driver asks for, in words; None also where it asks for nothing (then nothing is in `missing`)."""
    xids: tuple[XidEvent, ...] = ()
    """Those that the driver told while hwtop watched, oldest first, the newest 16."""
    nvlinks: tuple[NvLink, ...] | None = None
    """Empty where the device has none."""
    fabric: str | None = None
    """State of the NVLink fabric (NVSwitch systems): "completed", "in progress", "not started", or what failed."""

    persistence_mode: bool | None = None
    compute_mode: Literal["default", "exclusive thread", "prohibited", "exclusive process"] | None = None
    mig_mode: bool | None = None
    mig: tuple[MigInstance, ...] = ()

    counters: GpuCounters | None = None
    processes: tuple[GpuProcess, ...] | None = None
    unlisted_bytes: int | None = None
    """Memory in use that none of `processes` holds; None where the list may lack some (another PID namespace, MIG) or one of
    them does not tell its memory."""
    missing: dict[str, str] = {}
    """Field -> why it is None."""


class GpuRates(Struct, frozen=True, gc=False, kw_only=True):
    """What the counters of one device did over the last interval."""

    index: int
    power_w: float | None = None
    """Mean over the interval, from the energy counter."""
    power_violation_share: float | None = None
    """Share of the interval, 0 to 1, in which the power limit held clocks down."""
    thermal_violation_share: float | None = None
    reliability_violation_share: float | None = None
    board_violation_share: float | None = None
    pcie_replays_per_s: float | None = None
    nvlink_tx_bytes_per_s: float | None = None
    nvlink_rx_bytes_per_s: float | None = None


class CallCost(Struct, frozen=True, gc=False, kw_only=True):
    """What one function of the driver's library costs."""

    function: str
    calls: int
    mean_ms: float
    max_ms: float


class GpuReading(Struct, frozen=True, gc=False, kw_only=True):
    """All devices of all vendors."""

    at_s: float
    gpus: tuple[Gpu, ...]
    driver: str | None = None
    topology: Topology | None = None
    costs: tuple[CallCost, ...] = ()
    """Since hwtop started; filled only where somebody asked for it."""
    missing: dict[str, str] = {}
    """Vendor or field -> why it cannot be told."""

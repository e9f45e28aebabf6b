"""Fields of an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from msgspec import Struct

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Subject
from hwtop.fields.level import Level
from hwtop.fields.ratio import percent
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuRates, GpuStatus

_HOT, _NEAR_SLOWDOWN_C = Level(warning=83, critical=90), 5
"""Degrees where the device reports no slowdown threshold, and below it where it does; engineering defaults."""


class DeviceRow(Struct, frozen=True):
    """One device with what its fields need to know of the rest of the machine."""

    gpu: Gpu
    ranks: tuple[int, ...] = ()
    """Of the watched job."""
    rates: GpuRates | None = None

    @property
    def is_training(self) -> bool:
        """A rank of the watched job uses it."""
        return bool(self.ranks)

    @property
    def activity(self) -> GpuActivity:
        """What its units did; all None where it does not report that."""
        return self.gpu.activity or GpuActivity()

    @property
    def nvlink_bytes_per_s(self) -> tuple[float | None, float | None]:
        """Sent and received over all links: what the chip measures itself, else the rate of its counters."""
        return _first_reported(
            (self.gpu.activity, "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"),
            (self.rates, "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"),
        )

    @property
    def pcie_bytes_per_s(self) -> tuple[float | None, float | None]:
        """To the host and from it."""
        return _first_reported(
            (self.gpu, "pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"),
            (self.gpu.activity, "pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"),
        )


def rows(derived: DerivedState) -> Iterator[DeviceRow]:
    """All devices, by index."""
    rates = {rate.index: rate for rate in derived.gpu_rates}
    ranks = ranks_of(derived)
    for gpu in derived.gpus:
        yield DeviceRow(gpu, ranks.get(gpu.index, ()), rates.get(gpu.index))


def ranks_of(derived: DerivedState) -> dict[int, tuple[int, ...]]:
    """Index of a device -> ranks of the watched job that use it."""
    found: dict[int, tuple[int, ...]] = {}
    for rank in derived.job.ranks if derived.job else ():
        for index in rank.gpus:
            found[index] = (*found.get(index, ()), rank.rank)
    return found


def _first_reported(*sources: tuple[object, str, str]) -> tuple[float | None, float | None]:
    for source, sent, received in sources:
        pair = getattr(source, sent, None), getattr(source, received, None)
        if pair != (None, None):
            return pair
    return None, None


def _temperature_level(row: DeviceRow) -> Level:
    slowdown_c = row.gpu.temp_slowdown_c
    return _HOT if slowdown_c is None else Level(warning=slowdown_c - _NEAR_SLOWDOWN_C, critical=slowdown_c)


def _activity(name: str, about: str, title: str, width: int, priority: int) -> Field[DeviceRow]:
    """A share of the time or of the peak, as the chip measures it."""

    def value(row: DeviceRow) -> float | None:
        found: float | None = getattr(row.activity, name)
        return found

    columns = (Column(width=width, priority=priority),)
    return Field(
        id=f"gpu.{name}",
        about=about,
        kind="percent",
        value=value,
        title=title,
        columns={"gpus": columns} if width else {},
        json=f"activity.{name}",
    )


INDEX: Field[DeviceRow] = Field(
    id="gpu.index",
    about="its number, as the vendor's own tool counts",
    kind="count",
    format=units.number,
    value=lambda row: row.gpu.index,
    name="gpu",
    title="GPU",
    columns={"gpus": (Column(width=3, is_kept=True),)},
    json="index",
)
NODE: Field[DeviceRow] = Field(
    id="gpu.node",
    about="its node, in a job over several",
    kind="word",
    value=lambda row: row.gpu.node,
    name="node",
    columns={"gpus": (Column(width=10, priority=2),)},
)
NAME: Field[DeviceRow] = Field(
    id="gpu.name", about="its product name", kind="word", value=lambda row: row.gpu.name, name="name", json="name"
)
STATE: Field[DeviceRow] = Field(
    id="gpu.status",
    about="whether it answers the driver",
    kind="word",
    value=lambda row: row.gpu.status,
    choices=get_args(GpuStatus),
    name="state",
    json="status",
)
RANK: Field[DeviceRow] = Field(
    id="gpu.rank",
    about="ranks of the job that use it",
    kind="count",
    format=units.number,
    value=lambda row: row.ranks[0] if row.ranks else None,
    values=lambda row: row.ranks,
    name="rank",
    columns={"gpus": (Column(width=4, priority=1),)},
)
UTIL: Field[DeviceRow] = Field(
    id="gpu.util_pct",
    about="time with a kernel on it",
    kind="percent",
    value=lambda row: row.gpu.util_pct,
    name="util",
    is_low=True,
    applies=lambda row: row.is_training,
    columns={
        "gpus": (
            Column(width=4, is_kept=True),
            Column(width=8, priority=10, title="0–100%", grow=2, most=24, align="left", shape="bar"),
            Column(width=16, priority=7, title="util, past", align="left", shape="trend"),
        )
    },
    json="util_pct",
)
MEMORY: Field[DeviceRow] = Field(
    id="gpu.mem_used_bytes",
    about="memory in use; the column shows the total too",
    kind="bytes",
    value=lambda row: row.gpu.mem_used_bytes,
    name="mem",
    title="memory",
    columns={"gpus": (Column(width=11, priority=1, is_kept=True),)},
    json="mem_used_bytes",
)
MEMORY_USED: Field[DeviceRow] = Field(
    id="gpu.mem_used_pct",
    about="memory in use, of all",
    kind="percent",
    value=lambda row: percent(row.gpu.mem_used_bytes, row.gpu.mem_total_bytes),
    title="memory used",
    columns={"gpus": (Column(width=6, priority=14, title="", grow=1, most=12, align="left", shape="bar"),)},
)
POWER: Field[DeviceRow] = Field(
    id="gpu.power_w",
    about="power draw; the column shows its limit too",
    kind="count",
    unit="W",
    format=units.watts,
    value=lambda row: row.gpu.power_w,
    name="power",
    columns={"gpus": (Column(width=9, priority=2),)},
    json="power_w",
)
TEMPERATURE: Field[DeviceRow] = Field(
    id="gpu.temp_c",
    about="temperature of the chip",
    kind="count",
    unit="°C",
    format=units.celsius,
    value=lambda row: row.gpu.temp_c,
    name="temp",
    own_level=_temperature_level,
    columns={"gpus": (Column(width=5, priority=2),)},
    json="temp_c",
)
CLOCK: Field[DeviceRow] = Field(
    id="gpu.sm_clock_mhz",
    about="clock of its cores",
    kind="count",
    unit="MHz",
    format=units.mhz,
    value=lambda row: row.gpu.sm_clock_mhz,
    title="clock",
    columns={"gpus": (Column(width=7, priority=6),)},
    json="sm_clock_mhz",
)
THROTTLE: Field[DeviceRow] = Field(
    id="gpu.throttle",
    about="clock limit reasons that the driver reports",
    kind="word",
    value=lambda row: None if row.gpu.throttle is None else ", ".join(row.gpu.throttle) or "none",
    title="throttle",
    columns={"gpus": (Column(width=12, priority=3),)},
)
HEALTH: Field[DeviceRow] = Field(
    id="gpu.health",
    about="memory errors, Xid errors and broken links, the worst first",
    kind="word",
    value=lambda row: row.gpu.reason,
    title="health",
    columns={"gpus": (Column(width=12, priority=1),)},
    json="reason",
)
PCIE: Field[DeviceRow] = Field(
    id="gpu.pcie",
    about="PCIe generation and lanes in use",
    kind="word",
    value=lambda row: (
        None if row.gpu.pcie_gen is None or row.gpu.pcie_width is None else f"{row.gpu.pcie_gen}×{row.gpu.pcie_width}"
    ),
    title="PCIe",
    columns={"gpus": (Column(width=6, priority=11),)},
)
PROCESSES: Field[DeviceRow] = Field(
    id="gpu.processes",
    about="processes that hold a context on it; a filter asks for their PIDs",
    kind="count",
    format=units.number,
    value=lambda row: (
        None
        if row.gpu.processes is None
        else len(row.gpu.processes) + sum(len(part.processes or ()) for part in row.gpu.mig)
    ),
    values=lambda row: tuple(process.pid for process in row.gpu.processes or ()),
    name="pid",
    title="procs",
    columns={"gpus": (Column(width=5, priority=13),)},
)
NVLINK: Field[DeviceRow] = Field(
    id="gpu.nvlink_tx_bytes_per_s",
    about="sent over all NVLinks; the column shows what is received too",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.nvlink_bytes_per_s[0],
    title="NVLink out/in",
    columns={"gpus": (Column(width=13, priority=8, align="left"),)},
)
PCIE_TX: Field[DeviceRow] = Field(
    id="gpu.pcie_tx_bytes_per_s",
    about="sent over PCIe; the column shows what is received too",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.pcie_bytes_per_s[0],
    title="PCIe out/in",
    columns={"gpus": (Column(width=13, priority=9, align="left"),)},
)
NVLINK_RX: Field[DeviceRow] = Field(
    id="gpu.nvlink_rx_bytes_per_s",
    about="received over all NVLinks",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.nvlink_bytes_per_s[1],
    title="NVLink in",
)
PCIE_RX: Field[DeviceRow] = Field(
    id="gpu.pcie_rx_bytes_per_s",
    about="received over PCIe",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.pcie_bytes_per_s[1],
    title="PCIe in",
)
SM = _activity("sm_active_pct", "cycles with at least one warp in flight", "SM", 4, 4)
OCCUPANCY = _activity("sm_occupancy_pct", "warps in flight, of the most possible", "SM occupancy", 0, 0)
TENSOR = _activity("tensor_active_pct", "cycles with work for the tensor cores", "tensor", 6, 5)
DRAM = _activity("dram_bw_pct", "memory bandwidth in use, of the peak", "DRAM", 4, 12)


def _own_index(row: DeviceRow) -> int:
    """Its number on its node."""
    return row.gpu.index if row.gpu.local_index is None else row.gpu.local_index


GPU = Subject(
    name="gpu",
    title="GPUs and other accelerators",
    rows=lambda frame: rows(frame.derived),
    json="gpus",
    labels={"gpu": _own_index, "rank": RANK.value, "node": NODE.value},
    optional_labels=frozenset({"node"}),
    fields=(
        INDEX,
        NODE,
        NAME,
        RANK,
        STATE,
        UTIL,
        SM,
        OCCUPANCY,
        TENSOR,
        DRAM,
        MEMORY,
        MEMORY_USED,
        POWER,
        TEMPERATURE,
        CLOCK,
        THROTTLE,
        HEALTH,
        NVLINK,
        NVLINK_RX,
        PCIE_TX,
        PCIE_RX,
        PCIE,
        PROCESSES,
    ),
)
"""In the order of the columns."""

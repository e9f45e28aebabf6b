"""gpu_metrics tables as C lays them out: the structures of the kernel's kgd_pp_interface.h, in ctypes."""

from __future__ import annotations

import ctypes
from typing import Any

u8, u16, u32, u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64

_HEADER = [("structure_size", u16), ("format_revision", u8), ("content_revision", u8)]


def _all(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


_DGPU = [
    *_HEADER,
    *_all(u16, "temperature_edge temperature_hotspot temperature_mem temperature_vrgfx temperature_vrsoc"),
    *_all(u16, "temperature_vrmem average_gfx_activity average_umc_activity average_mm_activity average_socket_power"),
    *_all(u64, "energy_accumulator system_clock_counter"),
    *_all(u16, "average_gfxclk_frequency average_socclk_frequency average_uclk_frequency average_vclk0_frequency"),
    *_all(u16, "average_dclk0_frequency average_vclk1_frequency average_dclk1_frequency"),
    *_all(u16, "current_gfxclk current_socclk current_uclk current_vclk0 current_dclk0 current_vclk1 current_dclk1"),
    ("throttle_status", u32),
    *_all(u16, "current_fan_speed pcie_link_width pcie_link_speed padding"),
    *_all(u32, "gfx_activity_acc mem_activity_acc"),
    ("temperature_hbm", u16 * 4),
]
_MI300_TOP = [
    *_HEADER,
    *_all(u16, "temperature_hotspot temperature_mem temperature_vrsoc curr_socket_power"),
    *_all(u16, "average_gfx_activity average_umc_activity"),
]
_RESIDENCY = _all(
    u32,
    "accumulation_counter prochot_residency_acc ppt_residency_acc socket_thm_residency_acc vr_thm_residency_acc "
    "hbm_thm_residency_acc",
)
_PCIE = _all(
    u64,
    "pcie_bandwidth_acc pcie_bandwidth_inst pcie_l0_to_recov_count_acc pcie_replay_count_acc pcie_replay_rover_count_acc",
)
_NAK = _all(u32, "pcie_nak_sent_count_acc pcie_nak_rcvd_count_acc")
_XGMI = [("xgmi_read_data_acc", u64 * 8), ("xgmi_write_data_acc", u64 * 8)]
_LINKS = [
    *_all(u16, "pcie_link_width pcie_link_speed xgmi_link_width xgmi_link_speed"),
    *_all(u32, "gfx_activity_acc mem_activity_acc"),
]
_CLOCKS = [
    ("firmware_timestamp", u64),
    ("current_gfxclk", u16 * 8),
    ("current_socclk", u16 * 4),
    ("current_vclk0", u16 * 4),
    ("current_dclk0", u16 * 4),
    ("current_uclk", u16),
]
_ENERGY = _all(u64, "energy_accumulator system_clock_counter")


def _partition(jpeg: int, *accumulated: str) -> Any:
    fields = [("gfx_busy_inst", u32 * 8), ("jpeg_busy", u16 * jpeg), ("vcn_busy", u16 * 4)]
    return type("Partition", (ctypes.Structure,), {"_fields_": fields + [(name, u64 * 8) for name in accumulated]})


def _tail(partition: Any) -> list[tuple[str, Any]]:
    return [("num_partition", u16), ("xcp_stats", partition * 8), ("pcie_lc_perf_other_end_recovery", u32)]


def _status(partition: Any) -> list[tuple[str, Any]]:
    """v1.7 and v1.8 differ in the partitions only."""
    return [
        *_MI300_TOP,
        ("mem_max_bandwidth", u64),
        *_ENERGY,
        *_RESIDENCY,
        ("gfxclk_lock_status", u32),
        *_LINKS,
        *_PCIE,
        *_NAK,
        *_XGMI,
        ("xgmi_link_status", u16 * 8),
        ("padding", u16),
        *_CLOCKS,
        *_tail(partition),
    ]


_OLD_STATUS = _all(u32, "throttle_status gfxclk_lock_status")
_FIELDS: dict[tuple[int, int], list[tuple[str, Any]]] = {
    (1, 1): _DGPU,
    (1, 2): [*_DGPU, ("firmware_timestamp", u64)],
    (1, 3): [
        *_DGPU,
        ("firmware_timestamp", u64),
        *_all(u16, "voltage_soc voltage_gfx voltage_mem padding1"),
        ("indep_throttle_status", u64),
    ],
    (1, 4): [
        *_MI300_TOP,
        ("vcn_activity", u16 * 4),
        *_ENERGY,
        *_OLD_STATUS,
        *_LINKS,
        *_PCIE,
        *_XGMI,
        *_CLOCKS,
        ("padding", u16),
    ],
    (1, 5): [
        *_MI300_TOP,
        ("vcn_activity", u16 * 4),
        ("jpeg_activity", u16 * 32),
        *_ENERGY,
        *_OLD_STATUS,
        *_LINKS,
        *_PCIE,
        *_NAK,
        *_XGMI,
        *_CLOCKS,
        ("padding", u16),
    ],
    (1, 6): [
        *_MI300_TOP,
        *_ENERGY,
        *_RESIDENCY,
        ("gfxclk_lock_status", u32),
        *_LINKS,
        *_PCIE,
        *_NAK,
        *_XGMI,
        *_CLOCKS,
        *_tail(_partition(32, "gfx_busy_acc")),
    ],
    (1, 7): _status(_partition(32, "gfx_busy_acc", "gfx_below_host_limit_acc")),
    (1, 8): _status(_partition(40, "busy", "below_power", "below_heat", "low")),
    (2, 2): [
        *_HEADER,
        *_all(u16, "temperature_gfx temperature_soc"),
        ("temperature_core", u16 * 8),
        ("temperature_l3", u16 * 2),
        *_all(u16, "average_gfx_activity average_mm_activity"),
        ("system_clock_counter", u64),
        *_all(u16, "average_socket_power average_cpu_power average_soc_power average_gfx_power"),
        ("average_core_power", u16 * 8),
        *_all(u16, "average_gfxclk average_socclk average_uclk average_fclk average_vclk average_dclk"),
        *_all(u16, "current_gfxclk current_socclk current_uclk current_fclk current_vclk current_dclk"),
        ("current_coreclk", u16 * 8),
        ("current_l3clk", u16 * 2),
        ("throttle_status", u32),
        ("fan_pwm", u16),
        ("padding", u16 * 3),
        ("indep_throttle_status", u64),
    ],
}
REVISIONS = tuple(_FIELDS)


def table(revision: tuple[int, int], **values: int | list[int]) -> bytes:
    """A table as the driver makes it: all ones where the chip tells nothing, then what is given."""
    kind: Any = type("Table", (ctypes.Structure,), {"_fields_": _FIELDS[revision]})
    made = kind.from_buffer_copy(b"\xff" * ctypes.sizeof(kind))
    made.structure_size, made.format_revision, made.content_revision = ctypes.sizeof(kind), *revision
    for name, value in values.items():
        if isinstance(value, list):
            getattr(made, name)[: len(value)] = value
        else:
            setattr(made, name, value)
    return bytes(made)

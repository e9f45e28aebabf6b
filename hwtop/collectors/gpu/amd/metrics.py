"""gpu_metrics: the table of numbers that amdgpu's power firmware keeps, as the kernel hands it out in binary.

Layouts: drivers/gpu/drm/amd/include/kgd_pp_interface.h, natural alignment, little endian. The first four bytes are the
size of the table and its revision; revisions are not made by appending, so each has its own offsets here. A field that the
chip does not fill holds all ones. Tables of other revisions, or whose size is not that of the header, are not decoded.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from hwtop.model.gpu.device import ThrottleReason

_LINKS = 8  # NUM_XGMI_LINKS


class Metrics(NamedTuple):
    """What is used of one table; None where the revision or the chip does not report it."""

    revision: tuple[int, int]
    throttle_bits: int | None = None
    """indep_throttle_status: the same bits on every chip (SMU_THROTTLER_* of amdgpu_smu.h). What holds clocks down now."""
    energy: int | None = None
    """In units of 15.259 uJ (2^-16 J)."""
    samples: int | None = None
    """How often the firmware sampled; the residencies below count in how many of these samples a limit applied."""
    prochot: int | None = None
    power: int | None = None
    socket_heat: int | None = None
    regulator_heat: int | None = None
    memory_heat: int | None = None
    clock_mhz: int | None = None
    xgmi_width: int | None = None
    xgmi_gbit_per_s: int | None = None
    """Of one lane."""
    xgmi_read_kb: tuple[int, ...] = ()
    xgmi_written_kb: tuple[int, ...] = ()
    xgmi_status: tuple[int, ...] = ()
    """Of each link: 1 is up, 0 is down; anything else is a link that is not in use, or not reported."""


class _Layout(NamedTuple):
    size: int
    offsets: dict[str, tuple[str, int]]
    """Field of `Metrics` -> struct code and offset."""


def _dgpu_1(size: int, **more: int) -> _Layout:
    """v1.1 to v1.3: boards up to MI250 and Radeon RX 7000."""
    return _Layout(size, {"energy": ("Q", 24), "clock_mhz": ("H", 54)} | {name: ("Q", at) for name, at in more.items()})


def _mi300(
    size: int, energy: int, xgmi: int, xgmi_data: int, clock: int, residency: int | None, status: int | None = None
) -> _Layout:
    """v1.4 to v1.8: MI300 and later. `residency` is the offset of accumulation_counter, which the five residencies follow."""
    offsets = {
        "energy": ("Q", energy),
        "xgmi_width": ("H", xgmi),
        "xgmi_gbit_per_s": ("H", xgmi + 2),
        "xgmi_read_kb": (f"{_LINKS}Q", xgmi_data),
        "xgmi_written_kb": (f"{_LINKS}Q", xgmi_data + 8 * _LINKS),
        "clock_mhz": ("H", clock),
    }
    if residency is not None:
        names = ("samples", "prochot", "power", "socket_heat", "regulator_heat", "memory_heat")
        offsets |= {name: ("I", residency + 4 * step) for step, name in enumerate(names)}
    if status is not None:
        offsets["xgmi_status"] = (f"{_LINKS}H", status)
    return _Layout(size, offsets)


_LAYOUTS: dict[tuple[int, int], _Layout] = {
    (1, 1): _dgpu_1(96),
    (1, 2): _dgpu_1(104),
    (1, 3): _dgpu_1(120, throttle_bits=112),
    (1, 4): _mi300(288, energy=24, xgmi=52, xgmi_data=104, clock=240, residency=None),
    (1, 5): _mi300(360, energy=88, xgmi=116, xgmi_data=176, clock=312, residency=None),
    (1, 6): _mi300(1664, energy=16, xgmi=64, xgmi_data=128, clock=264, residency=32),
    (1, 7): _mi300(2208, energy=24, xgmi=72, xgmi_data=136, clock=296, residency=40, status=264),
    (1, 8): _mi300(3360, energy=24, xgmi=72, xgmi_data=136, clock=296, residency=40, status=264),
    (2, 2): _Layout(128, {"throttle_bits": ("Q", 120), "clock_mhz": ("H", 76)}),
    (2, 3): _Layout(152, {"throttle_bits": ("Q", 120), "clock_mhz": ("H", 76)}),
    (2, 4): _Layout(168, {"throttle_bits": ("Q", 120), "clock_mhz": ("H", 76)}),
}

_BITS: tuple[tuple[range, ThrottleReason], ...] = (
    (range(8), "sw_power_cap"),  # PPT0 to PPT3, SPL, FPPT, SPPT: limits on power that the firmware keeps
    (range(16, 24), "hw_current"),  # TDC and EDC of each rail, APCC
    (range(32, 46), "hw_thermal"),  # GPU, memory, edge, hotspot, SoC, regulators, liquid, VRHOT
    (range(46, 48), "hw_slowdown"),  # PROCHOT: a wire by which the board or the CPU asks for it
)
"""Bits of indep_throttle_status -> nearest of NVML's words. PPM and FIT (56, 57) are not limits that a user could change."""


def decode(table: bytes) -> Metrics:
    """The table.

    Raises:
        ValueError: it is cut short, or of a revision that is not known here.
    """
    if len(table) < 4:
        raise ValueError(f"gpu_metrics holds {len(table)} bytes, no header")
    size, major, minor = struct.unpack_from("<HBB", table)
    layout = _LAYOUTS.get((major, minor))
    if layout is None:
        raise ValueError(f"gpu_metrics v{major}.{minor} is not known to hwtop")
    if size != layout.size or len(table) < size:
        raise ValueError(f"gpu_metrics v{major}.{minor} of {len(table)} bytes, {layout.size} expected")
    fields = {name: _value(table, code, at) for name, (code, at) in layout.offsets.items()}
    return Metrics(revision=(major, minor), **fields)  # type: ignore[arg-type]


def throttle_reasons(bits: int) -> tuple[ThrottleReason, ...]:
    """Names of the limits that hold now."""
    return tuple(name for span, name in _BITS if any(bits >> bit & 1 for bit in span))


def _value(table: bytes, code: str, at: int) -> int | tuple[int, ...] | None:
    values: tuple[int, ...] = struct.unpack_from(f"<{code}", table, at)
    unset = (1 << 8 * struct.calcsize(f"<{code[-1]}")) - 1
    if len(values) > 1:
        return values if code.endswith("H") else tuple(value for value in values if value != unset)
    return None if values[0] == unset else values[0]

"""GPUs that are a part of the processor (GB10, Jetson, Thor): they use the host's RAM, and NVML answers much of them with zeros.

Seen in public reports of owners: NVML of a Jetson Orin returns success with zeros, or refuses everything (wentbackward/nv-monitor #10
and #17, rbonghi/jetson_stats #889); that of a GB10 refuses the memory (XuehaiPan/nvitop #208) and names a PCIe link of generation 1 with
one lane (Syllo/nvtop #426). The files of the kernel are those that jetson_stats reads (jtop/core/gpu.py).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Refused
from hwtop.collectors.procfs import read_text
from hwtop.model.gpu.device import UNIFIED_MEMORY

_NAMES = re.compile(r"\b(GB10|N1X|Thor|Orin|Xavier|Tegra)\b")
_DEVFREQ = re.compile(r"\.(gpu|g[a-z][0-9]+b)$|^gpu-gpc-[0-9]+$")
"""Devices of the GPU in /sys/class/devfreq: "17000000.gpu", "17000000.gv11b", "gpu-gpc-0" (Thor)."""
_THERMAL = ("gpu-thermal", "gpu-therm")
"""Types of the thermal zone of the GPU, in lower case."""
_NEVER_ZERO = (
    *("temp_c", "power_w", "sm_clock_mhz", "sm_clock_max_mhz", "mem_clock_mhz", "mem_clock_max_mhz"),
    *(
        "power_limit_w",
        "power_limit_default_w",
        "power_limit_max_w",
        "mem_temp_c",
        "temp_slowdown_c",
        "temp_shutdown_c",
    ),
)
_ZERO = "not reported: NVML answers 0 for this integrated GPU"
_BESIDE_THEM = ("mem_util_pct", "encoder_pct", "decoder_pct", "throttle", "pstate", "fan_pct")
"""What may well be zero, but not read where NVML answers 0 W."""
_NO_PCIE = "integrated GPU: not on a PCIe slot"
_PCIE = ("pcie_gen", "pcie_gen_max", "pcie_width", "pcie_width_max", "bar1_used_bytes", "bar1_total_bytes")
_MEMORY = ("mem_used_bytes", "mem_total_bytes", "mem_reserved_bytes")


def is_integrated(name: object) -> bool:
    """Whether a GPU of this name uses the host's RAM. GH200 does not: it has memory of its own, which NVML reports."""
    return isinstance(name, str) and _NAMES.search(name) is not None


def from_kernel(values: Mapping[str, Any], sys: str) -> Mapping[str, Any]:
    """What the kernel knows of an integrated GPU, in place of NVML's answers; of any other GPU nothing."""
    if not is_integrated(values.get("name")):
        return {}
    found: dict[str, Any] = dict(_sysfs(sys))
    if "util_pct" not in found and values.get("power_w") == 0:
        found["util_pct"] = Refused("nvmlDeviceGetUtilizationRates", codes.NOT_SUPPORTED, "", _ZERO)
    return found


def understood(values: Mapping[str, Any], missing: Mapping[str, str]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """What NVML's answers about an integrated GPU mean; those about any other are left as they are."""
    if not is_integrated(values.get("name")):
        return values, missing
    zeros = _NEVER_ZERO if values.get("power_w") != 0 else (*_NEVER_ZERO, *_BESIDE_THEM)
    refused = {field: _ZERO for field in zeros if values.get(field) in (0, ())}
    refused |= dict.fromkeys(_MEMORY, UNIFIED_MEMORY) | dict.fromkeys(_PCIE, _NO_PCIE)
    return {**values, **dict.fromkeys(refused)}, {**missing, **refused}


def _sysfs(sys: str) -> dict[str, float]:
    found: dict[str, float] = {}
    device = _devfreq(sys)
    if device is None:
        return found
    for field, path, scale in (
        ("util_pct", "device/load", 0.1),  # in tenths of a percent
        ("sm_clock_mhz", "cur_freq", 1e-6),
        ("sm_clock_max_mhz", "max_freq", 1e-6),
    ):
        number = _number(f"{device}/{path}")
        if number is not None:
            found[field] = number * scale
    temp_mc = next(
        (_number(f"{zone}/temp") for zone in glob.glob(f"{sys}/class/thermal/thermal_zone*") if _is_gpu(zone)), None
    )
    if temp_mc is not None:
        found["temp_c"] = temp_mc * 1e-3
    return found


def _devfreq(sys: str) -> str | None:
    folder = f"{sys}/class/devfreq"
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    return next((f"{folder}/{name}" for name in names if _DEVFREQ.search(name)), None)


def _is_gpu(zone: str) -> bool:
    try:
        return read_text(f"{zone}/type").strip().lower() in _THERMAL
    except OSError:
        return False


def _number(path: str) -> int | None:
    """A sensor whose power is off refuses to be read."""
    try:
        return int(read_text(path))
    except (OSError, ValueError):
        return None

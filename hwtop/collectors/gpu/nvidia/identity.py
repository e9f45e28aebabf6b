"""Which NVIDIA GPU it is."""

from __future__ import annotations

import math
from typing import Any

from hwtop.collectors.gpu.nvidia.ask import Group, asked, one


def pci_bus_id(pci: Any) -> str:
    """The address as sysfs and dmesg spell it ("0000:1b:00.0"); NVML writes the domain with eight digits."""
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"


IDENTITY = Group(
    math.inf,
    (
        one("name", "nvmlDeviceGetName"),
        one("uuid", "nvmlDeviceGetUUID"),
        asked(("pci_bus_id",), (("nvmlDeviceGetPciInfo", ()),), lambda pci: (pci_bus_id(pci),)),
    ),
)

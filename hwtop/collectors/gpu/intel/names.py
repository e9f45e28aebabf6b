"""Names of Intel's discrete GPUs by PCI device id: the kernel reports none. From include/drm/intel/pciids.h and pci-ids.ucw.cz."""

from __future__ import annotations

INTEGRATED = "0000:00:02.0"
"""Where the graphics inside Intel's CPUs always are. They share the CPU's memory and train nothing."""

_NAMES = {
    0x0BD5: "Intel Data Center GPU Max 1550",
    0x0BD6: "Intel Data Center GPU Max 1550",
    0x0BDA: "Intel Data Center GPU Max 1100",
    0x0BDB: "Intel Data Center GPU Max 1100",
    0x56C0: "Intel Data Center GPU Flex 170",
    0x56C1: "Intel Data Center GPU Flex 140",
    0x56A0: "Intel Arc A770",
    0x56A1: "Intel Arc A750",
    0x56A2: "Intel Arc A580",
    0x56A5: "Intel Arc A380",
    0x56A6: "Intel Arc A310",
    0x56B0: "Intel Arc Pro A30M",
    0x56B1: "Intel Arc Pro A40/A50",
    0xE20B: "Intel Arc B580",
    0xE20C: "Intel Arc B570",
    0xE211: "Intel Arc Pro B60",
    0xE212: "Intel Arc Pro B50",
}


def name_of(device_id: int) -> str:
    """By the table, else the number."""
    return _NAMES.get(device_id, f"Intel GPU {device_id:#06x}")

"""PCI devices of one vendor as sysfs lists them. The kernel keeps these files in memory: reading them wakes no device."""

from __future__ import annotations

import os

from msgspec import Struct

AMD, INTEL, HABANA, NVIDIA, GOOGLE = 0x1002, 0x8086, 0x1DA3, 0x10DE, 0x1AE0
"""Vendors, as the PCI SIG numbers them."""

_GRAPHICS = (0x03, 0x12)
"""PCI classes: display controllers and processing accelerators."""


class PciDevice(Struct, frozen=True, kw_only=True):
    """One function of one device."""

    address: str
    """Domain, bus, device and function: "0000:00:04.0"."""
    device: int
    subsystem: int | None
    class_code: int | None
    """Class, subclass and interface: 0x030200 is a 3D controller (PCI Code and ID Assignment Specification)."""
    iommu_group: str | None
    """Name of its file in /dev/vfio where it is handed to user space."""


def pci_devices(vendor: int, sys: str = "/sys") -> tuple[PciDevice, ...]:
    """All functions of this vendor, by address; none where there is no PCI."""
    folder = f"{sys}/bus/pci/devices"
    try:
        addresses = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(
        PciDevice(
            address=address,
            device=device,
            subsystem=_number(f"{folder}/{address}/subsystem_device"),
            class_code=_number(f"{folder}/{address}/class"),
            iommu_group=_group(f"{folder}/{address}/iommu_group"),
        )
        for address in addresses
        if _number(f"{folder}/{address}/vendor") == vendor
        and (device := _number(f"{folder}/{address}/device")) is not None
    )


def graphics_devices(vendor: int, sys: str = "/sys") -> list[PciDevice]:
    """Its GPUs and accelerators, without their sound devices."""
    return [device for device in pci_devices(vendor, sys) if (device.class_code or 0) >> 16 in _GRAPHICS]


def _number(path: str) -> int | None:
    try:
        with open(path) as file:
            return int(file.read(), 16)
    except (OSError, ValueError):
        return None


def _group(path: str) -> str | None:
    try:
        return os.path.basename(os.readlink(path))
    except OSError:
        return None

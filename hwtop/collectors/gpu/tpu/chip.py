"""TPU chips of this machine and who holds them: PCI devices of Google, their device files, and the processes that have these open.

PCI numbers and device files: github.com/AI-Hypercomputer/cloud-accelerator-diagnostics, tpu_info/device.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct

from hwtop.collectors.gpu.pci import GOOGLE, PciDevice, pci_devices

_V2_V3 = 0x0027
_KINDS = {0x005E: "TPU v4", 0x0063: "TPU v5e", 0x0062: "TPU v5p", 0x006F: "TPU v6e", 0x0076: "TPU7x"}
_OLD_KINDS = {0x004E: "TPU v2", 0x004F: "TPU v3"}
"""By subsystem: the two share a device number."""
_TWO_CORES = frozenset({"TPU v2", "TPU v3", "TPU7x"})
"""Two devices for the frameworks; all others are one."""


class TpuChip(Struct, frozen=True, kw_only=True):
    """One chip."""

    address: str
    """PCI address without the function: a TPU7x has one function for each of its two cores."""
    kind: str
    cores: int
    paths: tuple[str, ...]
    """Its device files: /dev/accel0 (v2 to v4), or /dev/vfio/0 for each function (later)."""


def tpu_chips(sys: str = "/sys") -> tuple[TpuChip, ...]:
    """All chips, in the order of their device files, which is the order of the frameworks."""
    functions: dict[str, list[PciDevice]] = {}
    for device in pci_devices(GOOGLE, sys):
        if _kind(device) is not None:
            functions.setdefault(device.address.rpartition(".")[0], []).append(device)
    accels = _accels(sys)
    chips = []
    for address, devices in functions.items():
        kind = _kind(devices[0]) or ""
        paths = [accels[device.address] for device in devices if device.address in accels]
        paths = paths or [f"/dev/vfio/{device.iommu_group}" for device in devices if device.iommu_group is not None]
        cores = 2 if kind in _TWO_CORES else 1
        chips.append(TpuChip(address=address, kind=kind, cores=cores, paths=tuple(paths)))
    return tuple(sorted(chips, key=lambda chip: [_numeric(path) for path in chip.paths] or [_numeric(chip.address)]))


def tpu_owners(paths: Iterable[str], proc: str = "/proc") -> tuple[dict[str, tuple[int, ...]], bool]:
    """Device file -> PIDs that have it open, and whether every process was readable."""
    wanted = set(paths)
    owners: dict[str, set[int]] = {}
    is_complete = True
    for name in os.listdir(proc):
        if not name.isdigit():
            continue
        try:
            held = _open_files(f"{proc}/{name}/fd")
        except PermissionError:
            is_complete = False
            continue
        except OSError:
            continue
        for path in wanted & held:
            owners.setdefault(path, set()).add(int(name))
    return {path: tuple(sorted(pids)) for path, pids in owners.items()}, is_complete


def _open_files(folder: str) -> set[str]:
    found = set()
    for entry in os.listdir(folder):
        with suppress(OSError):  # closed meanwhile
            found.add(os.readlink(f"{folder}/{entry}"))
    return found


def _kind(device: PciDevice) -> str | None:
    return _OLD_KINDS.get(device.subsystem or 0) if device.device == _V2_V3 else _KINDS.get(device.device)


def _accels(sys: str) -> dict[str, str]:
    """PCI address -> /dev/accelN (class of drivers/accel and of Google's own driver)."""
    folder = f"{sys}/class/accel"
    found = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    for name in names:
        try:
            address = os.path.basename(os.readlink(f"{folder}/{name}/device"))
        except OSError:
            continue
        found[address] = f"/dev/{name}"
    return found


def _numeric(text: str) -> list[int | str]:
    """ "/dev/vfio/10" after "/dev/vfio/9"."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]

"""Which mounts the job uses, and which device or server each of them stands on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from hwtop.lazy_regex import lazy_regex
from hwtop.model.host.disk import MountReading

_NVME_DISK = lazy_regex(r"(nvme\d+)(?:c\d+)?n\d+\w*")
"""A name space of a controller: "nvme0n1" of "nvme0"."""
_PARTITION = lazy_regex(r"((?:sd|vd|xvd|hd)[a-z]+)\d+|((?:nvme\d+n|mmcblk|md)\d+)p\d+")


def mounts_of(paths: Iterable[str], mounts: Sequence[MountReading]) -> tuple[MountReading, ...]:
    """The mounts on which these absolute paths lie."""
    points = {mount.mount_point: mount for mount in mounts}
    used: dict[str, MountReading] = {}
    for path in paths:
        folder = path
        while folder not in points and folder not in ("/", ""):
            folder = os.path.dirname(folder)
        if folder in points:
            used[folder] = points[folder]
    return tuple(used.values())


def lies_on(
    mount: MountReading, device: str, block_devices: Mapping[str, tuple[str, ...]], aliases: Mapping[str, str]
) -> bool:
    """Whether the file system lies on `device` ("sda", "sda1", "dm-0", "nvme0"), also through RAID and logical volumes.

    `block_devices` and `aliases` are those of KernelReading.
    """
    if not mount.device.startswith("/dev/"):
        return False
    name = mount.device.removeprefix("/dev/")
    name = next((known for known, alias in aliases.items() if alias == name), name)
    below = {name, *block_devices.get(name, ()), *_disk_of(name)}
    below |= {disk for each in tuple(below) for disk in _disk_of(each)}
    return device in below or any(
        (part := _NVME_DISK.fullmatch(each)) is not None and part[1] == device for each in below
    )


def nfs_server(device: str) -> str:
    """The server of "server:/export" and of "[address]:/export"."""
    return device.partition(":/")[0].strip("[]")


def _disk_of(name: str) -> tuple[str, ...]:
    found = _PARTITION.fullmatch(name)
    return (found[1] or found[2],) if found is not None else ()

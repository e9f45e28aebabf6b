"""Which whole disks the partitions, RAIDs and logical volumes of this machine are on, from /sys/block."""

from __future__ import annotations

import os

from hwtop.collectors.procfs import read_text


def disks_below(sys: str = "/sys") -> dict[str, tuple[str, ...]]:
    """ "sda1", "md0", "dm-0" -> names of the whole disks below it; disks themselves are left out."""
    direct: dict[str, tuple[str, ...]] = {}
    for disk in _names(f"{sys}/block"):
        direct |= dict.fromkeys(_partitions(f"{sys}/block/{disk}", disk), (disk,))
        slaves = _names(f"{sys}/block/{disk}/slaves")
        if slaves:
            direct[disk] = slaves
    return {name: found for name in direct if (found := _bottom(name, direct, 0)) != (name,)}


def mapper_names(sys: str = "/sys") -> dict[str, str]:
    """ "dm-0" -> "mapper/vg-data", the path below /dev under which it is mounted."""
    names = {}
    for disk in _names(f"{sys}/block"):
        if disk.startswith("dm-"):
            try:
                names[disk] = "mapper/" + read_text(f"{sys}/block/{disk}/dm/name").strip()
            except OSError:
                continue
    return names


def _bottom(name: str, direct: dict[str, tuple[str, ...]], depth: int) -> tuple[str, ...]:
    below = direct.get(name, ())
    if not below or depth > 8:
        return (name,)
    return tuple(dict.fromkeys(disk for each in below for disk in _bottom(each, direct, depth + 1)))


def _partitions(folder: str, disk: str) -> list[str]:
    return [name for name in _names(folder) if name.startswith(disk) and os.path.exists(f"{folder}/{name}/partition")]


def _names(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()

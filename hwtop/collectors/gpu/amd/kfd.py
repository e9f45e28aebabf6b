"""What AMD's compute driver reports in /sys/class/kfd/kfd: GPUs as ROCm sees them, their links, and who uses them.

A ROCm job leaves few traces in the graphics driver: its queues are the compute driver's, so this is the truth of who trains.
The files are readable by everyone, also for processes of other users. Drivers/gpu/drm/amd/amdkfd/kfd_topology.c, kfd_process.c.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from hwtop.collectors.gpu.drm.sysfs import Files, folders
from hwtop.collectors.procfs import named_numbers

XGMI = 11
"""HSA_IOLINKTYPE_XGMI; 2 is PCIe (amdkfd/kfd_crat.h, CRAT_IOLINK_TYPE_*)."""


class KfdLink(NamedTuple):
    """From one node to another, in one direction."""

    kind: int
    to_node: int
    max_mb_per_s: int


class KfdNode(NamedTuple):
    """A GPU, or one partition of it, as ROCm numbers them."""

    number: int
    gpu_id: int
    pci_bus_id: str
    links: tuple[KfdLink, ...]


class KfdUse(NamedTuple):
    """Memory that one process holds on one GPU, over all of its partitions."""

    pid: int
    """Of the host, also where this is read in a container."""
    pci_bus_id: str
    vram_bytes: int
    pasid: int = 0
    """Number of its address space; 0 where it is not reported."""


def read_nodes(files: Files, sys: str) -> tuple[KfdNode, ...]:
    """All GPU nodes that may be seen here: a container shows only its own. () without the compute driver."""
    root = f"{sys}/class/kfd/kfd/topology/nodes"
    nodes = (_node(files, folder) for folder in folders(root, ""))
    return tuple(node for node in nodes if node is not None)


def read_uses(files: Files, sys: str, nodes: tuple[KfdNode, ...]) -> tuple[KfdUse, ...] | None:
    """Which process holds memory on which GPU; None where the compute driver is not loaded."""
    root = f"{sys}/class/kfd/kfd/proc"
    addresses = {node.gpu_id: node.pci_bus_id for node in nodes}
    try:
        pids = sorted(int(name) for name in os.listdir(root) if name.isdecimal())
    except OSError:
        return None
    held: dict[tuple[int, str], int] = {}
    pasids = {pid: _pasid(files, f"{root}/{pid}") for pid in pids}
    for pid in pids:
        for gpu_id, vram_bytes in _vram(files, f"{root}/{pid}").items():
            if gpu_id in addresses:
                key = (pid, addresses[gpu_id])
                held[key] = held.get(key, 0) + vram_bytes
    return tuple(KfdUse(pid, address, vram_bytes, pasids[pid]) for (pid, address), vram_bytes in held.items())


def _node(files: Files, folder: str) -> KfdNode | None:
    try:
        gpu_id = files.number(f"{folder}/gpu_id")
        properties = named_numbers(files.text(f"{folder}/properties"))
        if gpu_id == 0:  # a CPU
            return None
        address = _pci_bus_id(properties["domain"], properties["location_id"])
    except (OSError, ValueError, KeyError):  # not permitted in this container, or just gone
        return None
    links = (_link(files, path) for path in folders(f"{folder}/io_links", ""))
    number = int(os.path.basename(folder))
    return KfdNode(number, gpu_id, address, tuple(link for link in links if link is not None))


def _link(files: Files, folder: str) -> KfdLink | None:
    try:
        properties = named_numbers(files.text(f"{folder}/properties"))
        return KfdLink(properties["type"], properties["node_to"], properties["max_bandwidth"])
    except (OSError, ValueError, KeyError):
        return None


def _vram(files: Files, folder: str) -> dict[int, int]:
    """gpu_id -> bytes, of the files vram_GPUID. A process that ends meanwhile holds nothing."""
    found = {}
    try:
        for name in os.listdir(folder):
            kind, _, gpu_id = name.partition("_")
            if kind == "vram" and gpu_id.isdecimal():
                found[int(gpu_id)] = files.number(f"{folder}/{name}")
    except (OSError, ValueError):
        return {}
    return found


def _pasid(files: Files, folder: str) -> int:
    try:
        return files.number(f"{folder}/pasid")
    except (OSError, ValueError):
        return 0


def _pci_bus_id(domain: int, location: int) -> str:
    """`location` is bus, device and function; its upper bits number the partition."""
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"

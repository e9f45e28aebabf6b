"""How a GPU is joined to the host, from the kernel's PCI files: link, NUMA node, and the way to another GPU."""

from __future__ import annotations

import os
import re
from itertools import takewhile

from hwtop.collectors.gpu.drm.sysfs import Fields, Files, NotReported
from hwtop.model.gpu.link import Path

_GT_PER_S = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""Giga-transfers a second -> PCIe generation (include/uapi/linux/pci_regs.h, PCI_EXP_LNKCAP_SLS_*)."""
_SPEED = re.compile(r"([\d.]+) GT/s")
_ROOT = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
_BRIDGE = 0x0604


def read_pcie(files: Files, device: str, slot: str, fields: Fields) -> None:
    """The link of the slot (`slot_of`), the NUMA node and the near CPUs.

    To be read at each tick: drivers slow an idle link down, and an old reading would be held against a busy GPU.
    """
    for field, name in (("pcie_gen", "current_link_speed"), ("pcie_gen_max", "max_link_speed")):
        fields.take(field, lambda name=name: _generation(files.text(f"{slot}/{name}")))  # type: ignore[misc]
    for field, name in (("pcie_width", "current_link_width"), ("pcie_width_max", "max_link_width")):
        fields.take(field, lambda name=name: _width(files.number(f"{slot}/{name}")))  # type: ignore[misc]
    fields.take("numa_node", lambda: _node(files.number(f"{device}/numa_node")))
    fields.take("cpus", lambda: _cpus(files.text(f"{device}/local_cpulist")))


def slot_of(files: Files, device: str) -> str:
    """The function whose link is the one to the host.

    Many boards (Radeon since Navi, Arc, Flex) carry a PCIe switch of the GPU's maker: the GPU's own link ends there, is
    always the same, and says nothing of the slot. The upper end of that switch does. A root port is the host's, even where
    the host's maker is the GPU's.
    """
    vendor, here = _vendor(files, device), device
    while True:
        parent = os.path.dirname(here)
        is_root_port = bool(_ROOT.fullmatch(os.path.basename(os.path.dirname(parent))))
        if is_root_port or _vendor(files, parent) != vendor or not _is_bridge(files, parent):
            return here
        here = parent


def path_between(one: str, other: str, node: int | None, other_node: int | None) -> Path:
    """The way between two devices, by what their places in the tree of PCI devices share.

    `one` and `other` are the devices (or the upper ends of the switches on their boards, `slot_of`), without symbolic
    links. One switch above both is PIX: its upper port is shared, a lower port and the device are each one's own.
    """
    steps, other_steps = _steps(one), _steps(other)
    shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(steps, other_steps, strict=False))])
    if shared > 1:
        return "PIX" if max(len(steps), len(other_steps)) - shared <= 2 else "PXB"
    if shared == 1:
        return "PHB"
    if node is None or other_node is None:
        return "UNKNOWN"
    return "NODE" if node == other_node else "SYS"


def _steps(device: str) -> list[str]:
    """From the host bridge down to the device: ["pci0000:00", "0000:00:01.1", "0000:03:00.0"]."""
    parts = device.split("/")
    start = next((i for i, part in enumerate(parts) if _ROOT.fullmatch(part)), len(parts))
    return parts[start:]


def _vendor(files: Files, device: str) -> str | None:
    try:
        return files.text(f"{device}/vendor")
    except OSError:
        return None


def _is_bridge(files: Files, device: str) -> bool:
    try:
        return int(files.text(f"{device}/class"), 16) >> 8 == _BRIDGE
    except (OSError, ValueError):
        return False


def _generation(text: str) -> int:
    match = _SPEED.match(text)
    generation = _GT_PER_S.get(float(match.group(1))) if match else None
    if generation is None:
        raise NotReported(f"the kernel does not know the link's speed ({text[:20]!r})")
    return generation


def _width(runners: int) -> int:
    if runners in (0, 255):  # "unknown" in the kernel's words (PCIE_LNK_WIDTH_UNKNOWN)
        raise NotReported("the kernel does not know the link's width")
    return runners


def _node(node: int) -> int:
    if node < 0:
        raise NotReported("the firmware names no NUMA node (one socket, or a virtual machine)")
    return node


def _cpus(text: str) -> str:
    if not text:
        raise NotReported("the firmware names no CPUs near to this GPU")
    return text

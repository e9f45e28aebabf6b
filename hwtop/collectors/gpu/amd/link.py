"""xGMI links of an AMD GPU: who is at the other end, by the compute driver; which are up, by the firmware's table.

The firmware numbers links, the compute driver names peers, and nothing reports which is which. Error counts of a link are
left alone: reading xgmi_error clears it.
"""

from __future__ import annotations

from hwtop.collectors.gpu.amd.kfd import XGMI, KfdNode
from hwtop.model.gpu.link import NvLink

_COUNTS = ("replay_errors", "recovery_errors", "crc_errors", "ecc_errors", "packet_errors")


def peers_of(nodes: tuple[KfdNode, ...], pci_bus_id: str) -> dict[str, int]:
    """PCI address of each GPU that is linked to this one -> MB a second in one direction, 0 where it is not reported."""
    addresses = {node.number: node.pci_bus_id for node in nodes}
    return {
        peer: link.max_mb_per_s
        for node in nodes
        if node.pci_bus_id == pci_bus_id
        for link in node.links
        if link.kind == XGMI and (peer := addresses.get(link.to_node)) is not None and peer != pci_bus_id
    }


def links_of(nodes: tuple[KfdNode, ...], pci_bus_id: str, links_up: dict[int, bool]) -> tuple[NvLink, ...]:
    """By peer while all links are up, or none is reported to be down; by the firmware's number as soon as one is down."""
    peers = sorted(peers_of(nodes, pci_bus_id).items())
    if peers and not all(links_up.values()):
        reason = "the firmware reports the links, but not which GPUs they connect"
        return tuple(
            NvLink(link=number, is_up=is_up, missing=_gaps(reason, "peer", "speed_bytes_per_s"))
            for number, is_up in links_up.items()
        )
    is_up = True if links_up else None
    unknown = [] if is_up else ["is_up"]
    return tuple(
        NvLink(
            link=number,
            is_up=is_up,
            peer=peer,
            speed_bytes_per_s=speed * 1e6 or None,
            missing=_gaps("not reported by amdgpu for this GPU", *unknown, *([] if speed else ["speed_bytes_per_s"])),
        )
        for number, (peer, speed) in enumerate(peers)
    )


def _gaps(reason: str, *fields: str) -> dict[str, str]:
    counts = dict.fromkeys(_COUNTS, "amdgpu clears the errors of a link when it reports them")
    return counts | dict.fromkeys(("version", *fields), reason)

"""How accelerators are joined to each other and to the host."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Path = Literal["SELF", "NVLINK", "PIX", "PXB", "PHB", "NODE", "SYS", "XGMI", "UNKNOWN"]
"""The way between two devices, from near to far, as `nvidia-smi topo -m` spells it: one PCIe switch (PIX), several (PXB), the host
bridge (PHB), the NUMA node (NODE), between sockets (SYS)."""


class NvLink(Struct, frozen=True, gc=False, kw_only=True):
    """One link of one device. Error counters grow since the driver was loaded."""

    link: int
    is_up: bool | None
    peer: str | None = None
    """"switch", or the PCI bus id of the device at the other end."""
    version: int | None = None
    speed_bytes_per_s: float | None = None
    """In one direction."""
    replay_errors: int | None = None
    recovery_errors: int | None = None
    crc_errors: int | None = None
    ecc_errors: int | None = None
    packet_errors: int | None = None
    """Packets that came with errors: what Blackwell and later count in place of replays and CRC errors."""
    missing: dict[str, str] = {}


class Topology(Struct, frozen=True, gc=False, kw_only=True):
    """The way between any two devices."""

    indexes: tuple[int, ...]
    """`Gpu.index` of each row and column."""
    paths: tuple[tuple[Path, ...], ...]
    links: tuple[tuple[int, ...], ...] = ()
    """How many NVLinks (or xGMI links) join the two directly or through switches; 0 where none do."""

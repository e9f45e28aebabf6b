"""The kernel's log: the records of its ring buffer, as they are read."""

from __future__ import annotations

from msgspec import Struct

LOG_KERN = 0
"""Facility of what the kernel itself says. User space cannot use it (Documentation/ABI/testing/dev-kmsg), so such a record is
never made up by a program that writes to /dev/kmsg."""


class KernelLine(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One record; those that the kernel wrote in pieces are joined."""

    text: str
    at_s: float
    """On the clock of the snapshots (CLOCK_MONOTONIC), also for records that are older than hwtop."""
    level: int
    """0 emergency to 7 debug (syslog(2))."""
    facility: int = LOG_KERN
    sequence: int | None = None
    """Number of the record since boot; None where the journal does not tell it."""
    is_past: bool = False
    """It was there before hwtop came."""
    device: str | None = None
    """What the driver says it is about: "+pci:0000:18:00.0", "b8:0", "n2" (DEVICE= of dev-kmsg)."""


class KernelReading(Struct, frozen=True, gc=False, kw_only=True):
    """The new records; each appears in exactly one reading."""

    at_s: float
    origin: str
    """"/dev/kmsg" or "journalctl"."""
    lines: tuple[KernelLine, ...]
    has_host_pids: bool = True
    """The PIDs in the records are those that /proc shows here; not so in a PID namespace of a container."""
    lost_lines: int = 0
    """Records that were overwritten, or too long, before they could be read."""
    skipped_lines: int = 0
    """Records of a flood, or of long ago, that no log pattern could match and that were therefore not kept."""
    block_devices: dict[str, tuple[str, ...]] = {}
    """"sda1", "dm-0", "md0" -> the whole disks that it lies on; only those that lie on others."""
    aliases: dict[str, str] = {}
    """"dm-0" -> "mapper/vg-data": the name that the table of mounts has for it."""
    missing: dict[str, str] = {}

"""Block devices and mounts."""

from __future__ import annotations

from msgspec import Struct


class DiskCounters(Struct, frozen=True, gc=False, kw_only=True):
    """One whole block device (Documentation/admin-guide/iostats.rst). None: not reported on this operating system."""

    name: str
    reads: int
    read_bytes: int
    read_ms: int
    writes: int
    written_bytes: int
    write_ms: int
    in_flight: int | None
    busy_ms: int | None
    weighted_ms: int | None


class MountReading(Struct, frozen=True, gc=False, kw_only=True):
    """Room on one mounted file system (statvfs), read where it can be abandoned."""

    mount_point: str
    device: str
    fs_type: str
    total_bytes: int | None = None
    used_bytes: int | None = None
    available_bytes: int | None = None
    """Free for an ordinary user."""
    inodes_used_pct: float | None = None
    reason: str | None = None
    """Why the numbers are missing, e.g. "not answering for 12 s"."""


class DiskReading(Struct, frozen=True, gc=False, kw_only=True):
    """All whole block devices and the mounts that matter (real file systems and /dev/shm)."""

    at_s: float
    disks: tuple[DiskCounters, ...]
    mounts: tuple[MountReading, ...]
    missing: dict[str, str] = {}


class DiskRates(Struct, frozen=True, gc=False, kw_only=True):
    """One device over one interval."""

    name: str
    read_bytes_per_s: float | None
    write_bytes_per_s: float | None
    reads_per_s: float | None
    writes_per_s: float | None
    latency_ms: float | None
    """Mean time of one finished request, queue included; None when none finished."""
    busy_pct: float | None
    in_flight: int | None

"""disk-saturated, disk-nearly-full: the disks under the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.kernel.mount_use import mounts_of
from hwtop.job.rank_set import named
from hwtop.job.size import GIB, part, size
from hwtop.model.frame import DerivedState
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.host.resources import DISK as DISKS
from hwtop.symptoms.host.resources import INODES, MEMORY_FS, outlooks
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

WAITS_SHARE = 0.2
"""A rank that spends so much of its samples in phases of reading and writing waits for the disk. Engineering default."""


DISK = limits_of("disk-saturated")


ROOM = limits_of("disk-nearly-full")


class _Saturated(Struct, frozen=True):
    disk: DiskRates
    busy_pct: float
    latency_ms: float


def check_saturated(history: History, limits: Limits = DISK) -> Observation | None:
    """A disk is at its limit, and somebody waits for it."""
    stalled = history.mean(limits.window_s, some_pct("io"))
    hit = list(_saturated(history, limits))
    if not hit or (stalled is not None and stalled < limits.stalled_pct):
        return None
    worst = max(hit, key=lambda each: each.latency_ms)
    disk = worst.disk
    waiting = [rank.rank for rank in history.live_ranks if _waits_for_disks(rank)]
    return observed(
        "disk-saturated",
        severity="warning" if waiting else "info",
        facts={"disk": disk.name, "busy_pct": worst.busy_pct, "latency_ms": worst.latency_ms},
        confidence=0.85 if waiting else 0.6,
        evidence=(
            f"over {limits.window_s:g} s, {disk.in_flight} requests under way now",
            f"now {_mb(disk.read_bytes_per_s)} MB/s read, {_mb(disk.write_bytes_per_s)} MB/s written",
            *((f"tasks were stalled for I/O in {stalled:.0f} % of the time",) if stalled is not None else ()),
            *((f"{named(waiting)}: much of the time in data loading or checkpoints",) if waiting else ()),
        ),
        ranks=tuple(waiting),
    )


def may_be_full(mounts: Sequence[MountReading]) -> bool:
    """One of them has hardly any room left, or nothing is known of them."""
    known = [mount for mount in mounts if mount.available_bytes is not None]
    return not known or any((mount.available_bytes or 0) < ROOM.scarce_gb * GIB for mount in known)


def check_nearly_full(history: History, limits: Limits = ROOM) -> Observation | None:
    """A file system has hardly any room left, or will have; those that the job writes its logs and metrics to count most."""
    used = mounts_of(_written(history.now), history.now.mounts)
    ends = {
        str(point): room
        for resource in (DISKS, INODES)
        for point, room in history.once(outlooks, resource).items()
        if room.runs_out
    }
    full = [
        mount
        for mount in history.now.mounts
        if is_nearly_full(mount, limits) or (mount in used and mount.mount_point in ends)
    ]
    if not full:
        return None
    worst = min(full, key=lambda mount: (mount not in used, mount.available_bytes or 0))
    room = worst.available_bytes or 0
    is_scarce = worst in used and (
        room < GIB * limits.scarce_gb or worst.mount_point in ends or _lacks_inodes(worst, limits)
    )
    left = None if _lacks_inodes(worst, limits) else size(room)
    return observed(
        "disk-nearly-full",
        severity="warning" if is_scarce else "info",
        facts={"mount": worst.mount_point, "left": left},
        confidence=0.95 if worst in used else 0.8,
        evidence=(
            *(f"{mount.mount_point} ({mount.device}): {fullness(mount)}" for mount in full),
            *((f"the job writes to {worst.mount_point}",) if worst in used else ()),
            *(ends[worst.mount_point].words if worst.mount_point in ends else ()),
        ),
    )


def _saturated(history: History, limits: Limits) -> Iterator[_Saturated]:
    if not history.covers(limits.window_s):
        return
    window = history.over(limits.window_s)
    for disk in history.now.disks:
        seen = [each for derived in window for each in derived.disks if each.name == disk.name]
        busy = [each.busy_pct for each in seen if each.busy_pct is not None]
        latency = [each.latency_ms for each in seen if each.latency_ms is not None]
        if len(busy) >= 3 and latency and fmean(busy) >= limits.busy_pct and fmean(latency) >= limits.latency_ms:
            yield _Saturated(disk, fmean(busy), fmean(latency))


def _waits_for_disks(rank: Rank) -> bool:
    share = sum(entry.share for entry in rank.stack.shares if entry.phase in ("data", "data-main", "checkpoint"))
    return share >= WAITS_SHARE or rank.process.os_state == "D"


def is_nearly_full(mount: MountReading, limits: Limits = ROOM) -> bool:
    """Whether hardly any room, or hardly any inodes, are left on it."""
    if mount.fs_type in MEMORY_FS or not mount.total_bytes or mount.available_bytes is None:
        return False  # /dev/shm: shm-nearly-full
    used_pct = 100.0 * (1 - mount.available_bytes / mount.total_bytes)
    return (used_pct >= limits.used_pct and mount.available_bytes < GIB * limits.room_gb) or _lacks_inodes(
        mount, limits
    )


def _lacks_inodes(mount: MountReading, limits: Limits) -> bool:
    return mount.inodes_used_pct is not None and mount.inodes_used_pct >= limits.inodes_pct


def fullness(mount: MountReading) -> str:
    """ "3.1 GiB of 98.0 GiB left, 12 % of the inodes used"."""
    room = f"{part(mount.available_bytes or 0, mount.total_bytes or 0)} left"
    return f"{room}, {mount.inodes_used_pct:.0f} % of the inodes used" if mount.inodes_used_pct is not None else room


def _written(derived: DerivedState) -> list[str]:
    """Files that the job writes, as far as they are known: logs, and metrics that a rank has open."""
    job = derived.job
    if job is None:
        return []
    return [*(log.path for log in job.logs.files), *(file.path for file in job.metrics.files if file.rank is not None)]


def _mb(bytes_per_s: float | None) -> str:
    return "?" if bytes_per_s is None else f"{bytes_per_s / 1e6:.0f}"

"""disk-saturated, disk-nearly-full: the disks under the job."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from msgspec import Struct

from hwtop.job.kernel.mount_use import mounts_of
from hwtop.job.rank_set import named
from hwtop.model.disk import DiskRates, MountReading
from hwtop.model.frame import Moment
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, Percent, Positive, Rule, Window

WAITS_SHARE = 0.2
"""A rank that spends so much of its samples in phases of reading and writing waits for the disk."""
_MEMORY_FS = ("tmpfs", "ramfs", "devtmpfs")


class DiskLimits(Limits, frozen=True, kw_only=True):
    """Of disk-saturated: all must hold."""

    busy_pct: Percent = 95.0
    """Of the time with a request under way. Alone it says little of an SSD, which serves many at once: hence ..."""
    latency_ms: Positive = 20.0
    """... the mean time of a request, queue included: ten times that of a disk that keeps up. Engineering default."""
    stalled_pct: Percent = 10.0
    """PSI some of I/O over 10 s: somebody does wait. Engineering default."""
    window_s: Window = 20.0


DISK = DiskLimits()


class RoomLimits(Limits, frozen=True, kw_only=True):
    """Of disk-nearly-full: both must hold. The size of one checkpoint; engineering defaults."""

    used_pct: Percent = 95.0
    room_gb: Positive = 10.0
    scarce_gb: Positive = 2.0
    """Less than this where the job writes is a warning."""
    inodes_pct: Percent = 98.0
    """Used, whatever the room."""


ROOM = RoomLimits()


class _Saturated(Struct, frozen=True):
    disk: DiskRates
    busy_pct: float
    latency_ms: float


def check_saturated(history: History, limits: DiskLimits = DISK) -> Observation | None:
    """A disk is at its limit, and somebody waits for it."""
    stalled = history.mean(limits.window_s, some_pct("io"))
    hit = list(_saturated(history, limits))
    if not hit or (stalled is not None and stalled < limits.stalled_pct):
        return None
    worst = max(hit, key=lambda each: each.latency_ms)
    disk = worst.disk
    waiting = [rank.rank for rank in history.live_ranks if _waits_for_disks(rank)]
    return Observation(
        severity="warning" if waiting else "info",
        confidence=0.85 if waiting else 0.6,
        title=f"Disk {disk.name} is at its limit: busy {worst.busy_pct:.0f} % of the time, {worst.latency_ms:.0f} ms a request",
        evidence=(
            f"over {limits.window_s:g} s, {disk.in_flight} requests under way now",
            f"now {_mb(disk.read_bytes_per_s)} MB/s read, {_mb(disk.write_bytes_per_s)} MB/s written",
            *((f"tasks were stalled for I/O in {stalled:.0f} % of the time",) if stalled is not None else ()),
            *((f"{named(waiting)}: much of the time in data loading or checkpoints",) if waiting else ()),
        ),
        next_steps=(
            f"iostat -x {disk.name} 1   # reads or writes, queue, latency",
            "sudo iotop -oPa   # who: loader, checkpoint, another job",
            "Cache the data in memory or on another disk; write checkpoints elsewhere or less often",
        ),
        ranks=tuple(waiting),
    )


def check_nearly_full(history: History, limits: RoomLimits = ROOM) -> Observation | None:
    """A file system has hardly any room left; those that the job writes its logs and metrics to count most."""
    full = [mount for mount in history.now.mounts if _is_nearly_full(mount, limits)]
    if not full:
        return None
    used = mounts_of(_written(history.now), history.now.mounts)
    worst = min(full, key=lambda mount: (mount not in used, mount.available_bytes or 0))
    room = worst.available_bytes or 0
    is_scarce = worst in used and (room < 1e9 * limits.scarce_gb or _lacks_inodes(worst, limits))
    left = "hardly a free inode" if _lacks_inodes(worst, limits) else f"{room / 1e9:.1f} GB left"
    return Observation(
        severity="warning" if is_scarce else "info",
        confidence=0.95 if worst in used else 0.8,
        title=f"{worst.mount_point} is nearly full: {left}",
        evidence=(
            *(f"{mount.mount_point} ({mount.device}): {_fullness(mount)}" for mount in full),
            *((f"the job writes to {worst.mount_point}",) if worst in used else ()),
        ),
        next_steps=(
            f"df -h {worst.mount_point}; df -i {worst.mount_point}   # space and inodes",
            f"du -xh --max-depth=2 {worst.mount_point} | sort -h | tail   # what is large",
            "Keep fewer checkpoints (save_total_limit), or write to another disk",
        ),
    )


def _saturated(history: History, limits: DiskLimits) -> Iterator[_Saturated]:
    if not history.covers(limits.window_s):
        return
    window = history.over(limits.window_s)
    for disk in history.now.disks:
        seen = [each for moment in window for each in moment.disks if each.name == disk.name]
        busy = [each.busy_pct for each in seen if each.busy_pct is not None]
        latency = [each.latency_ms for each in seen if each.latency_ms is not None]
        if len(busy) >= 3 and latency and fmean(busy) >= limits.busy_pct and fmean(latency) >= limits.latency_ms:
            yield _Saturated(disk, fmean(busy), fmean(latency))


def _waits_for_disks(rank: Rank) -> bool:
    share = sum(entry.share for entry in rank.phase_shares if entry.phase in ("data", "data-main", "checkpoint"))
    return share >= WAITS_SHARE or rank.os_state == "D"


def _is_nearly_full(mount: MountReading, limits: RoomLimits) -> bool:
    if mount.fs_type in _MEMORY_FS or not mount.total_bytes or mount.available_bytes is None:
        return False  # /dev/shm: shm-nearly-full
    used_pct = 100.0 * (1 - mount.available_bytes / mount.total_bytes)
    return (used_pct >= limits.used_pct and mount.available_bytes < 1e9 * limits.room_gb) or _lacks_inodes(
        mount, limits
    )


def _lacks_inodes(mount: MountReading, limits: RoomLimits) -> bool:
    return mount.inodes_used_pct is not None and mount.inodes_used_pct >= limits.inodes_pct


def _fullness(mount: MountReading) -> str:
    room = f"{(mount.available_bytes or 0) / 1e9:.1f} of {(mount.total_bytes or 0) / 1e9:.0f} GB left"
    return f"{room}, {mount.inodes_used_pct:.0f} % of the inodes used" if mount.inodes_used_pct is not None else room


def _written(moment: Moment) -> list[str]:
    """Files that the job writes, as far as they are known: logs, and metrics that a rank has open."""
    job = moment.job
    if job is None:
        return []
    return [*(log.path for log in job.log_files), *(file.path for file in job.witnesses if file.rank is not None)]


def _mb(bytes_per_s: float | None) -> str:
    return "?" if bytes_per_s is None else f"{bytes_per_s / 1e6:.0f}"


RULES = (
    Rule(
        symptom="disk-saturated",
        category="performance",
        threshold=lambda limits: (
            f"busy over {limits.busy_pct:g} % and {limits.latency_ms:g} ms a request over {limits.window_s:g} s, PSI io over "
            f"{limits.stalled_pct:g} %; a warning when ranks load data or save meanwhile"
        ),
        raise_s=5.0,
        clear_s=20.0,
        check=check_saturated,
        limits=DISK,
    ),
    Rule(
        symptom="disk-nearly-full",
        category="stability",
        threshold=lambda limits: (
            f"over {limits.used_pct:g} % used and under {limits.room_gb:g} GB left, or {limits.inodes_pct:g} % of the inodes used; "
            f"a warning when the job writes there and under {limits.scarce_gb:g} GB are left"
        ),
        raise_s=2.0,
        clear_s=10.0,
        check=check_nearly_full,
        limits=ROOM,
    ),
)

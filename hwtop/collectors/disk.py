"""Block devices and mounts: /proc/diskstats, /sys/block, mountinfo, statvfs."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.mounts import Mount, parse_mountinfo
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.aim import Aim
from hwtop.model.disk import DiskCounters, DiskReading, MountReading

SECTOR_BYTES = 512
"""The unit of diskstats, whatever the device's own sector size is (Documentation/block/stat.rst)."""

MOUNTS_EVERY_S = 5.0
MOUNTS_AT_MOST = 64
STATVFS_DEADLINE_S = 0.25
"""For all mounts together, once: a mount that is known not to answer is not waited for again."""

SHARED_MEMORY = "/dev/shm"
"""The one tmpfs that matters: loader workers hand their batches over in it."""

_NOT_A_DISK = re.compile(r"(loop|ram|zram|sr|fd)\d+|nvme\d+c\d+n\d+")
"""Made of memory or of files, removable media, and single paths of a multipath NVMe disk that is itself listed."""

_PSEUDO = frozenset(
    {
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fuse.gvfsd-fuse",
        "fuse.lxcfs",
        "fuse.portal",
        "fusectl",
        "hugetlbfs",
        "iso9660",
        "mqueue",
        "nfsd",
        "nsfs",
        "proc",
        "pstore",
        "ramfs",
        "resctrl",
        "rootfs",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "smackfs",
        "squashfs",
        "sysfs",
        "tmpfs",
        "tracefs",
    }
)
"""File systems on which nobody runs out of room; touching autofs would even mount something."""


class DiskSource:
    """Counters of whole disks at each tick; room on the mounts each MOUNTS_EVERY_S.

    A target in another mount namespace (a container) is asked for its own mounts, through /proc/PID/root.
    """

    name = "disk"
    every_s = 0.0

    def __init__(
        self,
        *,
        proc: str = "/proc",
        sys: str = "/sys",
        now: Callable[[], float] = time.monotonic,
        statvfs: Callable[[str], os.statvfs_result] = os.statvfs,
    ) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._statvfs = statvfs
        self._target_pid: int | None = None
        self._slots: dict[str, Abandonable[os.statvfs_result]] = {}
        self._mounts: tuple[MountReading, ...] = ()
        self._mounts_missing: dict[str, str] = {}
        self._mounts_at_s: float | None = None

    def probe(self) -> str | None:
        """None: without disks there may still be mounts."""
        return None

    def read(self) -> DiskReading:
        """The reading of now. Never waits for a mount for longer than STATVFS_DEADLINE_S."""
        missing: dict[str, str] = {}
        at_s = self._now()
        disks = self._read_disks(missing)
        if self._mounts_at_s is None or at_s - self._mounts_at_s >= MOUNTS_EVERY_S:
            self._mounts_at_s = at_s
            self._mounts_missing = {}
            self._mounts = self._read_mounts(self._mounts_missing)
        return DiskReading(at_s=at_s, disks=disks, mounts=self._mounts, missing=missing | self._mounts_missing)

    def aim(self, aim: Aim) -> None:
        """Look at the mounts that the target sees."""
        if aim.target_pid != self._target_pid:
            self._target_pid = aim.target_pid
            self._mounts_at_s = None

    def close(self) -> None:
        """A call that is still out ends with the program."""
        self._slots.clear()

    def _read_disks(self, missing: dict[str, str]) -> tuple[DiskCounters, ...]:
        try:
            whole = {name.replace("!", "/") for name in os.listdir(f"{self._sys}/block")}
            text = read_text(f"{self._proc}/diskstats")
        except OSError as error:
            missing["disks"] = reason_of(error)
            return ()
        disks = []
        for line in text.splitlines():
            fields = line.split()
            name = fields[2] if len(fields) > 2 else ""
            if name not in whole or _NOT_A_DISK.fullmatch(name):
                continue
            try:
                disks.append(_counters(name, fields[3:]))
            except ValueError:
                missing[f"disks.{name}"] = f"{self._proc}/diskstats: line cut short or garbled"
        return tuple(disks)

    def _read_mounts(self, missing: dict[str, str]) -> tuple[MountReading, ...]:
        table, prefix = self._mount_table()
        try:
            mounts = _mounts_that_matter(parse_mountinfo(read_text(table)))
        except OSError as error:
            missing["mounts"] = reason_of(error)
            return ()
        if len(mounts) > MOUNTS_AT_MOST:
            missing["mounts"] = f"{len(mounts)} mounts; only the first {MOUNTS_AT_MOST} are read"
            mounts = mounts[:MOUNTS_AT_MOST]
        paths = [prefix + mount.mount_point for mount in mounts]
        answers = self._ask(paths)
        return tuple(_mount_reading(mount, answers[path]) for mount, path in zip(mounts, paths, strict=True))

    def _mount_table(self) -> tuple[str, str]:
        """The mountinfo to read, and what to put before its paths."""
        own = f"{self._proc}/self/mountinfo"
        if self._target_pid is None:
            return own, ""
        target = f"{self._proc}/{self._target_pid}"
        try:
            if os.readlink(f"{target}/ns/mnt") == os.readlink(f"{self._proc}/self/ns/mnt"):
                return own, ""
        except OSError:  # gone, or not ours to look into: then its root is closed to us as well
            return own, ""
        return f"{target}/mountinfo", f"{target}/root"

    def _ask(self, paths: list[str]) -> dict[str, os.statvfs_result | Exception]:
        """Start all calls, then wait for those that did not hang before."""
        self._slots = {path: self._slots.get(path) or self._slot(path) for path in paths}
        hung = {path for path, slot in self._slots.items() if slot.out_for_s() > 0}
        answers = {path: _poll(slot, 0.0) for path, slot in self._slots.items()}
        deadline_s = self._now() + STATVFS_DEADLINE_S
        for path, slot in self._slots.items():
            if isinstance(answers[path], TimeoutError) and path not in hung:
                answers[path] = _poll(slot, max(0.0, deadline_s - self._now()))
        return answers

    def _slot(self, path: str) -> Abandonable[os.statvfs_result]:
        return Abandonable("statvfs", lambda: self._statvfs(path), self._now)


def _poll(slot: Abandonable[os.statvfs_result], deadline_s: float) -> os.statvfs_result | Exception:
    try:
        return slot.poll(deadline_s)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        return error


def _counters(name: str, fields: list[str]) -> DiskCounters:
    """Fields 1 to 11 of Documentation/admin-guide/iostats.rst."""
    reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, in_flight, busy_ms, weighted_ms = map(
        int, fields[:11]
    )
    return DiskCounters(
        name=name,
        reads=reads,
        read_bytes=sectors_read * SECTOR_BYTES,
        read_ms=read_ms,
        writes=writes,
        written_bytes=sectors_written * SECTOR_BYTES,
        write_ms=write_ms,
        in_flight=in_flight,
        busy_ms=busy_ms,
        weighted_ms=weighted_ms,
    )


def _mounts_that_matter(mounts: list[Mount]) -> list[Mount]:
    """Real file systems once each, at the shortest path they are mounted on, and /dev/shm; "/" and /dev/shm first.

    A container's /etc/hosts and a pod's volumes are bind mounts of one file system: the same numbers many times.
    """
    visible = {mount.mount_point: mount for mount in mounts}  # a later mount hides an earlier one
    by_file_system: dict[str, Mount] = {}
    for mount in visible.values():
        if mount.fs_type in _PSEUDO or (mount.fs_type == "overlay" and mount.mount_point != "/"):
            continue
        known = by_file_system.get(mount.device_id)
        if known is None or len(mount.mount_point) < len(known.mount_point):
            by_file_system[mount.device_id] = mount
    chosen = {mount.mount_point: mount for mount in by_file_system.values()}
    if SHARED_MEMORY in visible:
        chosen[SHARED_MEMORY] = visible[SHARED_MEMORY]
    return sorted(chosen.values(), key=lambda mount: (mount.mount_point not in ("/", SHARED_MEMORY), mount.mount_point))


def _mount_reading(mount: Mount, answer: os.statvfs_result | Exception) -> MountReading:
    if isinstance(answer, Exception):
        return MountReading(
            mount_point=mount.mount_point,
            device=mount.source,
            fs_type=mount.fs_type,
            reason=str(answer) if isinstance(answer, TimeoutError) else reason_of(answer),
        )
    return MountReading(
        mount_point=mount.mount_point,
        device=mount.source,
        fs_type=mount.fs_type,
        total_bytes=answer.f_blocks * answer.f_frsize,
        used_bytes=(answer.f_blocks - answer.f_bfree) * answer.f_frsize,
        available_bytes=answer.f_bavail * answer.f_frsize,
        # btrfs and some network file systems have no fixed number of inodes and say 0
        inodes_used_pct=100 * (answer.f_files - answer.f_ffree) / answer.f_files if answer.f_files else None,
    )

"""Block devices from psutil, their queues from /proc/diskstats, mounts from mountinfo, room on them from statvfs."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any

import psutil

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.host.mounts import Mount, parse_mountinfo
from hwtop.collectors.host.system import System
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.disk import DiskCounters, DiskReading, MountReading
from hwtop.model.plan import SamplingPlan

MOUNTS_EVERY_S = 5.0
MOUNTS_AT_MOST = 64
STATVFS_DEADLINE_S = 0.25
"""For all mounts together, once: a mount that is known not to answer is not waited for again."""

SHARED_MEMORY = "/dev/shm"
"""The one tmpfs that matters: loader workers hand their batches over in it."""

_NOT_A_DISK = re.compile(r"(loop|ram|zram|sr|fd)\d+|nvme\d+c\d+n\d+")
"""Made of memory or of files, removable media, and single paths of a multipath NVMe disk that is itself listed."""

_QUEUE = re.compile(r"^\s*\d+\s+\d+\s+(\S+)(?:\s+\d+){8}\s+(\d+)\s+\d+\s+(\d+)", re.MULTILINE)
"""Name, and fields 9 and 11 of Documentation/admin-guide/iostats.rst: psutil reports neither."""

_PSEUDO = frozenset(
    {
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devfs",
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
        system: System = psutil,
    ) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._statvfs = statvfs
        self._system = system
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

    def set_plan(self, plan: SamplingPlan) -> None:
        """Look at the mounts that the target sees."""
        if plan.target_pid != self._target_pid:
            self._target_pid = plan.target_pid
            self._mounts_at_s = None

    def close(self) -> None:
        """A call that has not returned ends with the program."""
        self._slots.clear()

    def _read_disks(self, missing: dict[str, str]) -> tuple[DiskCounters, ...]:
        try:
            counters = self._system.disk_io_counters(perdisk=True, nowrap=False)
            if os.path.isdir(self._proc):  # Linux counts partitions as well
                whole = {name.replace("!", "/") for name in os.listdir(f"{self._sys}/block")}
                counters = {name: each for name, each in counters.items() if name in whole}
            queues = self._read_queues(missing)
        except (OSError, NotImplementedError, ValueError) as error:
            missing["disks"] = reason_of(error)
            return ()
        return tuple(
            _counters(name, each, *queues.get(name, (None, None)))
            for name, each in counters.items()
            if not _NOT_A_DISK.fullmatch(name)
        )

    def _read_queues(self, missing: dict[str, str]) -> dict[str, tuple[int, int]]:
        """Disk -> requests under way, weighted milliseconds. The file is read a second time: 0.03 ms for 10 devices."""
        try:
            text = read_text(f"{self._proc}/diskstats")
        except OSError as error:
            missing["disks.in_flight"] = reason_of(error)
            return {}
        return {name: (int(in_flight), int(weighted_ms)) for name, in_flight, weighted_ms in _QUEUE.findall(text)}

    def _read_mounts(self, missing: dict[str, str]) -> tuple[MountReading, ...]:
        table, prefix = self._mount_table()
        try:
            mounts = _mounts_that_matter(parse_mountinfo(read_text(table)) if table else self._partitions())
        except OSError as error:
            missing["mounts"] = reason_of(error)
            return ()
        if len(mounts) > MOUNTS_AT_MOST:
            missing["mounts"] = f"{len(mounts)} mounts; only the first {MOUNTS_AT_MOST} are read"
            mounts = mounts[:MOUNTS_AT_MOST]
        paths = [prefix + mount.mount_point for mount in mounts]
        answers = self._ask(paths)
        return tuple(_mount_reading(mount, answers[path]) for mount, path in zip(mounts, paths, strict=True))

    def _partitions(self) -> list[Mount]:
        """Of a system without mountinfo. psutil neither reports which mounts are one file system nor reads another namespace."""
        return [
            Mount(each.device or each.mountpoint, "/", each.mountpoint, each.fstype, each.device, frozenset())
            for each in self._system.disk_partitions(all=True)
        ]

    def _mount_table(self) -> tuple[str, str]:
        """The mountinfo to read ("" where there is no /proc), and what to put before its paths."""
        if not os.path.isdir(self._proc):
            return "", ""
        own = f"{self._proc}/self/mountinfo"
        if self._target_pid is None:
            return own, ""
        target = f"{self._proc}/{self._target_pid}"
        try:
            if os.readlink(f"{target}/ns/mnt") == os.readlink(f"{self._proc}/self/ns/mnt"):
                return own, ""
        except OSError:  # ended, or not readable: then its root is not either
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


def _counters(name: str, counters: Any, in_flight: int | None, weighted_ms: int | None) -> DiskCounters:
    return DiskCounters(
        name=name,
        reads=counters.read_count,
        read_bytes=counters.read_bytes,
        read_ms=counters.read_time,
        writes=counters.write_count,
        written_bytes=counters.write_bytes,
        write_ms=counters.write_time,
        in_flight=in_flight,
        busy_ms=getattr(counters, "busy_time", None),
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

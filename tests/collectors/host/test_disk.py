from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.host import disk as disk_module
from hwtop.collectors.host.disk import MOUNTS_AT_MOST, MOUNTS_EVERY_S, DiskSource
from hwtop.model.host.disk import DiskCounters, DiskReading, MountReading
from hwtop.model.plan import SamplingPlan
from tests.host import Clock, MacSystem, RecordedSystem, proc, room, sys, write_tree


class Statvfs:
    """statvfs of which chosen mounts never answer, until they are let go."""

    def __init__(self) -> None:
        self.dead: set[str] = set()
        self.let_go = threading.Event()
        self.calls: list[str] = []

    def __call__(self, path: str) -> os.statvfs_result:
        self.calls.append(path)
        if path in self.dead:
            self.let_go.wait()
        if path == "/mnt/old disk":
            raise PermissionError(13, "Permission denied", path)
        return room(files=0) if path == "/data" else room()


@pytest.fixture
def statvfs() -> Iterator[Statvfs]:
    fake = Statvfs()
    yield fake
    fake.let_go.set()


def source(statvfs: Statvfs, clock: Clock | None = None, when: str = "first") -> DiskSource:
    return at(proc("two-sockets", when), sys("two-sockets"), statvfs, clock)


def at(root: str, sys: str, statvfs: Statvfs, clock: Clock | None = None) -> DiskSource:
    return DiskSource(proc=root, sys=sys, now=clock or Clock(), statvfs=statvfs, system=RecordedSystem(root))


def mount(reading: DiskReading, mount_point: str) -> MountReading:
    return next(entry for entry in reading.mounts if entry.mount_point == mount_point)


def test_whole_disks_only_in_bytes(statvfs: Statvfs) -> None:
    reading = source(statvfs).read()
    assert [disk.name for disk in reading.disks] == ["nvme0n1", "sda", "dm-0"]
    assert reading.disks[0] == DiskCounters(
        name="nvme0n1",
        reads=500000,
        read_bytes=64000000 * 512,
        read_ms=900000,
        writes=300000,
        written_bytes=48000000 * 512,
        write_ms=600000,
        in_flight=2,
        busy_ms=400000,
        weighted_ms=1500000,
    )


def test_a_line_of_an_old_kernel_with_11_numbers_is_read(statvfs: Statvfs) -> None:
    assert source(statvfs, when="second").read().disks[-1].name == "md127"


def test_garbled_counters_are_a_reason(tmp_path: Path, statvfs: Statvfs) -> None:
    write_tree(tmp_path, {"proc/diskstats": "8 0 sda 1 2\n", "proc/self/mountinfo": ""})
    (tmp_path / "sys/block/sda").mkdir(parents=True)
    reading = at(str(tmp_path / "proc"), str(tmp_path / "sys"), statvfs).read()
    assert reading.disks == ()
    assert "not sure how to interpret line '8 0 sda 1 2" in reading.missing["disks"]


def test_an_operating_system_without_proc(tmp_path: Path, statvfs: Statvfs) -> None:
    none = str(tmp_path / "none")
    reading = DiskSource(proc=none, sys=none, now=Clock(), statvfs=statvfs, system=MacSystem()).read()
    assert reading.disks == (
        DiskCounters(
            name="disk0",
            reads=100,
            read_bytes=4096,
            read_ms=30,
            writes=50,
            written_bytes=8192,
            write_ms=20,
            in_flight=None,
            busy_ms=None,
            weighted_ms=None,
        ),
    )
    assert [(each.mount_point, each.fs_type) for each in reading.mounts] == [
        ("/", "apfs"),
        ("/System/Volumes/Data", "apfs"),
    ]
    assert mount(reading, "/").total_bytes == 4096000


def test_a_sandbox_without_sysfs_still_has_mounts(tmp_path: Path, statvfs: Statvfs) -> None:
    reading = at(proc("two-sockets", "first"), str(tmp_path), statvfs).read()
    assert reading.disks == ()
    assert reading.missing == {"disks": f"{tmp_path}/block: no such file or directory"}
    assert mount(reading, "/").total_bytes == 4096000


def test_mounts_that_matter_each_file_system_once(statvfs: Statvfs) -> None:
    reading = source(statvfs).read()
    assert [(entry.mount_point, entry.fs_type) for entry in reading.mounts] == [
        ("/", "ext4"),
        ("/dev/shm", "tmpfs"),
        ("/data", "nfs4"),
        ("/lustre", "lustre"),
        ("/mnt/old disk", "xfs"),
    ]
    assert mount(reading, "/") == MountReading(
        mount_point="/",
        device="/dev/nvme0n1p1",
        fs_type="ext4",
        total_bytes=1000 * 4096,
        used_bytes=600 * 4096,
        available_bytes=350 * 4096,
        inodes_used_pct=25.0,
    )
    assert mount(reading, "/data").inodes_used_pct is None  # this file system counts none
    refused = mount(reading, "/mnt/old disk")
    assert refused.reason == "/mnt/old disk: permission denied"
    assert refused.total_bytes is None
    assert "/net" not in statvfs.calls  # asking autofs would mount it


def test_a_dead_mount_costs_one_reason_and_nothing_else(statvfs: Statvfs, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(disk_module, "STATVFS_DEADLINE_S", 1.0)  # on a busy machine the mounts that live need it
    disk = source(statvfs, clock)
    statvfs.dead = {"/data", "/lustre"}
    first = disk.read()  # returns although two calls are out
    assert mount(first, "/data").reason == "not answering for 0 s"
    assert mount(first, "/data").used_bytes is None
    assert mount(first, "/").used_bytes == 600 * 4096
    clock.at_s += 12
    monkeypatch.setattr(disk_module, "STATVFS_DEADLINE_S", 30.0)  # the dead ones are not waited for again
    second = disk.read()
    assert mount(second, "/data").reason == "not answering for 12 s"
    assert mount(second, "/").reason is None
    assert statvfs.calls.count("/data") == 1  # the same call is still out
    assert len(second.disks) == 3
    statvfs.let_go.set()
    while any(thread.name == "hwtop-statvfs" for thread in threading.enumerate()):
        time.sleep(0.001)
    clock.at_s += MOUNTS_EVERY_S
    assert mount(disk.read(), "/data").used_bytes == 600 * 4096


def test_mounts_are_asked_more_seldom_than_disks(statvfs: Statvfs) -> None:
    clock = Clock()
    disk = source(statvfs, clock)
    disk.read()
    clock.at_s += MOUNTS_EVERY_S - 0.1
    assert mount(disk.read(), "/").used_bytes == 600 * 4096
    assert statvfs.calls.count("/") == 1
    clock.at_s += 0.1
    disk.read()
    assert statvfs.calls.count("/") == 2


def test_the_later_of_two_mounts_at_one_place_counts_and_the_list_is_bounded(tmp_path: Path, statvfs: Statvfs) -> None:
    lines = ["1 0 8:1 / / rw - ext4 /dev/old rw", "2 0 8:2 / / rw - ext4 /dev/new rw", "garbled", "3 0 8:3 / /x rw"]
    lines += [f"{n} 0 9:{n} / /mnt/{n} rw - ext4 /dev/{n} rw" for n in range(100)]
    write_tree(tmp_path, {"self/mountinfo": "\n".join(lines)})
    reading = at(str(tmp_path), str(tmp_path), statvfs).read()
    assert len(reading.mounts) == MOUNTS_AT_MOST
    assert reading.mounts[0].device == "/dev/new"
    assert reading.missing["mounts"] == f"101 mounts; only the first {MOUNTS_AT_MOST} are read"


def test_a_target_in_a_container_is_asked_for_its_own_mounts(tmp_path: Path, statvfs: Statvfs) -> None:
    shutil.copytree(proc("two-sockets", "first"), tmp_path / "proc")
    write_tree(
        tmp_path, {"proc/77/mountinfo": "1 0 0:9 / / rw - overlay overlay rw\n2 1 0:8 / /dev/shm rw - tmpfs shm rw\n"}
    )
    for pid, namespace in (("self", "mnt:[1]"), ("77", "mnt:[2]"), ("78", "mnt:[1]")):
        (tmp_path / "proc" / pid / "ns").mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / pid / "ns/mnt").symlink_to(namespace)
    disk = at(str(tmp_path / "proc"), sys("two-sockets"), statvfs)
    disk.set_plan(SamplingPlan(target_pid=77))
    reading = disk.read()
    assert [entry.mount_point for entry in reading.mounts] == ["/", "/dev/shm"]
    assert f"{tmp_path}/proc/77/root/dev/shm" in statvfs.calls
    disk.set_plan(SamplingPlan(target_pid=78))  # the same namespace as ours
    assert len(disk.read().mounts) == 5
    disk.set_plan(SamplingPlan(target_pid=79))  # gone
    assert len(disk.read().mounts) == 5

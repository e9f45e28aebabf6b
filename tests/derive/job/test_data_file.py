from __future__ import annotations

from hwtop.derive.job.data_file import data_file
from hwtop.model.host.disk import MountReading
from hwtop.model.process import OpenFile, ProcessInfo
from hwtop.model.rank import DataFile

MOUNTS = tuple(
    MountReading(mount_point=point, device=device, fs_type=kind)
    for point, device, kind in (
        ("/", "/dev/sda1", "ext4"),
        ("/data", "nas:/export", "nfs4"),
        ("/dat", "/dev/sdb", "xfs"),
    )
)


def process(*targets: str) -> ProcessInfo:
    files = tuple(OpenFile(fd=fd, target=target) for fd, target in enumerate(targets))
    return ProcessInfo(
        pid=7,
        ppid=1,
        comm="python",
        state="D",
        start_ticks=1,
        user_ticks=0,
        system_ticks=0,
        thread_count=1,
        files=files,
    )


STD = ("/dev/null", "/logs/rank_0.log", "/logs/rank_0.log")


def test_the_file_opened_last_and_its_file_system() -> None:
    found = data_file(process(*STD, "/srv/old.bin", "/data/shard-17.tar", "/usr/lib/libx.so"), MOUNTS)
    assert found == DataFile(path="/data/shard-17.tar", mount_point="/data", fs_type="nfs4")


def test_logs_devices_and_standard_streams_are_no_data() -> None:
    watched = process(*STD, "/logs/metrics.txt", "socket:[4]", "/dev/shm/torch_1")
    assert data_file(watched, MOUNTS, outputs=("/logs/metrics.txt",)) is None


def test_a_mount_that_is_not_watched_is_not_guessed() -> None:
    assert data_file(process(*STD, "/data/x"), ()) == DataFile(path="/data/x")

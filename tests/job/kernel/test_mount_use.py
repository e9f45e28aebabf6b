"""Which mounts stand on which device."""

from __future__ import annotations

import pytest

from hwtop.job.kernel.mount_use import lies_on, mounts_of, nfs_server
from hwtop.model.host.disk import MountReading

BELOW = {"sda1": ("sda",), "sda2": ("sda",), "md0": ("nvme0n1", "nvme1n1"), "dm-0": ("sda",), "dm-1": ("sdb",)}
ALIASES = {"dm-0": "mapper/vg-root", "dm-1": "mapper/vg-data"}


@pytest.mark.parametrize(
    ("mounted", "device", "does"),
    [
        ("/dev/sda1", "sda1", True),
        ("/dev/sda1", "sda", True),
        ("/dev/sda1", "sda2", False),
        ("/dev/sda1", "sdb", False),
        ("/dev/sdaa1", "sda", False),
        ("/dev/mapper/vg-root", "dm-0", True),
        ("/dev/mapper/vg-root", "sda", True),
        ("/dev/mapper/vg-root", "dm-1", False),
        ("/dev/md0", "nvme1n1", True),
        ("/dev/md0", "nvme1", True),
        ("/dev/md0", "nvme2", False),
        ("/dev/nvme3n1p2", "nvme3n1", True),
        ("/dev/nvme3n1p2", "nvme3", True),
        ("/dev/nvme30n1p2", "nvme3", False),
        ("nfs01:/export", "sda", False),
        ("overlay", "sda", False),
    ],
)
def test_a_mount_lies_on_what_is_below_it(mounted: str, device: str, does: bool) -> None:
    mount = MountReading(mount_point="/x", device=mounted, fs_type="ext4")
    assert lies_on(mount, device, BELOW, ALIASES) is does


def test_the_mounts_that_paths_lie_on() -> None:
    mounts = [
        MountReading(mount_point=point, device="d", fs_type="ext4") for point in ("/", "/data", "/data/deep", "/home")
    ]
    found = mounts_of(["/data/a/b.bin", "/usr/bin/python", "/data/deep"], mounts)
    assert sorted(mount.mount_point for mount in found) == ["/", "/data", "/data/deep"]
    assert mounts_of(["/x"], mounts[1:]) == ()


def test_the_server_of_an_nfs_mount() -> None:
    assert nfs_server("nfs01:/export/a") == "nfs01"
    assert nfs_server("[fe80::1]:/export") == "fe80::1"

"""Which disks partitions, RAIDs and logical volumes lie on."""

from __future__ import annotations

from pathlib import Path

from hwtop.collectors.host.block_devices import disks_below, mapper_names


def test_partitions_raid_and_logical_volumes_lead_to_their_disks(tmp_path: Path) -> None:
    for part in ("sda/sda1", "sda/sda2", "nvme0n1/nvme0n1p1", "nvme1n1/nvme1n1p1"):
        (tmp_path / "block" / part).mkdir(parents=True)
        (tmp_path / "block" / part / "partition").write_text("1\n")
    for whole, parts in {"md0": ("nvme0n1p1", "nvme1n1p1"), "dm-0": ("sda2",), "dm-1": ("md0",)}.items():
        for part in parts:
            (tmp_path / "block" / whole / "slaves" / part).mkdir(parents=True)
    (tmp_path / "block/dm-0/dm").mkdir()
    (tmp_path / "block/dm-0/dm/name").write_text("vg-root\n")
    found = disks_below(str(tmp_path))
    assert found["sda1"] == ("sda",)
    assert found["dm-0"] == ("sda",)
    assert found["md0"] == found["dm-1"] == ("nvme0n1", "nvme1n1")
    assert "sda" not in found
    assert mapper_names(str(tmp_path)) == {"dm-0": "mapper/vg-root"}


def test_without_sys_nothing_is_known(tmp_path: Path) -> None:
    assert (disks_below(str(tmp_path)), mapper_names(str(tmp_path))) == ({}, {})

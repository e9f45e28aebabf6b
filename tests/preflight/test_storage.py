"""Folders that a run writes to."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hwtop.model.host.disk import DiskReading, MountReading
from hwtop.preflight.machine import Machine
from hwtop.preflight.storage import STORAGE
from tests.preflight.machines import ask, link, machine

_MOUNTINFO = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:30 / {point} rw - {kind} server:/x rw\n"


def place(folder: Path, kind: str = "ext4", **readings: Any) -> Machine:
    """A run that is started in `folder`, its caches below it."""
    link(folder / f"proc/{os.getpid()}/cwd", str(folder))
    files = {f"proc/{os.getpid()}/mountinfo": _MOUNTINFO.format(point=folder, kind=kind)}
    return machine(folder, files, env={"HOME": str(folder / "home"), "TMPDIR": str(folder)}, **readings)


@pytest.mark.parametrize(
    ("available", "inodes", "reason", "status"),
    [
        (500, 10.0, None, "pass"),
        (1, 10.0, None, "warn"),
        (500, 99.9, None, "warn"),
        (None, None, "not answering for 9 s", "fail"),
    ],
)
def test_room(available: int | None, inodes: float | None, reason: str | None, status: str, tmp_path: Path) -> None:
    size = {} if available is None else {"total_bytes": 1000 << 30, "available_bytes": available << 30}
    mount = MountReading(
        mount_point="/", device="/dev/sda1", fs_type="ext4", inodes_used_pct=inodes, reason=reason, **size
    )
    found = ask(STORAGE, "folder-space", place(tmp_path, disk=DiskReading(at_s=1.0, disks=(), mounts=(mount,))))
    assert found.status == status


@pytest.mark.parametrize(("kind", "status"), [("ext4", "pass"), ("lustre", "pass"), ("nfs4", "warn")])
def test_kind(kind: str, status: str, tmp_path: Path) -> None:
    assert ask(STORAGE, "folder-kind", place(tmp_path, kind)).status == status


def test_writing_leaves_nothing(tmp_path: Path) -> None:
    run = place(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert ask(STORAGE, "folder-write", run).status in ("pass", "warn")
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_written_beside_a_job(tmp_path: Path) -> None:
    assert ask(STORAGE, "folder-write", machine(tmp_path, options={"pid": 77})).status == "skip"


def test_a_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    found = ask(STORAGE, "folder-write", place(tmp_path))
    assert found.status == "fail"
    assert "read-only file system" in found.reason

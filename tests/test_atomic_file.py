"""Files of hwtop's own: whole or not at all, for the person's eyes only, and never instead of something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hwtop import atomic_file


def test_only_the_person_may_read_a_new_file_and_its_folder(tmp_path: Path) -> None:
    place = tmp_path / "state" / "hwtop" / "a.json"
    with pytest.raises(FileNotFoundError):
        atomic_file.write(place, b"one")
    atomic_file.write_own(place, b"one")
    assert place.read_bytes() == b"one"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert list(place.parent.iterdir()) == [place]


def test_rights_stay(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    place.chmod(0o640)
    atomic_file.write(place, b"new")
    assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("new", 0o640)


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    other, place = tmp_path / "other", tmp_path / "a"
    other.write_text("of somebody else")
    place.symlink_to(other)
    atomic_file.write(place, b"mine")
    assert (other.read_text(), place.read_text()) == ("of somebody else", "mine")


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_stays(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a"
    os.mkfifo(place) if kind == "pipe" else place.mkdir()
    before = place.lstat()
    with pytest.raises(OSError, match="not a regular file"):
        atomic_file.write(place, b"mine")
    assert place.lstat().st_mode == before.st_mode
    assert list(tmp_path.iterdir()) == [place]


def test_what_cannot_be_written_leaves_the_old_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    place = tmp_path / "a"
    place.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        atomic_file.write(place, b"new")
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]

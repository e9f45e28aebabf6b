"""A bundle from anybody: what is hostile or damaged is refused with one line."""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest

from hwtop.bundle import opened
from hwtop.errors import UsageError
from tests.bundle.zips import zipped
from tests.store.sessions import hang, written


@pytest.fixture
def recording(tmp_path: Path) -> bytes:
    return written(tmp_path / "run.hwtop", hang()[:3]).read_bytes()


def refusal(place: Path) -> str:
    with pytest.raises(UsageError) as caught:
        opened.recording(place)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_recording_of_a_bundle_is_replayed(recording: bytes, tmp_path: Path) -> None:
    found = opened.recording(zipped(tmp_path / "b.zip", {"manifest.json": b"{}", "recording.hwtop": recording}))
    assert list(found.snapshots()) == list(hang()[:3])
    found.close()


def test_a_recording_needs_no_bundle(recording: bytes, tmp_path: Path) -> None:
    found = opened.recording(tmp_path / "run.hwtop")
    assert len(list(found.snapshots())) == 3
    found.close()


def test_nothing_is_left_of_it(recording: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = zipped(tmp_path / "b.zip", {"recording.hwtop": recording})
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    opened.recording(place).close()
    assert os.listdir(folder) == []


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "a/../../evil"])
def test_a_member_outside_of_the_bundle(name: str, recording: bytes, tmp_path: Path) -> None:
    place = zipped(tmp_path / "b.zip", {"recording.hwtop": recording, name: b"x"})
    assert refusal(place).endswith(f"is refused: its member {name!r} is outside of the bundle")


def test_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "_MOST_RECORDING_BYTES", 1 << 20)
    place = zipped(tmp_path / "b.zip", {"recording.hwtop": bytes(3 << 20)})
    assert refusal(place).endswith("is refused: recording.hwtop is larger than 1 MB")


def test_a_long_list_of_members(recording: bytes, tmp_path: Path) -> None:
    place = zipped(tmp_path / "b.zip", {"recording.hwtop": recording, **{f"{n:05}" * 40: b"" for n in range(6000)}})
    assert refusal(place).endswith("is a damaged bundle: its list of members is too long")


def test_a_bundle_in_a_bundle(recording: bytes, tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"recording.hwtop": recording}).read_bytes()
    assert refusal(zipped(tmp_path / "b.zip", {"recording.hwtop": inner})).endswith("is not a recording of hwtop")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice(recording: bytes, tmp_path: Path) -> None:
    place = tmp_path / "b.zip"
    with zipfile.ZipFile(place, "w") as file:
        for _ in range(2):
            file.writestr("recording.hwtop", recording)
    assert refusal(place).endswith("has more than one recording.hwtop")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_compression(method: int, recording: bytes, tmp_path: Path) -> None:
    place = zipped(tmp_path / "b.zip", {"recording.hwtop": recording}, method)
    assert "is not stored as hwtop stores it" in refusal(place)


def test_no_recording(tmp_path: Path) -> None:
    assert refusal(zipped(tmp_path / "b.zip", {"report.md": b"x"})).endswith("has no recording.hwtop")


def test_damage_anywhere_is_one_line(recording: bytes, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "b.zip", {"manifest.json": b"{}", "recording.hwtop": recording}).read_bytes()
    place = tmp_path / "damaged.zip"
    refused = 0
    for number in range(0, len(whole), max(1, len(whole) // 150)):
        for content in (whole[:number], whole[:number] + bytes([whole[number] ^ 0xFF]) + whole[number + 1 :]):
            place.write_bytes(content)
            try:
                opened.recording(place).close()
            except UsageError as error:
                refused += 1
                assert "\n" not in str(error)
    assert refused > 150


def test_a_size_that_lies(recording: bytes, tmp_path: Path) -> None:
    whole = bytearray(zipped(tmp_path / "b.zip", {"recording.hwtop": recording}).read_bytes())
    at = whole.index(b"PK\1\2") + 24
    whole[at : at + 4] = struct.pack("<I", 100)
    place = tmp_path / "lies.zip"
    place.write_bytes(whole)
    assert "is a damaged bundle" in refusal(place)


def test_text_of_a_member_is_bounded(tmp_path: Path) -> None:
    place = zipped(tmp_path / "b.zip", {"report.md": b"# all is well\n"})
    assert opened.text(place, "report.md", 1 << 20) == "# all is well\n"
    with pytest.raises(UsageError, match=r"report\.md is larger than 0 MB"):
        opened.text(place, "report.md", 5)

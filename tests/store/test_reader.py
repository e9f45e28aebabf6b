"""A recording may come from anybody: it is replayed as far as it can be read, or refused in one line."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from msgspec.structs import replace

from hwtop.errors import UsageError
from hwtop.store.encoding import encoded
from hwtop.store.kind import MACHINE, VERSIONS
from hwtop.store.reader import Recording
from tests.store.damage import damaged
from tests.store.sessions import hang, read, written

COUNT = 30
MOST_BYTES = MACHINE.most_bytes


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("whole") / "run.hwtop", hang()[:COUNT]).read_bytes()


@pytest.fixture
def place(whole: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "run.hwtop"
    file.write_bytes(whole)
    return file


def changed(place: Path, statement: str, *values: object) -> Path:
    db = sqlite3.connect(place)
    db.execute(statement, values)
    db.commit()
    db.close()
    return place


def pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def partly_read(place: Path) -> int:
    """How many Snapshots are replayed, each as it was recorded; 0 where the file is refused in one line."""
    try:
        recording = Recording(place)
        found = list(recording.snapshots())
    except UsageError as error:
        assert len(str(error).splitlines()) == 1
        return 0
    recorded = {snapshot.at_s: snapshot for snapshot in hang()}
    assert all(snapshot == recorded[snapshot.at_s] for snapshot in found)
    assert recording.problems or len(found) == COUNT
    return len(found)


@pytest.mark.slow
def test_a_file_that_is_cut_is_read_in_part_or_refused(whole: bytes, tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    found = []
    for size in range(0, len(whole), len(whole) // 100):
        place.write_bytes(whole[:size])
        found.append(partly_read(place))
    assert set(found) != {0}


@pytest.mark.slow
def test_a_damaged_file_is_read_in_part_or_refused(whole: bytes, tmp_path: Path) -> None:
    place, dice, found = tmp_path / "run.hwtop", random.Random(0), []
    for _ in range(200):
        place.write_bytes(damaged(whole, dice))
        found.append(partly_read(place))
    assert sum(count > COUNT // 2 for count in found) > 60, "what is not hit is read"


def test_a_damaged_key_frame_costs_the_rows_after_it_only(place: Path) -> None:
    changed(place, "UPDATE snapshot SET data = x'00' WHERE id = 1")
    changed(place, "UPDATE snapshot SET key = NULL, data = ? WHERE id = 10", zstandard.compress(encoded(hang()[9])))
    recording = Recording(place)
    assert list(recording.snapshots()) == [hang()[9]]
    assert recording.problems == [f"{str(place)!r}: {COUNT - 1} snapshots are damaged and left out"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda place: place.unlink(), "No such file"),
        (lambda place: place.write_bytes(b""), "is not a recording of hwtop"),
        (lambda place: place.write_text("{}" * 100), "is not a recording of hwtop"),
        (lambda place: changed(place, "PRAGMA application_id = 7"), "is not a recording of hwtop"),
        (
            lambda place: changed(place, f"PRAGMA user_version = {max(VERSIONS) + 1}"),
            "written by another version of hwtop",
        ),
        (lambda place: changed(place, "PRAGMA user_version = 0"), "written by another version of hwtop"),
        (lambda place: changed(place, "CREATE VIEW more AS SELECT 1"), "other tables"),
        (
            lambda place: changed(place, "ALTER TABLE snapshot ADD COLUMN more AS (zeroblob(1000000000))"),
            "other tables",
        ),
        (lambda place: changed(place, "DROP INDEX snapshot_time"), "other tables"),
        (lambda place: changed(place, "UPDATE snapshot SET time_s = 'noon'"), "damaged"),
        (lambda place: changed(place, "UPDATE snapshot SET time_s = 1e300"), "damaged"),
        (lambda place: changed(place, "DELETE FROM snapshot"), "before the first snapshot"),
        (lambda place: (place.unlink(), place.mkdir()), "not a regular file"),
        (pipe, "not a regular file"),
        (lambda place: (place.unlink(), place.symlink_to("/dev/zero")), "not a regular file"),
    ],
    ids=lambda each: each.replace(" ", "-") if isinstance(each, str) else "",
)
def test_what_is_not_a_recording_is_refused(make: Callable[[Path], object], reason: str, place: Path) -> None:
    make(place)
    with pytest.raises(UsageError, match=reason):
        Recording(place)


def test_a_bomb_is_left_out(place: Path) -> None:
    bomb = zstandard.compress(bytes(MOST_BYTES + 1))
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(MOST_BYTES + 1))
    for number, data in ((2, bomb), (3, unsized), (4, bytes(MOST_BYTES + 1)), (5, 17), (6, "text")):
        changed(place, "UPDATE snapshot SET data = ? WHERE id = ?", data, number)
    assert read(place) == [hang()[0], *hang()[6:COUNT]]


@pytest.mark.parametrize("time_s", [float("nan"), float("inf"), 1e300, -1.0])
def test_a_snapshot_of_an_impossible_time_is_left_out(time_s: float, place: Path) -> None:
    for name in ("time_s", "at_s"):
        content = encoded(replace(hang()[1], **{name: time_s}))
        changed(place, "UPDATE snapshot SET key = NULL, data = ? WHERE id = 2", zstandard.compress(content))
        assert read(place) == [hang()[0]]


def test_a_file_that_cannot_be_written_is_read(place: Path) -> None:
    place.chmod(0o400)
    place.parent.chmod(0o500)
    try:
        assert len(read(place)) == COUNT
    finally:
        place.parent.chmod(0o700)

"""What was recorded can be read: however the recording ended, and within the size and age that were asked for."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from hwtop.errors import CannotError, UsageError
from hwtop.store.writer import Writer
from tests.store.sessions import at, flooded, hang, minutes, read, written

_RECORDER = """
import sys
from pathlib import Path
from hwtop.errors import CannotError
from hwtop.store.writer import Writer
from tests.store.sessions import at, hang

writer, number = Writer(Path(sys.argv[1])), 0
try:
    while True:
        writer.add(at(hang()[number % 100], number))
        number += 1
        print(number, flush=True)
except CannotError as error:
    print(error, file=sys.stderr)
    writer.close()
"""
"""Writes as fast as it can, and prints how many were stored."""


def recorder(place: Path, limit_bytes: int = resource.RLIM_INFINITY) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _RECORDER, str(place)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes)),
    )


def test_snapshots_are_read_as_they_were_written(tmp_path: Path) -> None:
    place = written(tmp_path / "run.hwtop", hang())
    assert read(place) == list(hang())
    assert place.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["run.hwtop"]


def test_a_file_name_that_is_not_utf_8_is_stored(tmp_path: Path) -> None:
    snapshot = replace(hang()[0], host="node\udcff")
    assert read(written(tmp_path / "run.hwtop", [snapshot])) == [replace(snapshot, host="node?")]


def test_a_recording_that_goes_on_can_be_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.hwtop")
    for second, snapshot in enumerate(hang()[:5]):
        writer.add(snapshot)
        assert len(read(tmp_path / "run.hwtop")) == second + 1
    writer.close()


def test_no_file_is_replaced(tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    place.write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        Writer(place)
    assert place.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_kill_9_loses_nothing_that_was_stored(seed: int, tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    child = recorder(place)
    assert child.stdout is not None
    after = random.Random(seed).randint(1, 200)
    stored = next(int(line) for line in child.stdout if int(line) >= after)
    child.kill()
    stored = max([stored, *map(int, child.stdout.read().split())])
    child.communicate()
    found = read(place)
    assert found == [at(hang()[number % 100], number) for number in range(len(found))]
    assert stored <= len(found) <= stored + 1


@pytest.mark.slow
def test_a_full_disk_ends_the_recording_and_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    child = recorder(place, limit_bytes=300_000)
    stored, error = child.communicate()
    assert child.returncode == 0
    assert "the recording ends here" in error
    assert len(error.splitlines()) == 1
    assert len(read(place)) == int(stored.split()[-1])


def test_the_last_room_on_a_disk_is_left_to_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path / "run.hwtop")
    writer.add(at(hang()[0], 0))
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 10**6, 1000, 1000, 0, 0, 0, 0, 255)))
    with pytest.raises(CannotError, match="less than 64 MB free; the recording ends here"):
        writer.add(at(hang()[0], 60))
    writer.close()
    assert read(tmp_path / "run.hwtop") == [at(hang()[0], 0)]


@pytest.mark.slow
def test_what_is_too_old_goes(tmp_path: Path) -> None:
    found = read(written(tmp_path / "run.hwtop", minutes(10), keep_s=120))
    assert [after.at_s - before.at_s for before, after in pairwise(found)] == [1.0] * (len(found) - 1)
    assert found[-1] == minutes(10)[-1]
    assert 120 <= len(found) <= 181


@pytest.mark.slow
def test_the_file_stays_within_its_size(tmp_path: Path) -> None:
    most_bytes, given = 1 << 19, minutes(10)
    place = tmp_path / "run.hwtop"
    writer = Writer(place, most_bytes=most_bytes)
    for snapshot in given:
        writer.add(snapshot)
        assert place.stat().st_size <= most_bytes
    writer.close()
    found = read(place)
    assert found == given[-len(found) :]
    assert place.stat().st_size > most_bytes // 2
    assert len(found) > 60


def test_a_flood_of_log_lines_is_cut_to_the_budget_and_counted(tmp_path: Path) -> None:
    dice = random.Random(0)
    given = [flooded(at(hang()[-1], second), [dice.randbytes(100).hex() for _ in range(1000)]) for second in range(60)]
    place = written(tmp_path / "run.hwtop", given)
    assert place.stat().st_size < 2_200_000, "a minute that was saved up, and one more"
    for before, after in zip(given, read(place), strict=True):
        assert before.logs is not None
        assert after.logs is not None
        kept = len(after.logs.lines)
        assert after.logs.skipped_lines == 1000 - kept
        assert after.logs.lines == before.logs.lines[1000 - kept :]
        assert after.gpu == before.gpu


def test_stacks_beyond_the_budget_are_left_out_and_it_says_so(tmp_path: Path) -> None:
    snapshot = next(snapshot for snapshot in hang() if snapshot.stacks and snapshot.stacks.dumps)
    assert snapshot.stacks is not None
    many = replace(snapshot, stacks=replace(snapshot.stacks, dumps=snapshot.stacks.dumps * 1000))
    *_, after = read(written(tmp_path / "run.hwtop", [at(many, second / 10) for second in range(10)]))
    assert after.stacks is not None
    assert after.stacks.dumps == ()
    assert "recording" in after.stacks.missing
    assert after.process == snapshot.process


def test_no_secret_of_a_log_line_is_stored(tmp_path: Path) -> None:
    lines = (
        "login with token ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "postgres://me:hunter22@db/runs",
        "step 3 loss 0.5",
    )
    (found,) = read(written(tmp_path / "run.hwtop", [flooded(hang()[0], lines)]))
    assert found.logs is not None
    texts = [line.text for line in found.logs.lines]
    assert "ghp_" not in texts[0]
    assert "hunter22" not in texts[1]
    assert texts[2] == lines[2]

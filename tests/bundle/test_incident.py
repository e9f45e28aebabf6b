"""The evidence of a hang is saved once, without the feed waiting for it."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from hwtop import cli
from hwtop.bundle import incidents, opened
from hwtop.bundle.evidence import Evidence, Seen
from hwtop.bundle.incident import IncidentKeeper, Past, keeper, nothing, saved
from hwtop.model.frame import Frame
from hwtop.model.reported.log import LogFile, LogLine
from tests import frames
from tests.bundle.zips import manifest, members, texts
from tests.job.test_secret_kinds import KINDS
from tests.store.sessions import flooded, hang

PLACE = Path("/state/1.zip")
_NO_PID = 5_000_000
"""Larger than a PID can be (proc_sys_kernel(5))."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "hwtop" / "incidents"


def hwtop(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, ["incidents", *arguments])


class Saves:
    """Takes part in saving; does not return before `free` is set."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.seen: list[tuple[Frame, Seen]] = []

    def __call__(self, frame: Frame, seen: Seen, past: Past) -> Path:
        self.free.wait(60)
        self.seen.append((frame, seen))
        return PLACE


def test_one_trouble_is_saved_once_and_the_feed_does_not_wait() -> None:
    save = Saves()
    kept = IncidentKeeper(save, nothing)
    kept.store(hang()[0])
    for frame in (frames.healthy(), frames.hang(), frames.dead_rank(), frames.hang()):
        kept.advance(frame)  # returns although nothing is saved yet
    assert save.seen == []
    save.free.set()
    assert kept.finish() == PLACE
    assert [(frame.findings[0].symptom, seen.snapshot) for frame, seen in save.seen] == [("hang", hang()[0])]


def test_the_next_trouble_is_saved_too() -> None:
    save = Saves()
    save.free.set()
    kept = IncidentKeeper(save, nothing)
    for frame in (frames.hang(), frames.healthy(), frames.dead_rank()):
        kept.advance(frame)
        kept.finish()
    assert len(save.seen) == 2


def test_warnings_and_other_jobs_are_not_saved() -> None:
    save = Saves()
    kept = IncidentKeeper(save, nothing)
    first = frames.hang().findings[0]
    for frame in (
        frames.healthy(),
        frames.picker(),
        replace(frames.hang(), findings=(replace(first, severity="warning"),)),
        replace(frames.hang(), findings=(replace(first, category="correctness"),)),
    ):
        kept.advance(frame)
    assert kept.finish() is None


def test_a_setting_turns_it_off(folder: Path) -> None:
    kept = keeper(False)
    kept.store(hang()[0])
    kept.advance(frames.hang())
    assert kept.finish() is None
    assert not folder.exists()


@pytest.mark.parametrize("error", [OSError("no space left on device"), ValueError("a mistake")])
def test_a_full_disk_is_no_trouble_of_the_feed(error: Exception) -> None:
    def save(frame: Frame, seen: Seen, past: Past) -> Path:
        raise error

    kept = IncidentKeeper(save, nothing)
    kept.advance(frames.hang())
    assert kept.finish() is None


def hung() -> tuple[Frame, Seen]:
    """A recorded hang, with secrets in its log, command line and environment."""
    evidence = Evidence()
    for snapshot in hang():
        evidence.put(snapshot)
    seen = evidence.seen()
    assert seen.snapshot is not None
    assert seen.snapshot.process is not None
    planted = " ".join(KINDS.values())
    first, *rest = seen.snapshot.process.processes
    told = replace(first, cmdline=("python", *KINDS.values()), env={**(first.env or {}), "NCCL_PLANTED": planted})
    process = replace(seen.snapshot.process, processes=(told, *rest))
    frame = frames.hang()
    job = frame.derived.job
    assert job is not None
    lines = tuple(LogLine(path=f"/{text}.log", line_no=1, text=f"use {text}", at_s=1.0) for text in KINDS.values())
    files = tuple(LogFile(path=line.path, pids=(), size_bytes=1, age_s=1.0) for line in lines)
    job = replace(job, target_pid=_NO_PID, logs=replace(job.logs, lines=lines, flagged_lines=lines, files=files))
    frame = replace(frame, derived=replace(frame.derived, job=job))
    return frame, replace(seen, snapshot=replace(seen.snapshot, process=process))


def test_an_incident_of_a_job_that_is_gone(folder: Path, tmp_path: Path) -> None:
    frame, seen = hung()
    last = flooded(hang()[40], [f"login with {secret}" for secret in KINDS.values()])
    place = saved(frame, seen, lambda newest_s: (*hang()[:40], last))
    assert (place.parent, place.stat().st_mode & 0o777) == (folder, 0o600)
    found, told = members(place), manifest(place)
    assert {"report.md", "stacks.json", "started.json", "environment.json", "hardware.json", "logs/newest.txt"} <= set(
        found
    )
    with contextlib.closing(opened.recording(place)) as recording:
        assert [snapshot.at_s for snapshot in recording.snapshots()] == [each.at_s for each in hang()[:41]]
    assert {"stacks.txt", "git.json"} <= told["not_collected"].keys()
    assert found["stacks.json"].count(b'"pid"') == len(seen.dumps) > 0
    for member, text in texts(place, tmp_path).items():
        for kind, secret in KINDS.items():
            assert secret[-10:] not in text, f"{kind} in {member}"
            assert secret[4:14] not in text, f"{kind} in {member}"


def test_incidents_are_listed_shown_and_removed(folder: Path) -> None:
    assert hwtop().stdout == f"no incidents in {folder}\n"
    frame, seen = hung()
    place = saved(frame, seen, nothing)
    listed = hwtop().stdout
    assert listed.startswith(place.stem)
    assert frame.verdict.text in listed
    shown = hwtop("show", place.stem).stdout
    assert shown.startswith(f"{place}\n\n# {frame.verdict.text}")
    assert "no incident 'other'" in str(hwtop("show", "other").exception)
    assert hwtop("prune").stdout == f"removed 1 incidents from {folder}\n"
    assert os.listdir(folder) == []


def test_a_file_that_is_no_incident_is_listed_as_such(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "1-x.zip").write_bytes(b"nothing")
    assert "is a damaged bundle" in hwtop().stdout


def test_the_oldest_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(incidents.MOST + 3):
        place = incidents.save(number + 1, float(number), b"x" * 10)
        os.utime(place, (number, number))
    assert [place.name.partition("-")[0] for place in incidents.everything()] == [
        str(number) for number in range(incidents.MOST + 3, 3, -1)
    ]
    monkeypatch.setattr(incidents, "_MOST_BYTES", 35)
    assert incidents.prune(incidents.MOST) == incidents.MOST - 3

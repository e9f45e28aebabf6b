"""The last half hour of a watch is there without having been asked for."""

from __future__ import annotations

import os
import queue
import zipfile
from pathlib import Path

import pytest

from hwtop.bundle import opened
from hwtop.bundle.evidence import Evidence
from hwtop.commands.saved.bundle import bundle_of_watch
from hwtop.config import EVERY_SYMPTOM
from hwtop.feed.flight import KEEP_S, Flight, folder
from hwtop.feed.record import RecordingSwitch
from hwtop.ui.pictures.screenshot import looks
from hwtop.ui.pictures.shot import Shot
from hwtop.ui.view import View
from tests.recording import replay
from tests.store.sessions import at, hang, read


def test_the_newest_part_is_kept_in_memory(tmp_path: Path) -> None:
    flight = Flight("memory", 4711, {"XDG_STATE_HOME": str(tmp_path)})
    for number in range(30):
        flight.store(hang()[number])
    assert flight.snapshots() == list(hang()[:30])
    assert flight.snapshots(9.5) == [each for each in hang()[:30] if hang()[29].at_s - each.at_s <= 9.5]
    flight.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_older_than_half_an_hour_goes() -> None:
    flight = Flight("memory", 4711)
    for second in range(0, int(KEEP_S) + 400, 50):
        flight.store(at(hang()[0], second))
    kept = flight.snapshots()
    flight.close()
    assert KEEP_S - 100 <= kept[-1].at_s - kept[0].at_s <= KEEP_S


def test_without_a_job_or_where_it_is_off_nothing_is_kept() -> None:
    for flight in (Flight("memory", None), Flight("off", 4711)):
        flight.store(hang()[0])
        assert flight.snapshots() == ()
        flight.close()


def test_on_disk_it_is_a_recording_of_which_the_newest_few_stay(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    folder(environ).mkdir(parents=True)
    for number in range(8):
        old = folder(environ) / f"{number}-20260101-000000.hwtop"
        old.touch()
        os.utime(old, (number, number))
    flight = Flight("disk", 4711, environ)
    flight.store(hang()[0])
    assert flight.snapshots() == [hang()[0]]
    flight.close()
    names = sorted(place.name for place in folder(environ).glob("*.hwtop"))
    assert [name.partition("-")[0] for name in names] == ["4", "4711", "5", "6", "7"]
    assert read(next(folder(environ).glob("4711-*.hwtop"))) == [hang()[0]]


def test_a_folder_that_cannot_be_written_is_no_trouble_of_the_feed(tmp_path: Path) -> None:
    (tmp_path / "hwtop").touch()
    flight = Flight("disk", 4711, {"XDG_STATE_HOME": str(tmp_path)})
    for number in range(100):
        flight.store(hang()[number])
    assert flight.snapshots() == ()
    flight.close()


def test_a_recording_begins_with_the_minutes_before_the_key(tmp_path: Path) -> None:
    told: queue.Queue[tuple[str, bool]] = queue.Queue()
    switch = RecordingSwitch(str(tmp_path), lambda: hang()[:5])
    switch.toggle("run", lambda words, goes_on: told.put((words, goes_on)))
    told.get(timeout=60)
    for snapshot in hang()[3:8]:  # two of them are among the earlier ones
        switch.store(snapshot)
    switch.close()
    assert read(tmp_path / "run.hwtop") == list(hang()[:8])


def test_the_key_makes_a_bundle_of_what_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the past, the report and the screen as it was, and waits for nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    frame, evidence = replay("hang")[-1], Evidence()
    for snapshot in hang():
        evidence.put(snapshot)
    told: queue.Queue[tuple[str, Path | None]] = queue.Queue()
    shot = Shot(View(frame=frame, page="ranks"), (120, 40), looks("hwtop"))
    bundle_of_watch(
        shot, frame, evidence.seen(), lambda: hang()[60:], EVERY_SYMPTOM, lambda words, place: told.put((words, place))
    )
    steps = [told.get(timeout=120)]
    while not steps[-1][0].startswith(("saved", "not saved")):
        steps.append(told.get(timeout=120))
    assert [words for words, _ in steps[:-1]] == ["masking the last minutes ...", "collecting ...", "drawing ..."]
    words, place = steps[-1]
    assert place is not None, words
    assert str(place) in words
    assert place.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(place) as bundle:
        assert {"report.md", "manifest.json", "screen.png", "screen.txt", "stacks.json"} <= set(bundle.namelist())
        assert "Ranks" in bundle.read("screen.txt").decode()
    recording = opened.recording(place)
    assert len(list(recording.snapshots())) == len(hang()[60:])
    recording.close()

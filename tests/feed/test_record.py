"""The recorder never makes the feed wait, whatever the disk does."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

from hwtop.errors import CannotError
from hwtop.feed.record import Recorder, RecordingSwitch
from hwtop.store.kind import Reading
from hwtop.store.writer import Writer
from tests.store.sessions import hang, read


class Disk(Writer):
    """Blocks until it is free, then fails where it is full."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.free = threading.Event()
        self.closed = threading.Event()
        self.is_full = is_full
        self.stored: list[Reading] = []

    def add(self, reading: Reading) -> None:
        self.free.wait()
        if self.is_full:
            raise CannotError("cannot write 'run.hwtop': disk full")
        self.stored.append(reading)

    def close(self) -> None:
        self.closed.set()


def test_what_a_slow_disk_cannot_take_is_left_out_and_counted() -> None:
    disk = Disk()
    recorder = Recorder(lambda: disk)
    given = hang()[:100]
    for snapshot in given:
        recorder.put(snapshot)
    assert recorder.left_out > 0
    disk.free.set()
    recorder.close()
    assert disk.closed.is_set()
    assert disk.stored == list(given[: len(disk.stored)])
    assert len(disk.stored) + recorder.left_out == len(given)


def test_a_full_disk_ends_it() -> None:
    disk = Disk(is_full=True)
    disk.free.set()
    recorder = Recorder(lambda: disk)
    recorder.put(hang()[0])
    assert disk.closed.wait(10)
    for snapshot in hang():
        recorder.put(snapshot)
    recorder.close()
    assert str(recorder.error) == "cannot write 'run.hwtop': disk full"


def test_a_switch_starts_and_ends_a_recording(tmp_path: Path) -> None:
    told: queue.Queue[tuple[str, bool]] = queue.Queue()
    switch = RecordingSwitch(str(tmp_path))
    switch.store(hang()[0])
    switch.toggle("run", lambda words, goes_on: told.put((words, goes_on)))
    assert told.get(timeout=10) == (f"recording into {tmp_path}/run.hwtop", True)
    for snapshot in hang()[1:4]:
        switch.store(snapshot)
    switch.toggle("other", lambda words, goes_on: told.put((words, goes_on)))
    assert told.get(timeout=10) == (f"recorded {tmp_path}/run.hwtop", False)
    switch.store(hang()[4])
    assert read(tmp_path / "run.hwtop") == list(hang()[1:4])
    assert [path.name for path in tmp_path.iterdir()] == ["run.hwtop"]


def test_a_recording_that_cannot_begin_says_why(tmp_path: Path) -> None:
    told: queue.Queue[tuple[str, bool]] = queue.Queue()
    switch = RecordingSwitch(str(tmp_path / "missing"))
    switch.toggle("run", lambda words, goes_on: told.put((words, goes_on)))
    words, goes_on = told.get(timeout=10)
    assert "No such file or directory" in words
    assert not goes_on
    switch.close()

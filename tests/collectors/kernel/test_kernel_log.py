"""The kernel's log as /dev/kmsg and the journal give it."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.kernel.record import parse_journal, parse_kmsg
from hwtop.collectors.kernel.source import KernelLogSource
from hwtop.model.host.kernel import KernelLine
from tests.kernel_lines import raw_records


class Device:
    """Stands for an open /dev/kmsg: one record a read, then nothing more."""

    def __init__(self, *items: bytes | OSError) -> None:
        self.items = list(items)

    def read(self, _descriptor: int, _size: int) -> bytes:
        if not self.items:
            raise BlockingIOError(errno.EAGAIN, "nothing there")
        item = self.items.pop(0)
        if isinstance(item, OSError):
            raise item
        return item


class Clock:
    def __init__(self, now_s: float) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


def source(device: Device, clock: Clock, tmp_path: Path) -> KernelLogSource:
    (tmp_path / "kmsg").touch()
    found = KernelLogSource(kmsg=str(tmp_path / "kmsg"), journalctl="/no/journalctl", now=clock, read=device.read)
    assert found.probe() is None
    return found


def record(sequence: int, text: str, *, at_s: float = 100.0, priority: int = 6, flag: str = "-") -> bytes:
    return f"{priority},{sequence},{int(at_s * 1e6)},{flag};{text}\n".encode()


def texts(lines: tuple[KernelLine, ...]) -> list[str]:
    return [line.text for line in lines]


def test_a_record_says_who_when_and_how_bad() -> None:
    found = parse_kmsg(
        b"11,339,5140900,-,caller=T12;tab\\x09 and \\x5c and \\xc3\\xa9\n SUBSYSTEM=pci\n DEVICE=+pci:0000:18:00.0\n"
    )
    assert found is not None
    assert (found.facility, found.level, found.sequence, found.time_s) == (1, 3, 339, 5.1409)
    assert (found.text, found.device, found.continues) == ("tab\t and \\ and é", "+pci:0000:18:00.0", False)


@pytest.mark.parametrize("raw", [b"", b"hello", b"6,1;x", b"a,b,c,-;x", b";", b"\xff\xff"])
def test_what_is_no_record_is_passed_over(raw: bytes) -> None:
    assert parse_kmsg(raw) is None


def test_first_what_the_kernel_still_has_then_what_is_new(tmp_path: Path) -> None:
    device, clock = Device(record(1, "old", at_s=90.0), record(2, "older than hwtop", at_s=99.0)), Clock(100.0)
    log = source(device, clock, tmp_path)
    first = log.read()
    assert [(line.text, line.is_past, line.at_s) for line in first.lines] == [
        ("old", True, 90.0),
        ("older than hwtop", True, 99.0),
    ]
    assert log.read().lines == ()
    clock.now_s = 101.0
    device.items.append(record(3, "new", at_s=100.4, priority=3))
    (line,) = log.read().lines
    assert (line.text, line.is_past, line.at_s, line.level) == ("new", False, 100.4, 3)


@pytest.mark.parametrize(("stamped_s", "reported_s"), [(80.0, 100.0), (100.5, 100.5), (130.0, 101.0)])
def test_a_clock_that_has_drifted_does_not_move_a_new_record_out_of_its_time(
    stamped_s: float, reported_s: float, tmp_path: Path
) -> None:
    device, clock = Device(), Clock(100.0)
    log = source(device, clock, tmp_path)
    log.read()
    clock.now_s = 101.0
    device.items.append(record(1, "x", at_s=stamped_s))
    assert log.read().lines[0].at_s == reported_s


def test_pieces_of_a_line_are_joined(tmp_path: Path) -> None:
    device = Device(record(1, "["), record(2, "0", flag="+"), record(3, " 1 ]", flag="+"), record(4, "next"))
    assert texts(source(device, Clock(100.0), tmp_path).read().lines) == ["[0 1 ]", "next"]


def test_what_was_overwritten_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    device = Device(record(7, "first"))
    log = source(device, Clock(100.0), tmp_path)
    assert log.read().lost_lines == 0  # what was overwritten before hwtop came could be read by nobody
    device.items += [
        OSError(errno.EPIPE, "overwritten"),
        record(20, "a"),
        OSError(errno.EINVAL, "long"),
        record(22, "b"),
    ]
    reading = log.read()
    assert (texts(reading.lines), reading.lost_lines) == (["a", "b"], 13)
    assert "13 records" in reading.missing["lines"]


def test_another_failure_is_the_lanes_to_report(tmp_path: Path) -> None:
    log = source(Device(OSError(errno.EIO, "broken")), Clock(100.0), tmp_path)
    with pytest.raises(OSError, match="broken"):
        log.read()


def test_of_long_ago_only_what_a_pattern_may_match_is_kept(tmp_path: Path) -> None:
    fault = "NVRM: Xid (PCI:0000:18:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    device = Device(record(1, "hello", at_s=5.0), record(2, fault, at_s=6.0), record(3, "of late", at_s=9_900.0))
    reading = source(device, Clock(10_000.0), tmp_path).read()
    assert (texts(reading.lines), reading.skipped_lines) == ([fault, "of late"], 1)


def test_in_a_flood_nothing_that_matters_is_lost(tmp_path: Path) -> None:
    flood = [record(number, f"noise {number}") for number in range(5000)]
    flood[2500:2500] = raw_records("memcg_oom.kmsg")
    reading = source(Device(*flood), Clock(100.0), tmp_path).read()
    assert reading.skipped_lines > 4900
    kept = texts(reading.lines)
    assert any(text.startswith("oom-kill:constraint=CONSTRAINT_MEMCG") and "pid=111" in text for text in kept)
    assert any(text.startswith("Memory cgroup out of memory: Killed process 111") for text in kept)
    assert any(text.startswith("memory: usage") for text in kept)


def test_without_a_device_the_reason_says_what_to_do(tmp_path: Path) -> None:
    log = KernelLogSource(kmsg=str(tmp_path / "none"), journalctl="/no/journalctl")
    reason = log.probe() or ""
    assert "run hwtop on the host" in reason
    assert "--device /dev/kmsg --cap-add SYSLOG" in reason


def test_without_permission_the_reason_is_the_command_that_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted", path)

    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/dmesg_restrict").write_text("1\n")
    log = KernelLogSource(journalctl="/no/journalctl", proc=str(tmp_path))
    monkeypatch.setattr("hwtop.collectors.kernel.source.os.open", refuse)
    reason = log.probe() or ""
    assert "kernel.dmesg_restrict=1" in reason
    assert "sudo sysctl kernel.dmesg_restrict=0" in reason
    assert "systemd-journal" in reason


def test_on_this_machine_it_is_read_or_the_reason_is_told() -> None:
    log = KernelLogSource()
    reason = log.probe()
    try:
        assert reason is None or "run hwtop" in reason
        assert reason is not None or log.read().origin in ("/dev/kmsg", "journalctl")
    finally:
        log.close()


JOURNAL = """#!/bin/sh
case "$*" in
  *" -f "*) {follow} ;;
  *) {once} ;;
esac
"""


def journal_line(text: object, micros: int, cursor: str = "s=1") -> str:
    return json.dumps(
        {
            "_TRANSPORT": "kernel",
            "MESSAGE": text,
            "PRIORITY": "3",
            "SYSLOG_FACILITY": "0",
            "_SOURCE_MONOTONIC_TIMESTAMP": str(micros),
            "__MONOTONIC_TIMESTAMP": str(micros + 5),
            "_KERNEL_DEVICE": "+pci:0000:18:00.0",
            "__CURSOR": cursor,
        }
    )


def test_a_line_of_the_journal() -> None:
    found = parse_journal(journal_line("hello", 2_500_000).encode())
    assert found is not None
    assert (found.text, found.time_s, found.level, found.facility) == ("hello", 2.5, 3, 0)
    blob = parse_journal(journal_line(list("é\x01".encode()), 1).encode())
    assert blob is not None and blob.text == "é\x01"
    assert parse_journal(journal_line(None, 1).encode()) is None  # too long: the journal leaves it out
    assert parse_journal(b'{"_TRANSPORT": "stdout", "MESSAGE": "x", "__MONOTONIC_TIMESTAMP": "1"}') is None
    assert parse_journal(b"Hint: You are currently not seeing messages") is None


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[tuple[Path, KernelLogSource]]:
    """A journalctl that follows a file, and a source that has no /dev/kmsg."""
    lines = tmp_path / "lines"
    lines.write_text(journal_line("first", micros(-5.0)) + "\n")
    script = tmp_path / "journalctl"
    script.write_text(JOURNAL.format(follow=f"exec tail -n +1 -f {lines}", once=f"head -n 1 {lines}"))
    script.chmod(0o755)
    log = KernelLogSource(kmsg=str(tmp_path / "none"), journalctl=str(script))
    yield lines, log
    log.close()


def micros(seconds: float) -> int:
    """From now, on the kernel's clock."""
    return int((time.monotonic() + seconds) * 1e6)


def until(log: KernelLogSource, count: int) -> list[KernelLine]:
    found: list[KernelLine] = []
    deadline_s = time.monotonic() + 20
    while len(found) < count and time.monotonic() < deadline_s:
        found += log.read().lines
        time.sleep(0.02)
    return found


def test_the_journal_is_followed_where_the_device_may_not_be_read(journal: tuple[Path, KernelLogSource]) -> None:
    lines, log = journal
    assert log.probe() is None
    assert [(line.text, line.is_past) for line in until(log, 1)] == [("first", True)]
    with lines.open("a") as file:
        file.write(journal_line("second", micros(0.0), "s=2") + "\n")
    (second,) = until(log, 1)
    assert (second.text, second.is_past, second.device) == ("second", False, "+pci:0000:18:00.0")
    assert log.read().origin == "journalctl"


def test_nothing_is_left_behind_when_the_source_closes(journal: tuple[Path, KernelLogSource]) -> None:
    lines, log = journal
    assert log.probe() is None
    until(log, 1)
    log.close()
    deadline_s = time.monotonic() + 20
    while _followers(lines) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert _followers(lines) == []


def _followers(lines: Path) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if str(lines).encode() in words and b"tail" in words:
            found.append(pid)
    return found


def test_a_journal_that_shows_nothing_is_a_reason(tmp_path: Path) -> None:
    script = tmp_path / "journalctl"
    script.write_text(JOURNAL.format(follow="exit 1", once="echo 'No journal files were found.' >&2"))
    script.chmod(0o755)
    log = KernelLogSource(kmsg=str(tmp_path / "none"), journalctl=str(script))
    assert "No journal files were found." in (log.probe() or "")

"""How a process ended that its parent has reaped at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from hwtop.collectors.process.exit_status import ExitStatuses


@pytest.fixture
def statuses() -> Iterator[ExitStatuses]:
    held = ExitStatuses()
    yield held
    held.close()


def kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdigit())


@pytest.mark.skipif(sys.platform != "linux" or kernel() < (6, 15), reason="the kernel does not say it")
@pytest.mark.parametrize(("end", "expected"), [(b"7\n", 7), (b"0\n", 0), (None, -signal.SIGKILL)])
def test_the_code_is_known_after_the_process_is_gone(statuses: ExitStatuses, end: bytes | None, expected: int) -> None:
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(int(input()))"], stdin=subprocess.PIPE) as process:
        statuses.hold(process.pid)
        if end is None:
            process.kill()
        process.communicate(end)
    assert statuses.take(process.pid) == expected
    assert statuses.take(process.pid) is None  # released


def test_a_process_that_was_never_seen_alive_is_unknown(statuses: ExitStatuses) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    statuses.hold(process.pid)
    assert statuses.take(process.pid) is None


def test_of_very_many_processes_not_all_are_held(statuses: ExitStatuses, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def descriptor(pid: int) -> int:
        opened.append(pid)
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr("hwtop.collectors.process.exit_status.descriptor_of", descriptor)
    for pid in range(1000):
        statuses.hold(pid)
    assert opened == list(range(256))

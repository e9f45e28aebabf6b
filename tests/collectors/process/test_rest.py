"""Since when threads have not run, by the kernel's own account."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.process.files import read_threads
from hwtop.collectors.process.rest import Rest, read_rest
from hwtop.collectors.process.source import ProcessSource
from tests.stack_jobs import until

POLL_S = 0.2
POLLS = f"""
import sys, threading, time
def poll():
    while True:
        time.sleep({POLL_S})
threading.Thread(target=poll, daemon=True).start()
end = time.process_time() + 0.3
while time.process_time() < end: pass
print("asleep", flush=True)
sys.stdin.read()
"""
"""Computes for a moment, then waits for its input, while another thread polls."""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", POLLS], stdin=-1, stdout=-1, text=True) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "asleep\n"
        yield popen
        popen.kill()


def rest_of(pid: int) -> Rest:
    rest = read_rest("/proc", pid, read_threads(f"/proc/{pid}"), os.sysconf("SC_CLK_TCK"))
    assert rest is not None
    return rest


def test_a_process_that_sleeps_and_polls_has_rested_since_it_last_computed(sleeper: subprocess.Popen[str]) -> None:
    rest = until(lambda: rest_of(sleeper.pid), lambda rest: time.monotonic() - rest.main_since_s > 5 * POLL_S)
    assert rest.all_since_s == rest.main_since_s, "although the other thread has run since"


def test_the_source_reports_it_until_the_main_thread_runs(sleeper: subprocess.Popen[str]) -> None:
    source = ProcessSource(sleeper.pid)
    (first,) = source.read().processes
    assert first.asleep_since_s is not None
    assert first.idle_since_s is not None
    assert sleeper.stdin is not None
    sleeper.stdin.close()
    sleeper.wait()
    source.close()


def test_a_kernel_without_the_file_says_nothing(tmp_path: Path) -> None:
    assert read_rest(str(tmp_path), 1, (), 100) is None


def test_a_file_without_the_number_says_nothing(tmp_path: Path) -> None:
    for name in ("thread-self", "7"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sched").write_text("python (7, #threads: 1)\n")
    assert read_rest(str(tmp_path), 7, (), 100) is None

"""`hwtop record` of a real process, and what it leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.commands.shared.values import Bytes
from hwtop.errors import UsageError
from hwtop.store.reader import Recording
from tests.training import TrainingJob, start_python

pytestmark = pytest.mark.real

_JOB = """
import time
for step in range(100_000):
    print(f"step {step} loss 2.5", flush=True)
    time.sleep(0.1)
"""
_DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingJob]:
    folder = tmp_path_factory.mktemp("job")
    script = folder / "train.py"
    script.write_text(_JOB)
    with start_python(script, folder, logs="launcher.log") as job:
        job.wait_for_line("step 5 ")
        yield job


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hwtop", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def has_snapshots(place: Path) -> bool:
    try:
        Recording(place).close()
    except UsageError:
        return False
    return True


def test_a_job_is_recorded_and_diagnosed_later(job: TrainingJob, tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    process = start("record", "-o", place, "--for", "2s", job.launcher_pid)
    told, errors = process.communicate(timeout=_DEADLINE_S)
    assert (process.returncode, errors) == (0, "")
    first, last = told.splitlines()
    assert first == f"recording the job of PID {job.launcher_pid} into {place} for 2 s"
    assert re.match(rf"recorded {re.escape(str(place))}: \d+(\.\d)? s, ", last)
    assert place.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["run.hwtop"]
    told, errors = start("replay", place, "--diagnose", "--json").communicate(timeout=_DEADLINE_S)
    assert errors == ""
    found = json.loads(told)
    assert found["target"]["pid"] == job.launcher_pid
    assert found["job"]["ranks"][0]["progress"]["loss"] == 2.5


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_recording(signum: signal.Signals, job: TrainingJob, tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    process = start("record", "-o", place, job.launcher_pid)
    deadline_s = time.monotonic() + _DEADLINE_S
    while not has_snapshots(place) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    process.send_signal(signum)
    told, errors = process.communicate(timeout=_DEADLINE_S)
    assert (process.returncode, errors) == (0, "")
    assert told.splitlines()[-1].startswith(f"recorded {place}")
    assert os.listdir(tmp_path) == ["run.hwtop"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("record", "1"), "Missing option '-o'"),
        (("record", "-o", "/nowhere/run.hwtop", "1"), "cannot create '/nowhere/run.hwtop': No such file or directory"),
        (("record", "-o", __file__, "1"), "exists: recordings never replace a file, so choose another name"),
        (("record", "-o", "run.hwtop", "--max-size", "1M", "1"), "1M is too small: use at least 4M"),
        (("record", "-o", "run.hwtop", "--max-size", "big", "1"), "'big' is not a size: use e.g. 200M or 2G"),
        (("replay", "--diagnose", __file__), "is not a recording of hwtop"),
        (("replay", "--diagnose", "/dev/zero"), "'/dev/zero' is not a regular file"),
        (("replay", "--diagnose", "/nowhere/run.hwtop"), "cannot read '/nowhere/run.hwtop': No such file or directory"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], reason: str) -> None:
    process = start(*arguments)
    told, errors = process.communicate(timeout=_DEADLINE_S)
    assert (process.returncode, told) == (2, "")
    assert reason in errors
    assert len(errors.splitlines()) == 1


def test_sizes_are_powers_of_1024() -> None:
    assert [Bytes(0).convert(text, None, None) for text in ("7", "2k", "200M", "1GB")] == [
        7,
        2048,
        200 << 20,
        1 << 30,
    ]

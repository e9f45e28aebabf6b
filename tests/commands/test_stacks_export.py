from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack_jobs import QUEUE_JOB, os_state, running

pytestmark = pytest.mark.real


def hwtop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hwtop", *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def job() -> Iterator[int]:
    with running(QUEUE_JOB, "fork", SECRET_TOKEN="hunter2") as pid:
        yield pid


def test_collapsed_stacks_go_to_the_terminal(job: int) -> None:
    done = hwtop("stacks", str(job), "--for", "1s", "--format", "collapsed")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.startswith("rank 0;") and line.rsplit(" ", 1)[1].isdigit() for line in done.stdout.splitlines())
    assert "next_batch (queue_trainer.py:" in done.stdout
    assert "hunter2" not in done.stdout
    assert os_state(job)[0] in "RSD"


def test_speedscope_goes_to_the_file_and_it_is_said(job: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text("old")
    done = hwtop("stacks", str(job), "--for", "1s", "--format", "speedscope", "--rank", "0", "-o", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"wrote {path}: ") and " samples of rank 0 over 1 s\n" in done.stdout
    file = json.loads(path.read_text())
    assert [profile["name"] for profile in file["profiles"]] == ["rank 0"]
    assert len(file["profiles"][0]["samples"]) >= 10
    assert "hunter2" not in path.read_text() and str(job) in file["name"]


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--format", "collapsed", "--rank", "7"], "no rank 7 on this machine"),
        (["--for", "5s"], "require --format"),
        (["-o", "x"], "require --format"),
        (["--format", "flamegraph"], "is not one of"),
        (["--format", "collapsed", "--json"], "leave out --json"),
        (["--format", "collapsed", "-o", "/nowhere/at/all"], "mkdir -p /nowhere/at"),
        (["--format", "collapsed", "-o", "/tmp"], "is a directory"),
        (["--format", "collapsed", "--for", "0s"], "out of range"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(job: int, arguments: list[str], reported: str) -> None:
    done = hwtop("stacks", str(job), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hwtop: ") and done.stderr.count("\n") == 1
    assert reported in done.stderr


def test_what_is_no_python_says_so_with_the_way_out() -> None:
    sleeper = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    done = hwtop("stacks", str(sleeper.pid), "--for", "1s", "--format", "collapsed")
    sleeper.kill()
    sleeper.wait()
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "is not a Python process" in done.stderr and "another language" in done.stderr

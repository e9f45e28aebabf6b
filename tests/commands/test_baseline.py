"""`hwtop baseline`: stored, compared, and wrong input."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.errors import CannotError, HwtopError, UsageError
from tests.training import start_python

pytestmark = pytest.mark.real

TRAINER = """
import sys, time
for step in range(100_000):
    print(f"step {step} loss 2.5 step_time 0.1 s", flush=True)
    time.sleep(0.1)
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "hwtop" / "baselines"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["baseline", *arguments], catch_exceptions=False, standalone_mode=False)
    assert (result.return_value or 0) == code
    return result.stdout


def log(folder: Path, name: str, seconds: float) -> str:
    path = folder / name
    path.write_text("".join(f"step {step} loss 2.5 step_time {seconds} s\n" for step in range(60)))
    return str(path)


def test_logs_of_two_runs(tmp_path: Path, state: Path) -> None:
    good, bad = log(tmp_path, "good.log", 0.31), log(tmp_path, "bad.log", 0.42)
    assert "baseline runs saved: good.log, from logs" in run("save", good, "--name", "runs")
    assert (state / "runs.json").stat().st_mode & 0o777 == 0o600

    assert "step time 0.31 -> 0.42 s (+35 %)" in run("compare", bad, "--name", "runs", code=1)
    assert run("compare", good, "--name", "runs").startswith("not slower than baseline runs")
    reported = json.loads(run("compare", bad, "--name", "runs", "--json", code=1))
    assert (reported["slower"], reported["pace"]) == (True, "step_time_s")
    assert run("list").startswith("runs: good.log, from logs")


def test_a_running_job(tmp_path: Path, state: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINER)
    with start_python(script, tmp_path, "s3cret", logs="launcher.log") as job:
        job.wait_for_line("step 5 ")
        reported = run("save", str(job.launcher_pid), "--for", "5s")
    assert "baseline train.py-1 saved: train.py, 1 rank" in reported
    stored = (state / "train.py-1.json").read_text()
    assert '"step_time_s"' in stored
    assert "s3cret" not in stored and str(tmp_path) not in stored


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("save", "no-such.log"), UsageError, "no-such.log"),
        (("save", "99999999"), HwtopError, "99999999"),
        (("save", str(os.getpid()), "some.log"), UsageError, "one PID or log files"),
        (("save", __file__, "--name", "../up"), UsageError, "is not a valid name of a baseline"),
        (("compare", __file__, "--name", "lost"), UsageError, "none is stored; `hwtop baseline save PID`"),
    ],
)
def test_wrong_input(arguments: tuple[str, ...], error: type[HwtopError], says: str) -> None:
    with pytest.raises(error) as raised:
        run(*arguments)
    assert says in str(raised.value)


def test_a_log_without_a_pace(tmp_path: Path) -> None:
    path = tmp_path / "empty.log"
    path.write_text("hello\n")
    with pytest.raises(CannotError, match="no step time or throughput found"):
        run("save", str(path))


def test_what_is_there_is_overwritten_only_when_told_so(tmp_path: Path) -> None:
    good = log(tmp_path, "good.log", 0.31)
    run("save", good, "--name", "runs")
    with pytest.raises(UsageError, match="overwrite it with --force"):
        run("save", good, "--name", "runs")
    run("save", good, "--name", "runs", "--force")
    with pytest.raises(UsageError, match=r"stored: runs \(choose with --name\)"):
        run("compare", good)


def test_units_that_differ_cannot_be_compared(tmp_path: Path) -> None:
    one, other = tmp_path / "a.log", tmp_path / "b.log"
    one.write_text("".join(f"step {step} loss 2.5 tokens/s: 1000\n" for step in range(40)))
    other.write_text("".join(f"step {step} loss 2.5 samples/s: 10\n" for step in range(40)))
    run("save", str(one), "--name", "runs")
    with pytest.raises(CannotError, match="in the same unit"):
        run("compare", str(other), "--name", "runs")


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\x00", '{"format": 1}'])
def test_a_spoilt_file(tmp_path: Path, state: Path, text: str) -> None:
    good = log(tmp_path, "good.log", 0.31)
    run("save", good, "--name", "runs")
    (state / "runs.json").write_text(text)
    with pytest.raises(UsageError, match="not a baseline of hwtop"):
        run("compare", good, "--name", "runs")
    assert "not a baseline of hwtop" in run("list")


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    with pytest.raises(CannotError, match="cannot write"):
        run("save", log(tmp_path, "good.log", 0.31))

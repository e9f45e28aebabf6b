"""`hwtop wait`: what a script or an agent gets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hwtop import cli
from hwtop.bundle import incident
from hwtop.feed import vigil
from hwtop.model.frame import Frame
from tests import frames
from tests.parts import replace
from tests.schemas import valid

TRAINER = """
import sys, time
for step in range(int(sys.argv[1])):
    print(f"step {step} loss {3 - step / 100} lr 0.001", flush=True)
    time.sleep(0.05)
sys.exit(7)
"""


@pytest.fixture(autouse=True)
def no_incident(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No real process is looked at for the PIDs of a made frame, and nothing is stored in the home directory."""
    monkeypatch.setattr(incident, "saved", lambda *_: Path("/state/1.zip"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def watched(monkeypatch: pytest.MonkeyPatch, *seen: Frame) -> None:
    """The job shows these frames, one a second."""

    def of_job(pid: int, **_: Any) -> Iterator[Frame]:
        yield from (replace(frame, watched_s=float(number), number=number + 1) for number, frame in enumerate(seen))

    monkeypatch.setattr(vigil, "vigil", of_job)


def wait(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, ["wait", "1", *arguments])


def ended(code: int | None) -> Frame:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    over = replace(job, has_ended=True, ended_for_s=3.0, exit_code=code)
    return replace(frame, derived=replace(frame.derived, job=over))


@pytest.mark.parametrize(
    ("last", "arguments", "reason", "code"),
    [
        (ended(0), [], "ended", 0),
        (ended(None), [], "ended", 0),
        (ended(-9), [], "ended", 1),
        (frames.hang(), [], "stalled", 1),
        (frames.dead_rank(), ["--until", "symptom:rank-dead"], "symptom", 1),
        (frames.healthy(), ["--until", "step=1"], "reached", 0),
        (frames.healthy(), ["--timeout", "2s"], "timeout", 124),
    ],
)
def test_reason_and_exit_code(
    last: Frame, arguments: list[str], reason: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = frames.healthy()
    watched(monkeypatch, *([last] if reason == "reached" else [healthy, healthy, last]))
    done = wait("--json", *arguments)
    found = valid("wait", done.output)
    assert (found["reason"], done.exit_code) == (reason, code)
    assert (found["incident"] == "/state/1.zip") == (last.verdict.level == "critical")
    assert reason == "ended" or any(action["command"].startswith("hwtop ") for action in found["next_actions"])


def test_the_text_begins_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, frames.healthy(), ended(-9))
    assert wait().stdout.startswith("ended after 1 s: the job has ended, killed by SIGKILL\n")


def test_a_process_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, *[frames.picker()] * 7)
    assert "cannot read process 1" in str(wait().exception)


@pytest.mark.real
def test_a_real_job_that_ends_gives_its_exit_code_and_its_last_step(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINER)
    with (tmp_path / "train.log").open("wb") as log:
        # its parent reaps it at once, so nobody sees a zombie
        shell = subprocess.Popen(
            ["sh", "-c", f"{sys.executable} {script} 300 & echo $!; wait"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert shell.stdout is not None
    pid = shell.stdout.readline().strip()
    done = subprocess.run(
        [sys.executable, "-m", "hwtop", "wait", pid, "--json", "--timeout", "2m"],
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
    shell.communicate()
    found = valid("wait", done.stdout)
    assert (found["reason"], done.returncode, done.stderr) == ("ended", 1, "")
    assert found["exit_code"] in (7, None)  # None before Linux 6.15

"""`hwtop demo`: the list, a wrong name, and that leaving in any way ends the job."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hwtop.cli import main
from hwtop.commands.job import live
from hwtop.commands.setup import demo
from hwtop.commands.shared.watching import Watching
from hwtop.demo import catalogue
from hwtop.demo.run import DemoJob
from hwtop.demo.scenarios import DEFAULT, SCENARIOS
from hwtop.errors import CannotError
from hwtop.leaving import leave


def test_list_names_each_scenario_and_its_symptom(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--list"])
    assert ended.value.code == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[0], row[1]) for row in rows] == [(entry.name, entry.symptom or "none") for entry in catalogue.demos()]


def test_names_are_unique_and_default_is_one_of_them() -> None:
    names = [known.name for known in catalogue.demos()]
    assert len(set(names)) == len(names)
    assert DEFAULT in names


def test_wrong_name_is_one_line_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", "slow"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "'slow'" in said
    assert all(known.name in said for known in catalogue.demos())


def test_a_job_says_which_package_it_needs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        main(["demo", "checkpoint_slow"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "needs torch" in said
    assert "-m pip install torch" in said


class Screen:
    """Stands where the screen would be: notes what it was given, then leaves in some way."""

    def __init__(self, leave: Any) -> None:
        self.leave = leave
        self.launcher_pid = 0
        self.folder = Path()
        self.seconds: float | None = None

    def watch(self, _: object, watching: Watching, seconds: float | None) -> None:
        assert watching._target_pid is not None
        self.launcher_pid, self.folder, self.seconds = watching._target_pid, Path(watching._logs[0]).parent, seconds
        assert (self.folder / "launcher.log").exists()
        self.leave()


def assert_nothing_is_left(screen: Screen) -> None:
    assert screen.launcher_pid > 0
    assert DemoJob(SCENARIOS[0], Path()).members(screen.launcher_pid) == []
    assert not screen.folder.exists()


def refuse() -> None:
    raise CannotError("the screen needs a terminal")


@pytest.fixture
def as_a_program() -> Iterator[None]:
    """The signals are handled as `hwtop` does where it is started."""
    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.real
@pytest.mark.usefixtures("as_a_program")
@pytest.mark.parametrize(
    ("leaves", "code"),
    [
        (lambda: None, 0),
        (refuse, 1),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), 128 + signal.SIGTERM),
        (lambda: os.kill(os.getpid(), signal.SIGHUP), 128 + signal.SIGHUP),
    ],
    ids=["quit", "error", "SIGTERM", "SIGHUP"],
)
def test_leaving_ends_the_job(leaves: Any, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(leaves)
    monkeypatch.setattr(live, "watch", screen.watch)
    before = signal.getsignal(signal.SIGTERM)
    result = CliRunner().invoke(demo.command, ["healthy", "--stdlib", "--for", "20s"])
    assert result.exit_code == code
    assert screen.seconds == 20.0
    assert signal.getsignal(signal.SIGTERM) is before
    assert_nothing_is_left(screen)

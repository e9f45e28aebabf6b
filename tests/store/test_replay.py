"""What is found in a recording is what was found while it was made."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.feed.feed import frames
from hwtop.job.log.own_report import signed_json
from hwtop.report.frame import json_report
from hwtop.report.json_text import encode
from hwtop.store.reader import Recording
from tests import findings_of
from tests.recording import replay
from tests.store.sessions import hang, written

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("recordings") / "run.hwtop", hang())


def test_a_recording_gives_the_findings_of_the_live_run(place: Path) -> None:
    found: list[list[object]] = []
    for frame in frames(Recording(place).snapshots()):
        state = findings_of.state_of(frame)
        if not found or state != found[-1][1]:
            found.append([frame.number, state])
    assert msgspec.to_builtins(found) == findings_of.stored("hang")


def test_the_report_of_a_recording_is_that_of_the_live_run(place: Path) -> None:
    done = CliRunner().invoke(cli, ["replay", str(place), "--diagnose", "--json"])
    assert done.exit_code == 1
    assert done.stdout == signed_json(encode(json_report.diagnosis(replay("hang")[-1]))) + "\n"


def test_a_recording_is_diagnosed_at_a_time(place: Path) -> None:
    done = CliRunner().invoke(cli, ["replay", str(place), "--diagnose", "--at", "-90s"])
    assert done.exit_code == 0
    assert "watched for 15 s" in done.stdout


@pytest.mark.parametrize(("at", "reason"), [("soon", "'soon' is not a valid time"), ("-10m", "no snapshot")])
def test_a_time_that_the_recording_does_not_have(at: str, reason: str, place: Path) -> None:
    done = CliRunner().invoke(cli, ["replay", str(place), "--diagnose", "--at", at])
    assert reason in str(done.exception)


def test_a_moment_of_a_recording_is_drawn(place: Path, tmp_path: Path) -> None:
    picture = tmp_path / "screen.txt"
    done = CliRunner().invoke(cli, ["screenshot", "--replay", str(place), "--at", "-60s", "-o", str(picture)])
    assert done.exit_code == 0
    assert "Rank 5 is missing" in picture.read_text()
    assert "watched 45 s" in picture.read_text()

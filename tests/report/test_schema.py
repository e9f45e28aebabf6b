"""What is printed as JSON has the schema that `hwtop schema` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import ValidationError

from hwtop import cli
from hwtop.feed import watch
from hwtop.feed.call import alert
from hwtop.model.check import CheckResult
from hwtop.model.frame import Frame
from hwtop.model.member import Member
from hwtop.model.process import ProcessReading
from hwtop.report.frame.json_report import diagnosis, snapshot
from hwtop.report.job.flight import flight_report
from hwtop.report.job.stacks import stacks_report
from hwtop.report.json_text import encode
from hwtop.report.preflight import checks_report
from hwtop.report.schema import SCHEMAS
from tests import flight_dumps, frames
from tests.recording import replay
from tests.schemas import valid

FRAMES = ("healthy", "input_bound", "hang", "gpu_lost", "dead_rank", "picker")
RECORDED = ("hang", "oom", "gpu-errors")


def printed(*arguments: str) -> list[str]:
    """Standard output of a command, one object each."""
    done = CliRunner().invoke(cli.cli, arguments)
    assert done.exit_code in (0, 1), done.output
    text = done.stdout
    return [text] if text.startswith("{\n") else text.splitlines()


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_object_says_its_version(name: str) -> None:
    (text,) = printed("schema", name)
    schema = json.loads(text)
    for kind in SCHEMAS[name]:
        part = schema["$defs"][kind.__name__]
        assert part["properties"]["schema_version"] == {"enum": [1]}
        assert "schema_version" in part["required"]


@pytest.mark.parametrize("name", [*FRAMES, *RECORDED])
def test_a_diagnosis_a_snapshot_and_alerts_have_their_schema(name: str) -> None:
    frame: Frame = replay(name)[-1] if name in RECORDED else getattr(frames, name)()
    assert valid("diagnose", encode(diagnosis(frame)))["schema_version"] == 1
    valid("snapshot", encode(snapshot(frame, with_costs=True)))
    for finding in frame.findings:
        valid("alert", encode(alert(finding, frame)))


def test_a_stream_is_one_snapshot_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "watch", lambda *_, **__: iter([frames.healthy(), frames.hang()]))
    rows = printed("live", "--json")
    assert [valid("snapshot", row)["job"]["world_size"] for row in rows] == [8, 8]


def test_flight_recorder_dumps_have_their_schema() -> None:
    valid("flight-recorder", encode(flight_report("x", flight_dumps.recorded("missing"))))


def test_stacks_have_their_schema() -> None:
    job = frames.hang().derived.job
    assert job is not None
    reading = ProcessReading(target_pid=1, root_pid=1, at_s=0.0, ticks_per_s=100, processes=())
    ranks = [Member(pid=rank.pid, ppid=1, depth=0, role="rank", rank=rank.rank) for rank in job.ranks]
    report = stacks_report(reading, ranks, [rank.stack.dump for rank in job.ranks if rank.stack.dump])
    assert valid("stacks", encode(report))["groups"]


def test_a_schema_refuses_what_is_not_in_it() -> None:
    report: dict[str, Any] = json.loads(encode(diagnosis(frames.hang())))
    report["job"]["ranks"][0]["pid"] = "1"
    with pytest.raises(ValidationError):
        valid("diagnose", json.dumps(report))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("symptoms", ["symptoms", "--json"]),
        ("explain", ["explain", "hang", "--json"]),
        ("patterns", ["patterns", "list", "--json"]),
        ("patterns", ["patterns", "show", "cuda-oom", "--json"]),
    ],
)
def test_lists_have_their_schema(name: str, arguments: list[str]) -> None:
    rows = printed(*arguments)
    assert rows
    for row in rows:
        valid(name, row)


def test_a_scan_has_its_schema(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "step 1/10 loss nan lr 1e-3\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"
    )
    rows = [valid("scan", row) for row in printed("scan", str(log), "--json", "--progress")]
    assert {"progress", "pattern"} <= {name for row in rows for name in row}
    assert next(row["progress"]["loss"] for row in rows if "progress" in row) == "nan"


def test_baselines_have_their_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log = tmp_path / "train.log"
    log.write_text(
        "".join(f"step {step}/900 loss 2.5 step_time: {0.2 + step % 3 / 1000:.3f}s\n" for step in range(300))
    )
    (saved,) = printed("baseline", "save", str(log), "--name", "good", "--json")
    assert valid("baseline-save", saved)["name"] == "good"
    (compared,) = printed("baseline", "compare", str(log), "--name", "good", "--json")
    assert valid("baseline-compare", compared)["differences"]


def test_checks_have_their_schema() -> None:
    found = [
        CheckResult(id="swap", status="pass", reason="no swap space", remedy=None, took_s=0.01),
        CheckResult(id="clock", status="warn", reason="not synchronised", remedy="timedatectl", took_s=0.5),
    ]
    for name in ("preflight", "doctor"):
        assert [check["id"] for check in valid(name, encode(checks_report(found)))["checks"]] == ["swap", "clock"]


SAME = {"open": "diagnose", "replay": "diagnose", "patterns-list": "patterns", "patterns-show": "patterns"}
"""Command -> the schema of what it prints, where that has another name."""


def with_json(group: click.Group, context: click.Context, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from with_json(command, context, (*path, name))
        elif command is not None and any("--json" in option.opts for option in command.params):
            yield "-".join((*path, name))


def test_every_command_that_prints_json_has_a_schema() -> None:
    commands = set(with_json(cli.cli, click.Context(cli.cli)))
    assert {SAME.get(command, command) for command in commands} - SCHEMAS.keys() == set()

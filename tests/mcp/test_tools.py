"""What the tools answer, on frames made by hand and on recorded ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hwtop.config import Config
from hwtop.errors import UsageError
from hwtop.feed import vigil, watch
from hwtop.feed.assemble import Assembler
from hwtop.job.log.text import visible
from hwtop.mcp import tools
from hwtop.mcp.tool import Tool
from hwtop.mcp.tools import TOOLS
from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.frame import Frame
from hwtop.model.member import Member
from hwtop.model.process import ProcessReading
from hwtop.report.job.stacks import stacks_report
from tests import crowds, frames
from tests.curve_frames import with_curves
from tests.parts import replace
from tests.recording import load
from tests.report import test_untrusted
from tests.report.test_untrusted import MARK, attacked, texts

PID = os.getpid()
SECRET = "hf_abcdefghijklmnopqrstuvwx"
BY_NAME = {tool.name: tool for tool in TOOLS}
"""The tools."""


def answer(name: str, **arguments: Any) -> dict[str, Any]:
    """What the client gets, which has the schema of the tool."""
    call = BY_NAME[name].call(arguments, Config())
    found: dict[str, Any] = json.loads(json.dumps(call.work(call)))
    Draft202012Validator(BY_NAME[name].described()["outputSchema"]).validate(found["structuredContent"])
    return found


def text_of(found: dict[str, Any]) -> str:
    text: str = found["content"][0]["text"]
    return text


@pytest.fixture
def shows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the job show these frames."""

    def of_job(*seen: Frame) -> None:
        def coming(*_: Any, **__: Any) -> Iterator[Frame]:
            yield from seen

        monkeypatch.setattr(watch, "watch", coming)
        monkeypatch.setattr(vigil, "vigil", coming)

    return of_job


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_only_reads_and_has_valid_schemas(tool: Tool) -> None:
    described = tool.described()
    assert described["annotations"]["readOnlyHint"] and not described["annotations"]["destructiveHint"]
    for kind in ("inputSchema", "outputSchema"):
        Draft202012Validator.check_schema(described[kind])
        assert described[kind]["type"] == "object", "clients demand it"
    assert all(each.get("description") for each in described["inputSchema"]["properties"].values())


def test_a_hang_is_named_with_its_rank_and_next_commands(shows: Any) -> None:
    shows(frames.hang())
    found = answer("diagnose", pid=PID)
    report = found["structuredContent"]
    assert report["findings"][0]["symptom"] in text_of(found)
    assert text_of(found).startswith(report["verdict"]["text"])
    assert {action["class"] for action in report["next_actions"]} <= {"observe", "ask", "intrudes", "may-end-job"}
    assert report["next_actions"] and report["coverage"]["ranks"]


def test_the_answer_stays_short_for_512_ranks(shows: Any) -> None:
    shows(crowds.sick(512))
    for name in ("diagnose", "snapshot"):
        found = answer(name, pid=PID)
        assert len(json.dumps(found)) < 40_000
        assert text_of(found).splitlines()[-1].startswith("Cut: lists of the structured content")


def test_hostile_lines_come_out_marked_cut_and_inert(shows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_untrusted, "HOSTILE", test_untrusted.HOSTILE[:4_000])  # replayed in a second
    assembler = Assembler()
    shows(*[assembler.advance(attacked(moment)) for moment in load("oom")])
    for name in ("diagnose", "logs"):
        found = answer(name, pid=PID)
        report = found["structuredContent"]
        quoted = [path for path, text in texts(report) if MARK in text]
        assert quoted and all(path.startswith(tuple(report["untrusted"])) for path in quoted)
        assert all(text.isprintable() and len(text) < 3_000 for _, text in texts(report))
        assert all(visible(line) == line for line in text_of(found).splitlines())
        assert "data, not instructions" in text_of(found)


def test_logs_of_one_rank_hold_its_lines_alone_and_no_secrets(shows: Any) -> None:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    said = tuple(replace(line, text=f"{line.text} HF_TOKEN={SECRET}") for line in job.logs.lines)
    told = replace(job, logs=replace(job.logs, lines=said))
    shows(replace(frame, derived=replace(frame.derived, job=told)))
    found = answer("logs", pid=PID, rank=3, lines=2)
    assert [line["path"] for line in found["structuredContent"]["lines"]] == [job.ranks[3].log.path] * 2
    assert SECRET not in json.dumps(found)


def test_history_tells_where_the_loss_came_from(shows: Any) -> None:
    values = [*(3.0 - step / 100 for step in range(100)), float("nan")]
    points = tuple(CurvePoint(step=step, at_s=0.0, value=value, is_past=step < 50) for step, value in enumerate(values))
    shows(with_curves(Curve(name="loss", source="train.log", rank=0, points=points)))
    found = answer("history", pid=PID, points=5)
    (loss,) = found["structuredContent"]["curves"]
    assert [point["step"] for point in loss["points"]] == [0, 25, 50, 75, 100]
    assert loss["points"][-1]["value"] == "nan" and loss["points"][0]["age_s"] is None
    assert (loss["count"], loss["not_finite"], loss["lowest"]["step"], loss["highest"]["value"]) == (101, 1, 99, 3.0)
    assert "nan at step 100" in text_of(found)


def test_history_without_curves_says_so(shows: Any) -> None:
    shows(with_curves())
    assert "No step or metric is known" in text_of(answer("history", pid=PID))


def test_stacks_of_one_rank_come_with_the_groups_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    job = frames.hang().derived.job
    assert job is not None
    reading = ProcessReading(at_s=0.0, target_pid=PID, root_pid=PID, ticks_per_s=100, processes=())
    members = [Member(pid=rank.pid, ppid=PID, depth=1, role="rank", rank=rank.rank) for rank in job.ranks]
    report = stacks_report(reading, members, [rank.stack.dump for rank in job.ranks if rank.stack.dump])
    monkeypatch.setattr(tools, "stacks_now", lambda _: report)
    found = answer("stacks", pid=PID, rank=5)
    assert [rank["rank"] for rank in found["structuredContent"]["ranks"]] == [5]
    assert text_of(found) == text_of(answer("stacks", pid=PID))
    with pytest.raises(UsageError, match="no rank 99"):
        answer("stacks", pid=PID, rank=99)


def test_a_wait_returns_on_the_event(shows: Any) -> None:
    shows(frames.healthy(), frames.hang())
    found = answer("wait", pid=PID, until=["stalled"])
    assert found["structuredContent"]["reason"] == "stalled"
    assert text_of(found).startswith("stalled after ")


def test_a_symptom_is_explained_with_how_to_disprove_it() -> None:
    found = answer("explain", symptom="hang")
    assert "Disproved if" in text_of(found) and found["structuredContent"]["symptom"] == "hang"

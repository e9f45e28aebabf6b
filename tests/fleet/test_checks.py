from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hwtop.fleet.checks import compared, unanswered
from hwtop.model.check import CheckResult, CheckStatus
from hwtop.model.fleet import Node, NodeStatus
from hwtop.report.preflight import checks_markdown, checks_text, nodes_report
from tests.fleet.agents import PROGRAM
from tests.schemas import valid


def result(id_: str, status: CheckStatus, reason: str, *, compares: bool = False) -> CheckResult:
    return CheckResult(id=id_, status=status, reason=reason, remedy=None, took_s=0.5, compares=compares)


def node(name: str, *checks: CheckResult, status: NodeStatus = "ended", reason: str = "all checks are made") -> Node:
    return Node(name=name, status=status, reason=reason, checks=checks)


def test_nodes_that_are_alike_are_one_answer_a_check() -> None:
    same = result("torch-import", "pass", "torch 2.13.0", compares=True)
    reached, torch = compared([node(name, same) for name in "abc"])
    assert reached.result.reason == "all 3 nodes have answered"
    assert (torch.result.status, torch.result.reason, torch.odd) == ("pass", "torch 2.13.0", ())


def test_a_node_with_another_version_is_marked_though_each_version_is_fine() -> None:
    torch = {name: result("torch-import", "pass", f"torch {version}", compares=True) for name, version in VERSIONS}
    _, found = compared([node(name, each) for name, each in torch.items()])
    assert (found.result.status, found.odd) == ("warn", ("c",))
    assert found.result.reason == "nodes differ: torch 2.13.0 on nodes a and b; torch 2.9.0 on node c"


VERSIONS = (("a", "2.13.0"), ("b", "2.13.0"), ("c", "2.9.0"))


def test_of_two_nodes_that_differ_neither_is_the_usual_one() -> None:
    nodes = [node(name, result("gpu-count", "pass", f"{count} x H100", compares=True)) for name, count in GPUS]
    _, found = compared(nodes)
    assert found.odd == ("a", "b")


GPUS = (("a", 8), ("b", 7))


def test_words_that_differ_by_the_moment_are_not_compared() -> None:
    nodes = [node(name, result("folder-space", "pass", f"{left} GiB left")) for name, left in (("a", 1), ("b", 2))]
    assert compared(nodes)[1].odd == ()


def test_the_gravest_answer_counts_and_says_where() -> None:
    bad = result("shared-memory", "fail", "/dev/shm is full")
    nodes = [node("c", bad), *(node(name, result("shared-memory", "pass", "free")) for name in "ab")]
    _, found = compared(nodes)
    assert (found.result.status, found.odd) == ("fail", ("c",))
    assert found.result.reason == "/dev/shm is full (on node c)"
    text = checks_text([found.result], {found.result.id: found.odd})
    assert "≠ node c" in text
    assert "(≠ node c)" in checks_markdown([found.result], {found.result.id: found.odd})
    (report,) = [each for each in nodes_report(nodes, [found]).nodes or () if each.differs]
    assert (report.name, report.differs) == ("c", ("shared-memory",))


def test_a_node_that_did_not_answer_is_a_failure() -> None:
    lost = node("b", status="failed", reason="ssh: cannot resolve b")
    reached, *_ = compared([node("a", result("swap", "pass", "no swap")), lost])
    assert (reached.result.status, reached.result.reason, reached.odd) == ("fail", "b: ssh: cannot resolve b", ("b",))
    assert unanswered(node("c", result("swap", "pass", "no swap"), status="late", reason="silent")) == "silent"


def preflight(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hwtop", "preflight", "--fast", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.real
def test_agents_make_the_checks_of_their_nodes(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text('#!/bin/sh\n[ "$1" = bad ] && ulimit -n 512\nexec sh -c "$2"\n')
    launcher.chmod(0o755)
    places = ("--hosts", "a,b,bad", "--command", f"{launcher} {{host}} {{command}}", "--agent", PROGRAM)
    done = preflight(*places, "--json")
    found = valid("preflight", done.stdout)
    assert [each["name"] for each in found["nodes"]] == ["a", "b", "bad"]
    assert [each["reason"] for each in found["nodes"]] == [None, None, None]
    assert [each["differs"] for each in found["nodes"]] == [[], [], ["open-files"]]
    (files,) = [each for each in found["checks"] if each["id"] == "open-files"]
    assert (files["status"], files["reason"]) == ("warn", "at most 512 open files a process (on node bad)")
    assert done.returncode == max({"warn": 1, "fail": 2}.get(each["status"], 0) for each in found["checks"])
    assert json.loads(done.stdout)["hwtop"] == found["nodes"][0]["version"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--nodes",), "which nodes? --nodes alone needs a Slurm job"),
        (("--hosts", "a", "--for", "1"), "--for takes a training script"),
        (("--hosts", "a", "--slurm", "1"), "give one of"),
        (("--agent", "x"), "--agent needs nodes"),
        (("--command", "x {host} {command}"), "which nodes?"),
    ],
)
def test_wrong_input_is_one_line(options: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    done = preflight(*options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr

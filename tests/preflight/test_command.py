"""`hwtop preflight`: the contract of scripts, the runner, and the fake driver from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hwtop.cli import cli, main
from hwtop.model.check import CheckResult
from hwtop.preflight.check import Check, Outcome, failed, passed, warned
from hwtop.preflight.registry import FAMILIES, chosen
from hwtop.preflight.run import exit_code, results
from hwtop.report.preflight import checks_markdown, checks_text
from tests.fakenvml.fixture import FakeNvml
from tests.preflight.machines import machine


def check(name: str, answer: Any, **options: Any) -> Check:
    return Check(id=name, about="", look=lambda _: answer() if callable(answer) else answer, **options)


def result(status: Any) -> CheckResult:
    return CheckResult(
        id=status, status=status, reason="a | b", remedy="do it" if status == "warn" else None, took_s=0.1
    )


def test_ids_are_unique() -> None:
    ids = [check.id for family in FAMILIES for check in family.checks]
    assert len(ids) == len(set(ids))
    assert {check.id for check in chosen(is_fast=True)} < set(ids)


def test_a_check_that_hangs_or_fails_costs_its_own_line() -> None:
    never = threading.Event()

    def broken() -> Outcome:
        raise ValueError("a mistake")

    def refused() -> Outcome:
        raise PermissionError(13, "Permission denied", "/proc/1/environ")

    checks = [
        check("hangs", never.wait, deadline_s=0.05),
        check("broken", broken),
        check("refused", refused),
        check("good", passed("it works")),
    ]
    found = {each.id: each for each in results(checks, machine())}
    assert {name: each.status for name, each in found.items()} == {
        "hangs": "fail",
        "broken": "skip",
        "refused": "skip",
        "good": "pass",
    }
    assert "no answer within 0.05 s" in found["hangs"].reason
    assert found["refused"].reason == "/proc/1/environ: permission denied"
    never.set()


def test_exit_codes() -> None:
    machine_ = machine()
    for answers, code in (
        ((passed(""),), 0),
        ((passed(""), warned("", "")), 1),
        ((failed("", ""), warned("", "")), 2),
        ((Outcome("skip", ""),), 0),
    ):
        assert exit_code(results([check(str(n), answer) for n, answer in enumerate(answers)], machine_)) == code


def test_text_and_markdown_begin_with_what_failed() -> None:
    found = [result("pass"), result("skip"), result("warn"), result("fail")]
    text = checks_text(found)
    assert [line.split()[0] for line in text.splitlines() if line] == ["FAIL", "WARN", "->", "PASS", "SKIP", "1"]
    assert "-> do it" in text
    assert "| WARN | warn | a &#124; b | do it | 0.1 |" in checks_markdown(found)


def test_fast_prints_the_contract_and_leaves_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli, ["preflight", "--fast", "--json"], env={"TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    )
    checks = json.loads(done.output)["checks"]
    assert [each["id"] for each in checks] == [each.id for each in chosen(is_fast=True)]
    assert all(each.keys() >= {"id", "status", "reason", "remedy", "took_s"} for each in checks)
    assert all(each["remedy"] for each in checks if each["status"] in ("warn", "fail"))
    statuses = {each["status"] for each in checks}
    assert done.exit_code == (2 if "fail" in statuses else 1 if "warn" in statuses else 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("--json", "--markdown"), ("--for", "4194303"), ("--for", "none.py")])
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["preflight", *arguments])
    printed = capsys.readouterr()
    assert (left.value.code, printed.out, printed.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("scenario", "wrong"),
    [
        ("h100x8-train", {"gpu-zombie-memory"}),
        ("errors", {"gpu-memory-errors", "gpu-row-remapping", "gpu-nvlink", "gpu-pcie"}),
        ("driver-mismatch", {"gpu-driver"}),
    ],
)
def test_the_driver_from_end_to_end(scenario: str, wrong: set[str], fake_nvml: FakeNvml) -> None:
    fake_nvml.load(scenario)
    command = [sys.executable, "-m", "hwtop", "preflight", "--fast", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=fake_nvml.env)
    checks = {each["id"]: each for each in json.loads(done.stdout)["checks"]}
    found = {name for name, each in checks.items() if each["status"] in ("warn", "fail") and name.startswith("gpu-")}
    assert wrong <= found, checks
    if scenario == "h100x8-train":
        assert found <= {"gpu-free", "gpu-zombie-memory", "gpu-numa", "gpu-power-limit"}, [
            checks[name] for name in found
        ]

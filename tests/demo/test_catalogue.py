"""The jobs of the detection matrix as demos: what their docstrings say is what the tests expect, and they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.demo import catalogue
from hwtop.demo.run import DemoJob
from tests.demo.test_run import logs, wait_until
from tests.diagnosis.cases import CHORES, FAULTS, HANGS, HEALTHY, QUIET

CASES = {case.script: case for case in (*FAULTS, *CHORES, *HANGS, *QUIET, *HEALTHY) if case.meanwhile is None}


def test_docstrings_say_what_the_tests_expect() -> None:
    known = {name: scenario for name in CASES if (scenario := catalogue.find(name)) is not None}
    assert len(known) > 30
    for name, scenario in known.items():
        case = CASES[name]
        assert scenario.symptom == case.symptom
        assert scenario.script is not None
        assert scenario.script.rank_count == (0 if case.launch == "python" else case.nproc), name
        assert dict(scenario.script.env) == case.env


def test_a_job_that_does_not_say_how_it_is_started_is_none() -> None:
    assert (catalogue.JOBS / "pretend_device.py").exists()
    assert catalogue.find("pretend_device") is None
    assert catalogue.find("../run") is None
    assert catalogue.find("") is None


def test_a_symptom_leads_to_a_job_that_plants_it_and_can_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = catalogue.showing("input-bound-cpu")
    assert plain is not None and plain.name == "slow-loader"
    monkeypatch.setattr(catalogue, "lacking", lambda scenario: ["torch"] if scenario.script else [])
    lacks = catalogue.showing("grad-explosion")
    assert lacks is not None and lacks.symptom == "grad-explosion", "what it needs is told when it is started"
    assert catalogue.showing("clock-skew") is None


@pytest.mark.parametrize(("name", "line"), [("disk_is_full", "Errno 28"), ("uneven_data", "(10%)")])
def test_a_job_runs_as_a_copy_in_its_folder_and_ends_without_a_trace(name: str, line: str, tmp_path: Path) -> None:
    scenario = catalogue.find(name)
    assert scenario is not None
    with DemoJob(scenario, tmp_path) as job:
        group = job.launcher_pid
        wait_until(lambda: line in logs(tmp_path), name)
        assert (tmp_path / f"{name}.py").exists()
    assert job.members(group) == []

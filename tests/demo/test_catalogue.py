"""The jobs of one file: what their docstrings say is what the tests expect, and those that `hwtop demo` knows run."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.demo import catalogue
from hwtop.demo.run import DemoJob
from tests.demo.test_run import logs, wait_until
from tests.diagnosis.cases import CHORES, FAULTS, HANGS, HEALTHY, QUIET
from tests.training import FOLDERS, job_file

CASES = {case.script: case for case in (*FAULTS, *CHORES, *HANGS, *QUIET, *HEALTHY) if case.meanwhile is None}


def test_docstrings_say_what_the_tests_expect() -> None:
    known = {name: scenario for name in CASES if (scenario := catalogue.read(job_file(name))) is not None}
    assert len(known) > 30
    for name, scenario in known.items():
        case = CASES[name]
        assert scenario.symptom == case.symptom
        assert scenario.script is not None
        assert scenario.script.rank_count == (0 if case.launch == "python" else case.nproc), name
        assert dict(scenario.script.env) == case.env


def test_each_job_that_ships_says_how_it_is_started_and_plants_what_no_other_demo_plants() -> None:
    assert [each.name for each in catalogue.scenarios()] == sorted(
        path.stem for path in catalogue.JOBS.glob("*.py") if path.stem != "__init__"
    )
    planted = [each.symptom for each in catalogue.demos() if each.symptom is not None]
    assert sorted(planted) == sorted(set(planted))


def test_no_two_jobs_of_one_file_share_a_name() -> None:
    names = [path.stem for folder in FOLDERS for path in folder.glob("*.py") if path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))
    assert len(names) > 100


def test_a_name_that_is_no_job_finds_none() -> None:
    assert catalogue.read(job_file("pretend_device")) is None, "it does not say how it is started"
    assert catalogue.find("healthy_gan") is None, "it belongs to the tests"
    assert catalogue.find("../run") is None
    assert catalogue.find("") is None


def test_a_symptom_leads_to_a_job_that_plants_it_and_can_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = catalogue.showing("input-bound-cpu")
    assert plain is not None and plain.name == "slow-loader"
    monkeypatch.setattr(catalogue, "lacking", lambda scenario: ["torch"] if scenario.script else [])
    lacks = catalogue.showing("grad-explosion")
    assert lacks is not None and lacks.symptom == "grad-explosion", "what it needs is told when it is started"
    assert catalogue.showing("clock-skew") is None


@pytest.mark.real
@pytest.mark.parametrize(("name", "line"), [("disk_is_full", "Errno 28"), ("exploding", "_step")])
def test_a_job_runs_as_a_copy_in_its_folder_and_ends_without_a_trace(name: str, line: str, tmp_path: Path) -> None:
    scenario = catalogue.find(name)
    assert scenario is not None
    with DemoJob(scenario, tmp_path) as job:
        group = job.launcher_pid
        wait_until(lambda: line in logs(tmp_path), name)
        assert (tmp_path / f"{name}.py").exists()
    assert job.members(group) == []

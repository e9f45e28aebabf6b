"""The whole way from a sick GPU (a fake one) to the card, on a job of eight ranks that use the GPUs of the same number."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.demo.test_run import wait_until
from tests.diagnosis.case import own_code, own_findings
from tests.fakenvml.fixture import FakeNvml
from tests.terminal.conftest import use_ranks
from tests.training import TrainingJob, job_file, start_python

pytestmark = pytest.mark.real

SECONDS = 12
"""How long hwtop watches. What it has not found then it may look for once more, twice as long: a loaded machine is slow."""
DEADLINE_S = 90.0


class Scenario(msgspec.Struct, frozen=True):
    """What the fake driver says, and what hwtop is to find: symptom -> severity."""

    file: str
    expected: Mapping[str, str]
    before: Callable[[FakeNvml], None] | None = None
    """What else is so from the start."""
    meanwhile: Callable[[FakeNvml], None] | None = None
    """What happens once hwtop waits for events."""


def lose_gpu_3(fake: FakeNvml) -> None:
    waits = waits_for_events(fake)
    fake.xid(3, 79)
    wait_until(lambda: waits_for_events(fake) > waits, "the event was taken")
    fake.fail(3, "*", "GPU_IS_LOST")


def waits_for_events(fake: FakeNvml) -> int:
    """How often hwtop began to wait for events; the fake notes them without a GPU."""
    return fake.calls("nvmlEventSetWait_v2", -1)


SCENARIOS = {
    "healthy": Scenario("h100x8-train", {}),
    "full power": Scenario(
        "h100x8-train",
        {"gpu-power-cap": "info"},
        before=lambda fake: fake.set("all", power="690..700/5", throttle="sw_power"),
    ),
    "throttle": Scenario("h100x8-throttle", {"gpu-thermal-throttle": "warning", "gpu-power-cap": "warning"}),
    "errors": Scenario(
        "errors",
        {
            "xid": "critical",
            "row-remap-pending": "critical",
            "ecc-error": "warning",
            "nvlink-errors": "warning",
            "pcie-degraded": "warning",
        },
        meanwhile=lambda fake: fake.xid(1, 94),
    ),
    "lost": Scenario("h100x8-train", {"gpu-lost": "critical"}, meanwhile=lose_gpu_3),
    "hung": Scenario("hung", {"gpu-driver-hang": "warning"}),
    "hung init": Scenario(
        "h100x8-train", {"gpu-driver-hang": "critical"}, before=lambda fake: fake.sleep("system", "*", "hang")
    ),
    "mismatch": Scenario("driver-mismatch", {"driver-mismatch": "warning"}),
}


class Report:
    """What `hwtop diagnose --json` said."""

    def __init__(self, watch: subprocess.Popen[str]) -> None:
        out, err = watch.communicate(timeout=DEADLINE_S)
        assert watch.returncode in (0, 1), err
        report = json.loads(out)
        self.code = own_code(report, watch.returncode)
        self.findings: dict[str, dict[str, Any]] = {each["symptom"]: each for each in own_findings(report)}

    def severities(self) -> dict[str, str]:
        return {symptom: finding["severity"] for symptom, finding in self.findings.items()}

    def ranks(self) -> dict[str, list[int]]:
        return {symptom: finding["ranks"] for symptom, finding in self.findings.items()}

    def card(self, symptom: str) -> str:
        """Everything that one finding says."""
        return json.dumps(self.findings[symptom], ensure_ascii=False)


@pytest.fixture(scope="module")
def reports(nvml_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Scenario -> what hwtop said of it; all are watched at the same time."""
    with start_python(job_file("eight_ranks"), tmp_path_factory.mktemp("job")) as job:
        wait_until(lambda: len(job.rank_pids()) == 8, "eight ranks")
        fakes = {name: FakeNvml(nvml_library, tmp_path_factory.mktemp("gpus")) for name in SCENARIOS}
        found = look(fakes, job, SECONDS)
        again = {name: fakes[name] for name in fakes if found[name].severities() != SCENARIOS[name].expected}
        return found | look(again, job, 2 * SECONDS)


def look(fakes: Mapping[str, FakeNvml], job: TrainingJob, seconds: int) -> dict[str, Report]:
    waits = {name: waits_for_events(fake) for name, fake in fakes.items()}
    watches = {name: diagnose(SCENARIOS[name], fake, job, seconds) for name, fake in fakes.items()}
    for name, fake in fakes.items():
        meanwhile = SCENARIOS[name].meanwhile
        if meanwhile is not None:
            wait_until(lambda fake=fake, past=waits[name]: waits_for_events(fake) > past, "hwtop waits for events")  # type: ignore[misc]
            meanwhile(fake)
    return {name: Report(watch) for name, watch in watches.items()}


def diagnose(scenario: Scenario, fake: FakeNvml, job: TrainingJob, seconds: int) -> subprocess.Popen[str]:
    fake.load(scenario.file)
    if scenario.before is not None:
        scenario.before(fake)
    use_ranks(fake, job.rank_pids())
    command = [sys.executable, "-m", "hwtop", "diagnose", str(job.launcher_pid), "--for", f"{seconds}s", "--json"]
    return subprocess.Popen(command, env=fake.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_found_and_nothing_else(name: str, reports: dict[str, Report]) -> None:
    expected = SCENARIOS[name].expected
    assert reports[name].severities() == expected
    assert reports[name].code == int(bool(set(expected.values()) & {"warning", "critical"}))


def test_heat_and_a_low_power_limit(reports: dict[str, Report]) -> None:
    reported = reports["throttle"]
    assert reported.ranks() == {"gpu-thermal-throttle": [5], "gpu-power-cap": [2]}
    assert re.search(r"throttled by temperature (8\d|90) % of the last", reported.card("gpu-thermal-throttle"))
    assert "500 W allowed, default 700 W" in reported.card("gpu-power-cap")


def test_memory_links_and_an_xid(reports: dict[str, Report]) -> None:
    reported = reports["errors"]
    ranks = {"xid": [1], "row-remap-pending": [2], "ecc-error": [1], "nvlink-errors": [6], "pcie-degraded": [4]}
    assert reported.ranks() == ranks
    assert "Xid 94: contained memory error" in reported.card("xid")
    assert "3.0 x8 instead of 5.0 x16" in reported.card("pcie-degraded")


def test_a_lost_gpu_is_told_once_with_its_xid_and_rank(reports: dict[str, Report]) -> None:
    assert reports["lost"].ranks() == {"gpu-lost": [3]}
    assert "Xid 79 (GPU has fallen off the bus)" in reports["lost"].card("gpu-lost")


def test_a_driver_that_hangs_for_one_gpu_or_from_the_start(reports: dict[str, Report]) -> None:
    assert reports["hung"].ranks() == {"gpu-driver-hang": [3]}
    assert "nvmlInit" in reports["hung init"].card("gpu-driver-hang")

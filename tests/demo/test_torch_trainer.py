"""The demo job on real torch: one healthy scenario and those whose fault depends on torch itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.demo.run import DemoJob, has_torch
from hwtop.demo.scenarios import SCENARIOS
from tests.demo.test_run import logs, soon, wait_until

pytestmark = pytest.mark.real

REACHED = {
    "slow-loader": "step 5/",
    "nan": "loss nan",
    "dead": "lost a peer; waiting for a replacement",
    "mismatch": "step 10/",
}


@pytest.mark.parametrize("name", REACHED)
def test_scenario_reaches_its_point_on_torch(name: str, tmp_path: Path) -> None:
    with DemoJob(soon(name), tmp_path) as job:
        assert job.uses_torch
        wait_until(lambda: REACHED[name] in logs(tmp_path), name)
        group = job.launcher_pid
    assert job.members(group) == []


def test_torch_is_used_only_where_the_scenario_can() -> None:
    assert has_torch()
    for scenario in SCENARIOS:
        assert DemoJob(scenario, Path()).uses_torch is scenario.has_torch_trainer
        assert not DemoJob(scenario, Path(), is_stdlib_forced=True).uses_torch

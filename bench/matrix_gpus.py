"""The detection matrix's sick GPUs: eight ranks on fake GPUs, and a driver that tells of heat, errors, lost devices or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from tests.demo.test_run import wait_until
from tests.diagnosis.case import Case
from tests.diagnosis.test_gpu_faults import SCENARIOS, Scenario, waits_for_events
from tests.fakenvml.fixture import FakeNvml
from tests.terminal.conftest import use_ranks
from tests.training import TrainingJob

RANKS = {"throttle": (5,), "errors": (1,), "lost": (3,), "hung": (3,)}
"""Culprits of the symptom that is the gravest of its scenario."""
_ORDER = ("critical", "warning")
_FAKECTL = Lock()


def _case(name: str, scenario: Scenario) -> Case:
    serious = sorted(
        (symptom for symptom, severity in scenario.expected.items() if severity in _ORDER),
        key=lambda symptom: _ORDER.index(scenario.expected[symptom]),
    )
    symptom, also = (serious[0], tuple(serious[1:])) if serious else (None, ())
    title = f"gpus_{name.replace(' ', '_')}"
    return Case(title, symptom, RANKS.get(name), seconds=15, launch="python", ready="", also=also)


CASES = {_case(name, scenario): scenario for name, scenario in SCENARIOS.items()}


@contextmanager
def gpus(scenario: Scenario, job: TrainingJob, library: Path) -> Iterator[tuple[Mapping[str, str], Callable[[], None]]]:
    """The environment in which hwtop sees them, and what happens to them while it watches."""
    wait_until(lambda: len(job.rank_pids()) == 8, "eight ranks")
    with _FAKECTL:
        fake = FakeNvml(library, job.folder)
        fake.load(scenario.file)
        if scenario.before is not None:
            scenario.before(fake)
        use_ranks(fake, job.rank_pids())
    yield fake.env, lambda: _happen(scenario, fake)


def _happen(scenario: Scenario, fake: FakeNvml) -> None:
    if scenario.meanwhile is not None:
        wait_until(lambda: waits_for_events(fake) > 0, "hwtop waits for events")
        with _FAKECTL:
            scenario.meanwhile(fake)

"""machine-shared, and what others use: programs outside the job."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.job import Job
from hwtop.model.process import ProgramRates
from hwtop.symptoms.history import History
from hwtop.symptoms.host.others import check_shared, used_by_others
from tests.parts import replace
from tests.symptoms.derived_states import constant, job, rank, row
from tests.symptoms.host.test_capacity import cores

PYTEST = ProgramRates(pid=42, name="pytest", user="alice", cpu_pct=160.0, rss_bytes=1 << 30, pids=(42, 43))
FULL = cores(100, 100)


def watched(delay_pct: float | None = 0.0, ready: int = 0, own_pct: float = 30.0) -> Job:
    """Two cores, of which the job gets `own_pct`, with so many threads that want to run."""
    processes = (replace(row(1000, cpu_pct=own_pct), thread_states={"R": ready}),)
    return replace(job(rank(0, run_delay_pct=delay_pct)), processes=processes)


def shared(delay_pct: float | None = 0.0, ready: int = 0, **fields: Any) -> History:
    return constant(watched(delay_pct, ready), **{"cpu": FULL, "cores": 2.0, "programs": (PYTEST,), **fields})


@pytest.mark.parametrize(
    ("why", "history", "is_seen"),
    [
        ("the main thread waits for a core", shared(30.0), True),
        ("it hardly waits", shared(29.0), False),
        ("loader workers wait for one", shared(0.0, ready=2), True),
        ("one of them runs", shared(0.0, ready=1), False),
        ("there are idle cores", shared(30.0, 2, cpu=cores(100, 60)), False),
        ("the load is not read", shared(30.0, 2, cpu=None), False),
    ],
)
def test_others_are_a_warning_where_the_job_waits_for_their_cores(why: str, history: History, is_seen: bool) -> None:
    assert (check_shared(history) is not None) == is_seen, why


def test_it_names_who_takes_the_cores() -> None:
    seen = check_shared(shared(30.0))
    assert seen is not None
    assert seen.title == "Programs outside the job use 1.7 of 2 cores: pytest of alice (PID 42) 1.6"


def test_a_job_that_fills_the_cores_itself_has_no_others() -> None:
    own = constant(watched(50.0, 4, own_pct=195.0), cpu=FULL, cores=2.0)
    assert check_shared(own) is None
    assert used_by_others(own).verdict == "no"


def test_what_others_use_is_a_question_of_its_own() -> None:
    used = used_by_others(shared())
    assert (used.verdict, used.text) == ("yes", "1.7 of 2 cores (pytest of alice (PID 42) 1.6)")
    assert used_by_others(shared(cpu=None)).verdict == "unknown"


def test_the_cpu_of_hwtop_is_not_that_of_others() -> None:
    assert used_by_others(shared(own_cpu_pct=170.0, programs=())).text == "0.0 of 2 cores"

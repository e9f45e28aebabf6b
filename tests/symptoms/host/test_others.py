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


def watched(delay_pct: float | None = 0.0, state: str = "S", own_pct: float = 30.0) -> Job:
    """Two cores, of which the one process of the job gets `own_pct`."""
    processes = (row(1000, cpu_pct=own_pct, state=state),)
    return replace(job(rank(0, run_delay_pct=delay_pct)), processes=processes)


def shared(delay_pct: float | None = 0.0, state: str = "S", **fields: Any) -> History:
    return constant(watched(delay_pct, state), **{"cpu": FULL, "cores": 2.0, "programs": (PYTEST,), **fields})


@pytest.mark.parametrize(
    ("why", "history", "is_seen"),
    [
        ("the main thread waits for a core", shared(30.0), True),
        ("it hardly waits", shared(29.0), False),
        ("a loader worker always wants one", shared(0.0, "R"), True),
        ("it gets most of one", constant(watched(0.0, "R", 61.0), cpu=FULL, cores=2.0), False),
        ("it was not watched for long enough", constant(watched(0.0, "R"), 15, cpu=FULL, cores=2.0), False),
        ("there are idle cores", shared(30.0, "R", cpu=cores(100, 60)), False),
        ("the load is not read", shared(30.0, "R", cpu=None), False),
    ],
)
def test_others_are_a_warning_where_the_job_waits_for_their_cores(why: str, history: History, is_seen: bool) -> None:
    assert (check_shared(history) is not None) == is_seen, why


def test_a_job_that_has_too_many_threads_for_all_cores_is_not_crowded_by_others() -> None:
    threads = (row(1000, cpu_pct=130.0, state="R", thread_states={"R": 7}),)
    crowded = constant(replace(watched(42.0, "R"), processes=threads), cpu=FULL, cores=2.0, programs=(PYTEST,))
    assert check_shared(crowded) is None
    few = (row(1000, cpu_pct=130.0, state="R", thread_states={"R": 2}),)
    fits = constant(replace(watched(42.0, "R"), processes=few), cpu=FULL, cores=2.0, programs=(PYTEST,))
    assert check_shared(fits) is not None


def test_it_names_who_takes_the_cores() -> None:
    seen = check_shared(shared(30.0))
    assert seen is not None
    assert seen.title == "Programs outside the job use 1.7 of 2 cores: pytest of alice (PID 42) 1.6"


def test_the_title_names_the_busiest_and_the_evidence_all() -> None:
    build = replace(PYTEST, name="cc1plus", user="bob", pid=43, cpu_pct=20.0)
    seen = check_shared(shared(30.0, programs=(PYTEST, build)))
    assert seen is not None
    assert seen.title.endswith("pytest of alice (PID 42) 1.6, and 1 more")
    assert "the busiest of them: pytest of alice (PID 42) 1.6, cc1plus of bob (PID 43) 0.2" in seen.evidence


def test_programs_that_were_read_at_another_time_are_named_without_numbers() -> None:
    seen = check_shared(shared(30.0, programs=(replace(PYTEST, cpu_pct=190.0),)))
    assert seen is not None
    assert seen.title == "Programs outside the job use 1.7 of 2 cores: pytest of alice (PID 42)"


def test_a_job_that_fills_the_cores_itself_has_no_others() -> None:
    own = constant(watched(50.0, "R", own_pct=195.0), cpu=FULL, cores=2.0)
    assert check_shared(own) is None
    assert used_by_others(own).verdict == "no"


def test_what_others_use_is_a_question_of_its_own() -> None:
    used = used_by_others(shared())
    assert (used.verdict, used.text) == (
        "unknown",
        "1.7 of 2 cores (pytest of alice (PID 42) 1.6); nothing proves that the job waits for them",
    )
    assert used_by_others(shared(cpu=None)).verdict == "unknown"


def test_the_cpu_of_hwtop_is_not_that_of_others() -> None:
    assert used_by_others(shared(own_cpu_pct=170.0, programs=())).text == "0.0 of 2 cores"


def test_programs_that_come_and_go_are_named_by_what_they_are() -> None:
    def compiler(pid: int) -> ProgramRates:
        return ProgramRates(pid=pid, name="cc1plus", user="bob", cpu_pct=80.0, rss_bytes=1 << 20, pids=(pid,))

    states = shared(30.0).derived_states
    built = tuple(replace(each, programs=(compiler(3 * n), compiler(3 * n + 1))) for n, each in enumerate(states))
    seen = check_shared(History(built))
    assert seen is not None
    assert seen.title.endswith("cc1plus of bob (2 programs) 1.6")
    seen = check_shared(History((*built[:-1], states[-1])))
    assert seen is not None
    named = " ".join(seen.evidence)
    assert "cc1plus of bob 1." in named and "pytest of alice (PID 42) 0." in named

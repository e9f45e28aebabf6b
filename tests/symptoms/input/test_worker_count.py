"""dataloader-oversubscribed."""

from __future__ import annotations

import pytest

from hwtop.model.job import Job
from hwtop.symptoms.input.worker_count import check_oversubscribed
from tests.symptoms.derived_states import constant, cpu, event, job, rank, spot, worker

WARNING = "UserWarning: This DataLoader will create 8 worker processes in total. Our suggested max number of worker in current system is 4"


def loading(ranks: int, running: int, sleeping: int = 0, work: str = "decode") -> Job:
    """`running` and `sleeping` workers for each rank."""
    states = ["R"] * running + ["S"] * sleeping
    crews = [
        tuple(worker(2000 + 100 * number + index, state=state, cpu_pct=30.0) for index, state in enumerate(states))
        for number in range(ranks)
    ]
    return job(*(rank(number, workers=processes, worker_hot=(spot(work),)) for number, processes in enumerate(crews)))


@pytest.mark.parametrize(
    ("watched", "cores", "pressure", "expected"),
    [
        (loading(2, 8), 4, 60.0, True),
        (loading(2, 4), 4, 60.0, True),
        (loading(1, 7), 4, 60.0, False),  # a full machine
        (loading(2, 8), 16, 60.0, False),
        (loading(2, 2, 30), 4, 60.0, False),  # most have nothing to do
        (loading(2, 8), 4, 5.0, False),
        (loading(2, 8), 4, None, True),
        (loading(2, 0), 4, 60.0, False),
    ],
)
def test_workers_that_stand_in_line(watched: Job, cores: int, pressure: float | None, expected: bool) -> None:
    seen = check_oversubscribed(constant(watched, cores=float(cores), cpu=cpu(pressure_pct=pressure)))
    assert (seen is not None) is expected


def test_processes_of_a_search_are_no_loader_workers() -> None:
    """Of a main process that only starts them: too many of them are what cpu-oversubscribed tells."""
    search = loading(1, 12, work="trial")
    assert check_oversubscribed(constant(search, cores=2.0, cpu=cpu(pressure_pct=60.0))) is None


def test_what_it_tells() -> None:
    watched = loading(2, 8)
    reported = event("dataloader-oversubscribed", severity="warning", text=WARNING)
    seen = check_oversubscribed(
        constant(job(*watched.ranks, events=(reported,)), cores=4.0, cpu=cpu(pressure_pct=60.0))
    )
    assert seen is not None
    assert seen.title == "16 loader workers of 2 ranks on 4 cores: 16 runnable at a time"
    assert "each gets 30 % of a core on average" in seen.evidence
    assert seen.next_steps[0].startswith("DataLoader(num_workers=1)")
    assert (seen.ranks, seen.log_line) == ((0, 1), WARNING)


def test_torchs_warning_alone_is_no_fault() -> None:
    reported = event("dataloader-oversubscribed", severity="warning", text=WARNING)
    assert check_oversubscribed(constant(job(rank(0, workers=(worker(state="S"),)), events=(reported,)))) is None

"""When torch itself will end a wait."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.hang.collective_timeout import backend_of, says, timeout_of, waited_s
from hwtop.model.hang import CollectiveTimeout
from hwtop.model.reported.flight import FlightDump, FlightEntry
from hwtop.seconds import span
from tests.symptoms.derived_states import event, rank, still

GLOO = {1000: ("python", "pt_gloo_runloop"), 1001: ("python", "pt_gloo_runloop")}
NCCL = {1000: ("python", "pt_nccl_watchdg", "pt_gloo_runloop")}


@pytest.mark.parametrize(
    ("threads", "backend"),
    [
        (("python", "pt_nccl_watchdg", "pt_nccl_heartbt"), "nccl"),
        (("python", "pt_gloo_runloop"), "gloo"),
        (("pt_gloo_runloop", "pt_nccl_watchdg"), "nccl"),
        (("python", "pt_autograd_0"), None),
    ],
)
def test_the_backend_by_its_threads(threads: tuple[str, ...], backend: str | None) -> None:
    assert backend_of(threads) == backend


def test_defaults_of_torch() -> None:
    nccl = timeout_of([still(0, 108.0)], NCCL, [])
    gloo = timeout_of([still(0, 108.0)], {1000: GLOO[1000]}, [])
    assert nccl is not None
    assert gloo is not None
    assert (nccl.timeout_s, nccl.left_s) == (600.0, 492.0)
    assert gloo.timeout_s == 1800.0
    assert says(nccl) == "time left to the timeout: at most 8 min 12 s (NCCL timeout 10 min, NCCL's default)"


def test_the_rank_that_waits_longest_decides() -> None:
    found = timeout_of([still(0, 20.0), still(1, 90.0)], GLOO, [])
    assert found is not None
    assert found.rank == 1


def test_a_log_line_of_an_earlier_timeout_tells_it() -> None:
    reported = event("nccl-timeout", groups={"timeout_ms": "7200000"})
    found = timeout_of([still(0, 60.0)], NCCL, [reported])
    assert found is not None
    assert (found.timeout_s, found.origin) == (7200.0, "from its log")


def test_the_flight_recorder_tells_it() -> None:
    entry = FlightEntry(
        group="0",
        sequence=7,
        is_p2p=False,
        operation="all_reduce",
        backend="nccl",
        input_sizes=((8,),),
        output_sizes=((8,),),
        input_dtypes=("Float",),
        state="started",
        is_retired=False,
        created_s=None,
        timeout_s=900.0,
    )
    dump = FlightDump(rank=0, origin="/tmp/fr_0", at_s=1.0, entries=(entry,))
    found = timeout_of([still(0, 60.0)], NCCL, [event("nccl-timeout", groups={"timeout_ms": "1"})], [dump])
    assert found is not None
    assert (found.timeout_s, found.origin) == (900.0, "from its Flight Recorder")


@pytest.mark.parametrize(
    "ranks",
    [
        [still(0, 9.0)],
        [still(0, 60.0, is_waiting=False, phase="other")],
        [still(0, 60.0, is_alive=False)],
        [],
    ],
)
def test_no_countdown_while_nobody_waits_long(ranks: list[Any]) -> None:
    assert timeout_of(ranks, NCCL, []) is None


def test_no_countdown_without_a_known_backend() -> None:
    assert timeout_of([still(0, 60.0)], {1000: ("python",)}, []) is None


def test_a_wait_that_began_before_hwtop_came_is_told_by_the_log() -> None:
    assert waited_s(still(0, 12.0, step_age_s=300.0, log_interval_s=2.0)) == 296.0
    assert waited_s(still(0, 12.0, step_age_s=None)) == 12.0
    assert waited_s(rank(0)) == 0.0


def test_what_is_said_of_it() -> None:
    over = CollectiveTimeout(backend="nccl", rank=0, timeout_s=600.0, origin="its log", waited_s=601.0)
    assert says(over) == "the timeout is exceeded: the job should abort soon (NCCL timeout 10 min, its log)"
    assert says(None) is None
    assert [span(seconds) for seconds in (45.4, 119.0, 120.0, 492.0)] == ["45 s", "119 s", "2 min", "8 min 12 s"]

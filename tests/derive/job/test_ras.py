"""When the RAS port is asked, and how long its report counts."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.derive.job.ras import RasTracker, may_ask
from hwtop.derive.plan import plan_of
from hwtop.model.job import Job
from hwtop.model.plan import UserFocus
from hwtop.model.reported.ras import RasReading, RasReport
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import process, processes, snapshot
from tests.job.ras.test_verdict import communicator, everyone
from tests.parts import replace
from tests.symptoms.derived_states import derived, job, rank, still

OLD: dict[str, Any] = {"age_s": 600.0}
STUCK = tuple(still(number, **OLD) for number in range(4))


def asked(at_s: float, reported_at_s: float, **odd: int) -> Snapshot:
    report = RasReport(
        nccl_version="2.29.2", communicators=(communicator("0xa", everyone(**odd)),), communicator_count=1
    )
    found = [process(1000 + number, ns_pids=(1000 + number, 100 + number)) for number in range(4)]
    reading = RasReading(at_s=reported_at_s, report=report, reported_at_s=reported_at_s)
    return snapshot(at_s, process=processes(at_s, *found), ras=reading)


def of_eight(**fields: Any) -> Job:
    return job(*(replace(each, **fields) for each in STUCK), world_size=8)


def test_asked_only_where_a_job_looks_stuck_that_runs_for_a_minute() -> None:
    assert may_ask(STUCK) == (1000, 1001, 1002, 1003)
    assert may_ask(tuple(rank(number, **OLD) for number in range(4))) == ()
    assert may_ask((*STUCK[:3], still(3, age_s=59.0))) == ()
    assert may_ask((*STUCK[:3], still(3, age_s=None))) == ()
    assert may_ask((*STUCK[:3], still(3, phase="rendezvous", **OLD))) == ()
    assert may_ask((*STUCK[:3], still(3, is_alive=False))) == (1000, 1001, 1002)


def test_the_plan_names_the_ranks_to_ask() -> None:
    watched = RasTracker().advance(of_eight(), snapshot(100.0))
    plan = plan_of(derived(100.0, watched), UserFocus())
    assert plan is not None and plan.ras_pids == (1000, 1001, 1002, 1003)


def test_pids_are_those_of_the_namespace_of_the_job() -> None:
    found = RasTracker().advance(of_eight(), asked(100.0, 98.0, rank5=6649)).ras
    assert found.verdict is not None
    assert (found.verdict.culprits, found.age_s) == ((5,), 2.0)


@pytest.mark.parametrize(
    ("fields", "tells"),
    [
        ({}, True),
        ({"step_reported_at_s": 97.0}, True),
        ({"step_reported_at_s": 99.0}, False),  # it went on
        ({"age_s": 1.0}, False),  # other processes
    ],
)
def test_a_report_from_before_says_nothing(fields: dict[str, Any], tells: bool) -> None:
    found = RasTracker().advance(of_eight(**fields), asked(100.0, 98.0, rank5=6649)).ras
    assert (found.verdict is not None) is tells


def test_a_job_whose_ranks_are_gone() -> None:
    found = RasTracker().advance(of_eight(is_alive=False), asked(100.0, 98.0)).ras
    assert (found.verdict, found.pids) == (None, ())


def test_a_report_grows_old() -> None:
    tracker = RasTracker()
    assert tracker.advance(of_eight(), asked(158.0, 98.0, rank5=6649)).ras.verdict is not None
    assert tracker.advance(of_eight(), asked(158.5, 98.0, rank5=6649)).ras.verdict is None


def test_counts_that_move_while_this_machine_waits_are_no_hang() -> None:
    tracker = RasTracker()
    tracker.advance(of_eight(), asked(100.0, 100.0, rank5=6640))
    assert tracker.advance(of_eight(), asked(130.0, 130.0, rank5=6641)).ras.verdict is None
    assert tracker.advance(of_eight(), asked(160.0, 160.0, rank5=6641)).ras.verdict is not None


def test_a_failed_question_keeps_its_reason() -> None:
    reading = RasReading(at_s=99.0, missing={"report": "8 of 8 connections silent"})
    found = RasTracker().advance(of_eight(), snapshot(100.0, ras=reading)).ras
    assert (found.report, found.verdict, found.reason) == (None, None, "8 of 8 connections silent")

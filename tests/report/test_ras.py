"""What the RAS port reported, as text and as JSON."""

from __future__ import annotations

from pathlib import Path

from hwtop.job.ras.report import parse
from hwtop.model.job import JobRas
from hwtop.report.frame.job_object import job_object
from hwtop.report.frame.ras import lines
from tests.job.ras.test_verdict import communicator, everyone
from tests.parts import replace
from tests.symptoms.derived_states import job, rank

DATA = Path(__file__).parents[1] / "data" / "ras"


def of(name: str) -> JobRas:
    return JobRas(report=parse((DATA / name).read_bytes()), age_s=12.0)


def test_what_differs_and_who_does_not_answer() -> None:
    assert lines(of("missing-2.29.json")) == [
        "NCCL RAS (NCCL 2.29.1), 12 s ago: 1 communicator, the largest of 2 ranks",
        "- communicator 0xae94423cfbb2ef4a 0x9c1f21d2a7:0x174328: 1 missing",
        "- PID 1524345 on node 172.16.64.245: no answer",
    ]
    assert lines(of("mismatch-2.26.txt"))[1:] == [
        "- communicator 27a079b828ff1a75: 26 ranks launched AllReduce 6650 times, 6 ranks 6649 times"
    ]


def test_nothing_differs_or_nothing_was_asked() -> None:
    assert lines(of("healthy-2.26.txt"))[1:] == [
        "- all ranks have launched the same collectives (send and recv are not counted)"
    ]
    assert lines(JobRas(reason="silent")) == []


def test_many_lines_are_counted() -> None:
    report = of("missing-2.29.json").report
    assert report is not None
    many = replace(report, communicators=tuple(communicator(f"{n}", everyone(rank5=1)) for n in range(20)))
    found = lines(JobRas(report=many))
    assert len(found) == 11
    assert found[-1] == "- and 12 more (`--json` has all)"


def test_json() -> None:
    assert job_object(job(rank(0))).ras is None
    found = job_object(replace(job(rank(0)), ras=of("missing-2.29.json"))).ras
    assert found is not None and found.report is not None
    (first, second) = found.report.communicators[0].ranks
    assert first.process is not None
    assert (first.process.pid, first.launched["AllReduce"], second.state) == (1524344, 7, "missing")

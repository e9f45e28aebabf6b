"""What programs outside the job use, from two scans of all processes."""

from __future__ import annotations

from hwtop.derive.host.programs import outside, program_rates
from hwtop.model.process import CandidateReading, ProgramReading


def reading(at_s: float, **ticks: int) -> CandidateReading:
    programs = tuple(
        ProgramReading(pid=int(name[1:]), name=name, user="ada", cpu_ticks=count, rss_bytes=5, pids=(int(name[1:]),))
        for name, count in ticks.items()
    )
    return CandidateReading(at_s=at_s, candidates=(), scanned=9, programs=programs, ticks_per_s=100)


def test_cpu_is_known_from_the_second_scan_on() -> None:
    first, second = reading(0.0, p1=100), reading(5.0, p1=850, p2=40)
    assert [each.cpu_pct for each in program_rates(None, first)] == [None]
    assert [each.cpu_pct for each in program_rates(first, second)] == [150.0, None], "the second one is new"


def test_a_tree_that_lost_processes_has_no_rate() -> None:
    assert program_rates(reading(0.0, p1=100), reading(5.0, p1=20))[0].cpu_pct is None


def test_the_job_is_not_outside_of_itself() -> None:
    rates = program_rates(None, reading(0.0, p1=1, p2=1))
    assert [each.pid for each in outside(rates, [1, 7])] == [2]

from __future__ import annotations

from hwtop.derive.job.process import ProcessRates, process_rates
from hwtop.model.process import ProcessInfo, ThreadInfo
from tests.derive.readings import process, processes


def test_the_first_reading_has_no_rates() -> None:
    assert process_rates(None, processes(1.0, process(7))) == {7: ProcessRates()}


def test_rates_between_two_readings() -> None:
    def at(user: int, system: int, main: int, read: int, written: int) -> ProcessInfo:
        threads = (
            ThreadInfo(tid=7, comm="python", state="S", cpu_ticks=main),
            ThreadInfo(tid=8, comm="gloo", state="R", cpu_ticks=user + system - main),
        )
        return process(7, user_ticks=user, system_ticks=system, read_bytes=read, written_bytes=written, threads=threads)

    before = processes(1.0, at(100, 10, 50, 1_000, 0))
    after = processes(3.0, at(380, 30, 100, 5_000, 600))
    assert process_rates(before, after)[7] == ProcessRates(
        cpu_pct=150.0, main_thread_cpu_pct=25.0, read_bytes_per_s=2_000.0, written_bytes_per_s=300.0
    )


def test_a_reused_pid_is_a_new_process() -> None:
    before = processes(1.0, process(7, start_ticks=100, user_ticks=900))
    after = processes(3.0, process(7, start_ticks=250, user_ticks=1_000))
    assert process_rates(before, after)[7] == ProcessRates()


def test_time_without_a_core_is_a_share_of_the_interval() -> None:
    before, after = (
        processes(at_s, process(1, run_delay_ns=delay)) for at_s, delay in ((10.0, 0), (12.0, 900_000_000))
    )
    assert process_rates(before, after)[1].run_delay_pct == 45.0


def test_the_same_time_twice_gives_no_rate() -> None:
    reading = processes(1.0, process(7))
    assert process_rates(reading, reading)[7] == ProcessRates()


def test_what_cannot_be_read_or_went_back_has_no_rate() -> None:
    before = processes(1.0, process(7, read_bytes=None, written_bytes=500))
    after = processes(2.0, process(7, read_bytes=100, written_bytes=400, threads=(), user_ticks=10))
    assert process_rates(before, after)[7] == ProcessRates(cpu_pct=10.0)


def test_cpu_time_that_went_back_is_no_work() -> None:
    """The kernel may correct a counter by a tick (proc(5), utime and stime)."""
    before = processes(1.0, process(7, user_ticks=100))
    after = processes(2.0, process(7, user_ticks=99))
    assert process_rates(before, after)[7].cpu_pct == 0.0

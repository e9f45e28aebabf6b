"""CPU and I/O of each process between two readings."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.process import ProcessInfo, ProcessReading


class ProcessRates(Struct, frozen=True, kw_only=True):
    """One process over one interval; None where a counter is missing or the process is new."""

    cpu_pct: float | None = None
    """All its threads; 100 = one core."""
    main_thread_cpu_pct: float | None = None
    run_delay_pct: float | None = None
    """Share of the time for which the main thread was ready to run and had no core."""
    read_bytes_per_s: float | None = None
    written_bytes_per_s: float | None = None
    read_chars_per_s: float | None = None


def process_rates(previous: ProcessReading | None, current: ProcessReading) -> dict[int, ProcessRates]:
    """pid -> rates. A pid that was reused (other start time) counts as new."""
    before = {process.pid: process for process in previous.processes} if previous else {}
    seconds = current.at_s - previous.at_s if previous else 0.0
    rates = {}
    for process in current.processes:
        old = before.get(process.pid)
        is_same = old is not None and old.start_ticks == process.start_ticks and seconds > 0
        rates[process.pid] = _between(old, process, seconds, current.ticks_per_s) if is_same and old else ProcessRates()
    return rates


def _between(old: ProcessInfo, new: ProcessInfo, seconds: float, ticks_per_s: int) -> ProcessRates:
    percent = 100.0 / (seconds * ticks_per_s)
    ticks = new.user_ticks + new.system_ticks - old.user_ticks - old.system_ticks
    main = _main_ticks(new), _main_ticks(old)
    return ProcessRates(
        cpu_pct=max(0.0, ticks * percent),
        main_thread_cpu_pct=None if main[0] is None or main[1] is None else max(0.0, (main[0] - main[1]) * percent),
        run_delay_pct=_delay_pct(old, new, seconds),
        read_bytes_per_s=_per_second(old.read_bytes, new.read_bytes, seconds),
        written_bytes_per_s=_per_second(old.written_bytes, new.written_bytes, seconds),
        read_chars_per_s=_per_second(old.read_chars, new.read_chars, seconds),
    )


def _delay_pct(old: ProcessInfo, new: ProcessInfo, seconds: float) -> float | None:
    """The kernel counts a wait when it is over, so one interval may hold the end of a longer one."""
    rate = _per_second(old.run_delay_ns, new.run_delay_ns, seconds)
    return None if rate is None else min(100.0, rate / 1e7)


def _main_ticks(process: ProcessInfo) -> int | None:
    return next((thread.cpu_ticks for thread in process.threads if thread.tid == process.pid), None)


def _per_second(old: int | None, new: int | None, seconds: float) -> float | None:
    return None if old is None or new is None or new < old else (new - old) / seconds

"""Block devices over one interval."""

from __future__ import annotations

from hwtop.derive.host.rates import elapsed_s, increase, per_second
from hwtop.model.host.disk import DiskCounters, DiskRates, DiskReading

BUSY_ROUNDING_MS = 20
"""busy_ms advances in scheduler ticks of up to 10 ms, at both ends of the interval. Source: Linux, HZ=100."""

BUSY_ROUNDING_SHARE = 0.05
"""Of the interval: the counters are read a moment after the clock. Engineering default."""


def disk_rates(previous: DiskReading | None, current: DiskReading) -> tuple[DiskRates, ...]:
    """One entry for each device there is now; rates None for a new one or without an earlier reading (see `rates`)."""
    seconds = None if previous is None else elapsed_s(previous.at_s, current.at_s)
    before = {} if previous is None else {disk.name: disk for disk in previous.disks}
    return tuple(_disk_rates(before.get(disk.name), disk, seconds) for disk in current.disks)


def _disk_rates(previous: DiskCounters | None, current: DiskCounters, seconds: float | None) -> DiskRates:
    if previous is None or seconds is None:
        return DiskRates(
            name=current.name,
            read_bytes_per_s=None,
            write_bytes_per_s=None,
            reads_per_s=None,
            writes_per_s=None,
            latency_ms=None,
            busy_pct=None,
            in_flight=current.in_flight,
        )
    return DiskRates(
        name=current.name,
        read_bytes_per_s=per_second(previous.read_bytes, current.read_bytes, seconds),
        write_bytes_per_s=per_second(previous.written_bytes, current.written_bytes, seconds),
        reads_per_s=per_second(previous.reads, current.reads, seconds),
        writes_per_s=per_second(previous.writes, current.writes, seconds),
        latency_ms=_latency_ms(previous, current),
        busy_pct=_busy_pct(previous, current, seconds),
        in_flight=current.in_flight,
    )


def _latency_ms(previous: DiskCounters, current: DiskCounters) -> float | None:
    """Mean over reads and writes, as iostat's await."""
    reads, writes = increase(previous.reads, current.reads), increase(previous.writes, current.writes)
    read_ms, write_ms = increase(previous.read_ms, current.read_ms), increase(previous.write_ms, current.write_ms)
    if reads is None or writes is None or read_ms is None or write_ms is None or reads + writes == 0:
        return None
    return (read_ms + write_ms) / (reads + writes)


def _busy_pct(previous: DiskCounters, current: DiskCounters, seconds: float) -> float | None:
    """Above 100 only by rounding; more than that is an interval that the kernel had not booked in time: not known."""
    busy_ms = increase(previous.busy_ms, current.busy_ms)
    if busy_ms is None or busy_ms > 1000 * seconds * (1 + BUSY_ROUNDING_SHARE) + BUSY_ROUNDING_MS:
        return None
    return min(100.0, busy_ms / (10 * seconds))

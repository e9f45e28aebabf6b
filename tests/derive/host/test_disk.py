from __future__ import annotations

import os

import pytest

from hwtop.collectors.host.disk import DiskSource
from hwtop.derive.host.disk import disk_rates
from hwtop.model.host.disk import DiskCounters, DiskRates, DiskReading
from tests.host import Clock, RecordedSystem, proc, sys


def no_mounts(path: str) -> os.statvfs_result:
    raise OSError(2, "No such file or directory", path)


def recorded(when: str, at_s: float) -> DiskReading:
    tree = proc("two-sockets", when)
    system = RecordedSystem(tree)
    return DiskSource(proc=tree, sys=sys("two-sockets"), now=Clock(at_s), statvfs=no_mounts, system=system).read()


def busy(at_s: float, busy_ms: int, reads: int = 0) -> DiskReading:
    disk = DiskCounters(
        name="sda",
        reads=reads,
        read_bytes=0,
        read_ms=0,
        writes=0,
        written_bytes=0,
        write_ms=0,
        in_flight=1,
        busy_ms=busy_ms,
        weighted_ms=0,
    )
    return DiskReading(at_s=at_s, disks=(disk,), mounts=())


def test_devices_over_two_seconds() -> None:
    nvme, sda, dm, md = disk_rates(recorded("first", 100.0), recorded("second", 102.0))
    assert nvme == DiskRates(
        name="nvme0n1",
        read_bytes_per_s=256 * 1024**2,
        write_bytes_per_s=2 * 1024**2,
        reads_per_s=500.0,
        writes_per_s=100.0,
        latency_ms=3.0,  # 3600 ms over 1200 requests
        busy_pct=75.0,
        in_flight=7,
    )
    unknown = (None,) * 6
    assert numbers(sda) == unknown  # its counters started again
    assert numbers(dm) == (0.0, 0.0, 0.0, 0.0, None, 0.0)  # idle: no request, so no latency
    assert (md.name, *numbers(md)) == ("md127", *unknown)  # new


def numbers(rates: DiskRates) -> tuple[float | None, ...]:
    return (
        rates.read_bytes_per_s,
        rates.write_bytes_per_s,
        rates.reads_per_s,
        rates.writes_per_s,
        rates.latency_ms,
        rates.busy_pct,
    )


def test_first_and_repeated_readings_have_no_rates() -> None:
    first = recorded("first", 100.0)
    for rates in (disk_rates(None, first), disk_rates(first, first)):
        assert [disk.name for disk in rates] == ["nvme0n1", "sda", "dm-0"]
        assert all(numbers(disk) == (None,) * 6 for disk in rates)
        assert rates[0].in_flight == 2


@pytest.mark.parametrize(
    ("busy_ms", "busy_pct"),
    [
        (0, 0.0),
        (1999, 99.95),
        (2000, 100.0),
        (2120, 100.0),  # 5 % and 20 ms: rounding
        (2121, None),  # booked late: what share of it is of this interval is not known
    ],
)
def test_busy_is_never_above_100(busy_ms: int, busy_pct: float | None) -> None:
    (rates,) = disk_rates(busy(10.0, 500), busy(12.0, 500 + busy_ms))
    assert rates.busy_pct == busy_pct


def test_busy_time_that_wrapped_at_32_bits_is_unknown_and_the_rest_is_kept() -> None:
    (rates,) = disk_rates(busy(10.0, 4294967290, reads=4), busy(12.0, 700, reads=8))
    assert rates.busy_pct is None
    assert rates.reads_per_s == 2.0

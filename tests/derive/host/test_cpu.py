from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from hwtop.collectors.host.cpu import CpuSource
from hwtop.derive.host.cpu import cpu_rates
from hwtop.model.host.cpu import CoreRates, CpuReading, CpuTimes
from tests.host import Clock, RecordedSystem, proc, sys

NOTHING = CpuTimes(user=0, nice=0, system=0, idle=0, iowait=0, irq=0, softirq=0, steal=0)


def recorded(when: str, at_s: float) -> CpuReading:
    root = proc("two-sockets", when)
    return CpuSource(proc=root, sys=sys("two-sockets"), now=Clock(at_s), system=RecordedSystem(root)).read()


def of_one_core(at_s: float, times: CpuTimes, number: int = 0) -> CpuReading:
    return CpuReading(
        at_s=at_s,
        total=times,
        cores=(times,),
        core_ids=(number,),
        freq_mhz=(None,),
        load=(0.0, 0.0, 0.0),
        running=1,
        blocked=0,
        context_switches=100,
        psi={},
    )


def times(**ticks: int) -> CpuTimes:
    return msgspec.structs.replace(NOTHING, **ticks)


def test_two_sockets_over_two_seconds() -> None:
    rates = cpu_rates(recorded("first", 100.0), recorded("second", 102.0))
    # 126 cores were online both times: 25200 ticks, of which user 10900, system 960, steal 20, iowait 125
    assert rates.util_pct == 100 * 11880 / 25200
    assert rates.user_pct == 100 * 10900 / 25200
    assert rates.system_pct == 100 * 960 / 25200
    assert rates.steal_pct == 100 * 20 / 25200
    assert rates.iowait_pct == 100 * 125 / 25200
    assert rates.context_switches_per_s == 25000.0
    assert rates.count == 127
    assert rates.freq_mhz == pytest.approx((64 * 2800 + 63 * 3200) / 127)
    assert (rates.load, rates.running, rates.blocked) == ((61.25, 58.5, 40.0), 61, 3)
    assert rates.psi.keys() == {"cpu", "io", "memory"}


def test_each_core_by_its_number() -> None:
    cores = {core.number: core for core in cpu_rates(recorded("first", 100.0), recorded("second", 102.0)).cores}
    assert set(cores) == set(range(126))  # 126 is new and has no rate yet, 127 is gone
    assert cores[0] == CoreRates(number=0, util_pct=90.0, iowait_pct=2.0, steal_pct=0.0)
    assert cores[40] == CoreRates(number=40, util_pct=0.0, iowait_pct=0.0, steal_pct=0.0)
    assert cores[64] == CoreRates(number=64, util_pct=0.0, iowait_pct=0.0, steal_pct=0.0)  # iowait went back by 3
    assert cores[65] == CoreRates(number=65, util_pct=60.0, iowait_pct=0.0, steal_pct=10.0)
    assert cores[100].util_pct == 50.0


def test_the_first_reading_has_levels_only() -> None:
    rates = cpu_rates(None, recorded("first", 100.0))
    assert (rates.util_pct, rates.user_pct, rates.system_pct, rates.iowait_pct, rates.steal_pct) == (None,) * 5
    assert rates.cores == ()
    assert rates.context_switches_per_s is None
    assert (rates.count, rates.running) == (127, 58)


def test_a_repeated_reading_gives_no_zeros() -> None:
    reading = recorded("first", 100.0)
    rates = cpu_rates(reading, reading)
    assert rates.util_pct is None
    assert rates.context_switches_per_s is None
    assert rates.cores == ()


@pytest.mark.parametrize(
    ("before", "after", "util_pct", "iowait_pct"),
    [
        (times(idle=500), times(user=0, idle=500), None, None),  # no tick has passed
        (times(user=50, idle=500), times(user=40, idle=700), None, None),  # reset
        (times(steal=9, idle=500), times(steal=0, idle=700), None, None),
        (times(idle=90000, iowait=5), times(user=3, idle=2), None, None),  # taken offline and back: idle was reset
        (times(idle=500), times(user=200, idle=499), 100.0, 0.0),  # the kernel's correction, on a busy core
        (times(idle=500, iowait=50), times(user=50, idle=700, iowait=0), 25.0, 0.0),
        (times(idle=500), times(user=100, idle=450, iowait=150), 50.0, 50.0),  # not 75: idle became iowait
        (times(), times(user=1, nice=1, system=1, irq=1, softirq=1, steal=1, idle=2, iowait=2), 60.0, 20.0),
    ],
)
def test_counters_that_go_backwards(
    before: CpuTimes, after: CpuTimes, util_pct: float | None, iowait_pct: float | None
) -> None:
    rates = cpu_rates(of_one_core(1.0, before), of_one_core(3.0, after))
    assert (rates.util_pct, rates.iowait_pct) == (util_pct, iowait_pct)
    assert [core.util_pct for core in rates.cores] == ([] if util_pct is None else [util_pct])


def test_a_core_keeps_its_numa_node() -> None:
    before, after = of_one_core(1.0, times(user=1)), of_one_core(3.0, times(user=100))
    assert [core.node for core in cpu_rates(before, replace(after, core_nodes=(1,))).cores] == [1]
    assert [core.node for core in cpu_rates(before, after).cores] == [None]


def test_a_core_is_not_compared_with_another_one() -> None:
    rates = cpu_rates(of_one_core(1.0, times(user=1), number=0), of_one_core(3.0, times(user=100), number=1))
    assert rates.cores == ()
    assert rates.freq_mhz is None

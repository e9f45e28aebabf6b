from __future__ import annotations

import msgspec
import pytest

from hwtop.collectors.host.cgroup import CgroupSource
from hwtop.derive.host.cgroup import cgroup_rates
from hwtop.model.host.cgroup import CgroupRates, CgroupReading
from tests.host import Clock, proc, sys


def recorded(when: str, at_s: float, tree: str = "container-v2", pid: int | None = None) -> CgroupReading:
    return CgroupSource(pid=pid, proc=proc(tree, when), sys=sys(tree, when), now=Clock(at_s)).read()


def test_v2_over_two_seconds() -> None:
    assert cgroup_rates(recorded("first", 100.0), recorded("second", 102.0)) == CgroupRates(
        cpu_quota_cores=4.0,
        throttled_periods_pct=25.0,  # 5 of 20
        mem_limit_bytes=32 * 1024**3,
        mem_used_bytes=29 * 1024**3,
        mem_cache_bytes=8 * 1024**3,
        oom_kills_new=2,
    )


def test_v1_over_two_seconds() -> None:
    rates = cgroup_rates(recorded("first", 100.0, "host-v1", 4242), recorded("second", 102.0, "host-v1", 4242))
    assert (rates.cpu_quota_cores, rates.throttled_periods_pct, rates.oom_kills_new) == (2.5, 50.0, 1)


def test_first_repeated_and_other_cgroups_have_no_rates() -> None:
    first, second = recorded("first", 100.0), recorded("second", 102.0)
    other = msgspec.structs.replace(second, path="/other")
    for rates in (cgroup_rates(None, first), cgroup_rates(first, first), cgroup_rates(first, other)):
        assert (rates.throttled_periods_pct, rates.oom_kills_new) == (None, None)
        assert rates.mem_limit_bytes == 32 * 1024**3


@pytest.mark.parametrize(
    ("periods", "throttled", "pct"),
    [
        (20, 0, 0.0),
        (20, 20, 100.0),
        (20, 21, 100.0),  # the first reading fell between the kernel's two additions
        (20, 22, None),
        (0, 0, None),  # no quota, or nothing ran
        (-1, 0, None),
        (20, -1, None),
    ],
)
def test_share_of_throttled_periods(periods: int, throttled: int, pct: float | None) -> None:
    first = CgroupReading(at_s=1.0, version=2, path="/", nr_periods=500, nr_throttled=50)
    second = CgroupReading(at_s=2.0, version=2, path="/", nr_periods=500 + periods, nr_throttled=50 + throttled)
    assert cgroup_rates(first, second).throttled_periods_pct == pct


def test_a_group_without_counters_has_no_rates() -> None:
    first = CgroupReading(at_s=1.0, version=2, path="/")
    rates = cgroup_rates(first, msgspec.structs.replace(first, at_s=2.0))
    assert (rates.throttled_periods_pct, rates.oom_kills_new) == (None, None)

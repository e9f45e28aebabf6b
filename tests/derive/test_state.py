from __future__ import annotations

from typing import Any

import pytest

from hwtop.derive.state import StateBuilder, usable_cores
from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.snapshot import OwnCost
from tests.derive.readings import cpu, launcher, processes, rank, snapshot


def limits(online: int | None, quota: float | None, affinities: list[int | None]) -> dict[str, Any]:
    found = [rank(number, usable_cores=cores) for number, cores in enumerate(affinities)]
    return {
        "cpu": None if online is None else cpu(10.0, 0, cores=online),
        "cgroup": CgroupReading(at_s=10.0, version=2, path="/", cpu_quota_cores=quota),
        "process": processes(10.0, launcher(), *found),
    }


@pytest.mark.parametrize(
    ("online", "quota", "affinities", "cores"),
    [
        (8, None, [], 8.0),
        (8, None, [None, None], 8.0),
        (8, 2.5, [8, 8], 2.5),
        (8, None, [4, 2], 4.0),
        (8, 16.0, [12], 8.0),
        (None, 3.0, [], 3.0),
        (None, None, [], 1.0),
    ],
)
def test_usable_cores(online: int | None, quota: float | None, affinities: list[int | None], cores: float) -> None:
    assert usable_cores(snapshot(10.0, **limits(online, quota, affinities))) == cores


def test_ranks_that_are_bound_to_a_core_each_have_as_many_together() -> None:
    bound = [rank(number, usable_cores=1, allowed_cpus=str(number)) for number in range(2)]
    assert usable_cores(snapshot(10.0, cpu=cpu(10.0, 0, cores=8), process=processes(10.0, *bound))) == 2.0


def test_nothing_read_is_nothing_known() -> None:
    derived = StateBuilder().advance(snapshot(10.0))
    assert (derived.cpu, derived.memory, derived.cgroup, derived.network, derived.job) == (None,) * 5
    assert (derived.disks, derived.mounts, derived.gpus, derived.sources, derived.candidates) == ((), (), (), (), None)
    assert derived.own_cpu_pct is None


def test_own_cost_is_a_rate_over_the_time_between_its_readings() -> None:
    builder = StateBuilder()
    builder.advance(snapshot(10.0, own=OwnCost(cpu_s=3.0, rss_bytes=None, at_s=10.0)))
    derived = builder.advance(snapshot(12.0, own=OwnCost(cpu_s=3.1, rss_bytes=7, at_s=12.0)))
    assert derived.own_cpu_pct == pytest.approx(5.0)
    assert derived.own_rss_bytes == 7


def test_a_source_that_is_gone_for_a_while_leaves_its_newest_rates() -> None:
    builder = StateBuilder()
    for at_s, busy in ((10.0, 0), (11.0, 25)):
        before = builder.advance(snapshot(at_s, cpu=cpu(at_s, busy)))
    after = builder.advance(snapshot(12.0, cpu=None))
    assert before.cpu is not None and before.cpu.util_pct == pytest.approx(25.0)
    assert after.cpu == before.cpu

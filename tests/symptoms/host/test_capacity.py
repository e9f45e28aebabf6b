"""Cores that the ranks may use, and how many of them are free."""

from __future__ import annotations

import pytest

from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CoreRates, CpuRates
from hwtop.symptoms.host import capacity
from tests.parts import replace
from tests.symptoms.derived_states import constant, cpu, job, rank, row


def cores(*busy_pct: float) -> CpuRates:
    each = tuple(
        CoreRates(util_pct=pct, iowait_pct=0.0, steal_pct=0.0, number=number) for number, pct in enumerate(busy_pct)
    )
    return replace(cpu(sum(busy_pct) / len(busy_pct)), cores=each, count=len(busy_pct))


def quota(cores: float) -> CgroupRates:
    return CgroupRates(
        cpu_quota_cores=cores,
        throttled_periods_pct=None,
        mem_limit_bytes=None,
        mem_used_bytes=None,
        mem_cache_bytes=None,
        oom_kills_new=None,
    )


@pytest.mark.parametrize(
    ("allowed", "may_use", "free"),
    [
        (("0-3", "0-3"), 4.0, 2.0),
        (("0", "0"), 1.0, 0.0),  # both on the full one: that others idle is no use to them
        (("2", "3"), 2.0, 1.5),
        ((None, None), 4.0, 2.0),
    ],
)
def test_only_cores_that_the_ranks_may_use_count(
    allowed: tuple[str | None, str | None], may_use: float, free: float
) -> None:
    watched = job(*(rank(number, allowed_cpus=cpus) for number, cpus in enumerate(allowed)))
    seen = constant(watched, cpu=cores(100.0, 50.0, 20.0, 30.0), cores=4.0)
    assert capacity.cores(seen.now) == may_use
    assert capacity.free(seen, 10.0) == pytest.approx(free)


def test_a_cpu_limit_leaves_what_the_job_has_not_used_of_it() -> None:
    watched = job(rank(0), processes=(row(1000, cpu_pct=120.0), row(2000, cpu_pct=60.0)))
    seen = constant(watched, cpu=cores(*[30.0] * 8), cores=2.0, cgroup=quota(2.0))
    assert capacity.free(seen, 10.0) == pytest.approx(0.2)


def test_nothing_is_free_where_nothing_is_known() -> None:
    assert capacity.free(constant(job(rank(0)), cpu=None), 10.0) is None


@pytest.mark.parametrize(
    ("why", "machine", "own_pct", "expected"),
    [
        ("others fill three of four cores", cores(100, 100, 100, 90), 95.0, 2.95),
        ("the job itself fills them", cores(100, 100, 100, 90), 385.0, None),
        ("cores are free", cores(100, 100, 20, 10), 95.0, None),
        ("not read", None, 95.0, None),
    ],
)
def test_what_others_take(why: str, machine: CpuRates | None, own_pct: float, expected: float | None) -> None:
    watched = replace(job(rank(0)), processes=(row(1000, cpu_pct=own_pct),))
    taken = capacity.taken(constant(watched, cpu=machine, cores=4.0))
    assert (None if taken is None else round(taken.cores, 2)) == expected, why

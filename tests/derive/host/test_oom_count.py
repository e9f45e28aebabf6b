"""OOM kills where the kernel's log may not be read."""

from __future__ import annotations

from typing import Any

from hwtop.derive.job.tracker import JobTracker
from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.host.memory import MemoryReading
from hwtop.model.job import Job
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import gone, launcher, processes, rank, snapshot
from tests.kernel_lines import kernel, kernel_lines


def cgroup(at_s: float, kills: int | None) -> CgroupReading:
    return CgroupReading(at_s=at_s, version=2, path="/job_77", mem_limit_bytes=64_000_000_000, oom_kills=kills)


def memory(at_s: float, kills: int) -> MemoryReading:
    return MemoryReading(
        at_s=at_s, total_bytes=1, available_bytes=1, free_bytes=1, cached_bytes=0, buffers_bytes=0, dirty_bytes=0,
        swap_total_bytes=0, swap_free_bytes=0, shmem_bytes=0, oom_kills=kills,
    )  # fmt: skip


def whole(at_s: float, **fields: object) -> Snapshot:
    return snapshot(at_s, process=processes(at_s, launcher(), rank(0), rank(1)), **fields)


def without_rank_1(at_s: float, **fields: object) -> Snapshot:
    dead = gone(111, 22.0, exit_code=-9)
    return snapshot(at_s, process=processes(at_s, launcher(), rank(0), gone=[dead]), **fields)


def after(*snapshots: Snapshot) -> Job:
    tracker = JobTracker()
    for each in snapshots:
        job = tracker.advance(each)
    assert job is not None
    return job


def test_the_rank_that_died_when_the_cgroups_counter_grew() -> None:
    job = after(
        whole(20.0, cgroup=cgroup(20.0, 3)),
        without_rank_1(22.0, cgroup=cgroup(22.0, 4)),
    )
    (event,) = job.logs.events
    assert (event.pattern, event.severity, event.role, event.rank) == ("host-oom-kill", "critical", "root", 1)
    assert event.explanation == (
        "The OOM killer killed 1 process in memory cgroup /job_77 (limit 59.6 GiB); rank 1 died at the same time."
    )


def test_without_a_dead_rank_it_was_another_process_under_the_same_limit() -> None:
    job = after(whole(20.0, cgroup=cgroup(20.0, 0)), whole(22.0, cgroup=cgroup(22.0, 2)))
    assert [(event.severity, event.rank) for event in job.logs.events] == [("warning", None)]
    assert "2 processes" in job.logs.events[0].explanation


def test_the_machines_counter_counts_other_people_too() -> None:
    assert after(whole(20.0, memory=memory(20.0, 0)), whole(22.0, memory=memory(22.0, 1))).logs.events == ()
    job = after(whole(20.0, memory=memory(20.0, 0)), without_rank_1(22.0, memory=memory(22.0, 1)))
    assert [(event.severity, event.rank, event.path) for event in job.logs.events] == [("critical", 1, "/proc/vmstat")]


def test_one_kill_is_told_once() -> None:
    both: dict[str, Any] = {"cgroup": cgroup(22.0, 1), "memory": memory(22.0, 1)}
    job = after(whole(20.0, cgroup=cgroup(20.0, 0), memory=memory(20.0, 0)), without_rank_1(22.0, **both))
    assert len(job.logs.events) == 1
    log = kernel(22.0, *kernel_lines("memcg_oom.kmsg"))
    job = after(whole(20.0, cgroup=cgroup(20.0, 0), memory=memory(20.0, 0)), without_rank_1(22.0, kernel=log, **both))
    assert [event.path for event in job.logs.events] == ["kernel log"]


def test_what_was_counted_before_is_no_news() -> None:
    assert after(whole(20.0, cgroup=cgroup(20.0, 7)), whole(22.0, cgroup=cgroup(22.0, 7))).logs.events == ()
    assert after(whole(20.0, cgroup=cgroup(20.0, None)), whole(22.0, cgroup=cgroup(22.0, 7))).logs.events == ()
    late = after(whole(20.0, cgroup=cgroup(20.0, 0)), whole(22.0, cgroup=cgroup(22.0, 1)), without_rank_1(60.0))
    assert [event.rank for event in late.logs.events] == [None]

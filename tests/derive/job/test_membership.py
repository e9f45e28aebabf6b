"""Members are placed again exactly when something has changed that places them."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from hwtop.derive.job.membership import Membership
from hwtop.job.launch.facts import of_place, of_tree
from hwtop.job.launch.root import find_root, orphaned_tops
from hwtop.job.launch.tree import members
from hwtop.model.process import ProcessInfo, ThreadInfo
from tests.derive.readings import launcher, process, rank, worker
from tests.job.launch.test_tree import SPAWNED, TORCHRUN

JOB = [launcher(), rank(0), rank(1), worker(210, 110), worker(211, 111)]
LONE = [process(100), process(101, 100, "/opt/bin/python serve.py", rss_bytes=4 << 20)]


class Noting:
    """A process that notes what is read of it."""

    def __init__(self, process: ProcessInfo, read: set[str]) -> None:
        self._process, self._read = process, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._process, name)


def noting(process: ProcessInfo, read: set[str]) -> ProcessInfo:
    return cast("ProcessInfo", Noting(process, read))


@pytest.mark.parametrize("job", [JOB, LONE, TORCHRUN, SPAWNED])
def test_nothing_else_is_read_to_place_a_process(job: list[ProcessInfo]) -> None:
    placing, comparing = set[str](), set[str]()
    members([noting(each, placing) for each in job])
    of_place(noting(job[0], comparing))
    assert placing <= comparing


@pytest.mark.parametrize("job", [JOB, LONE, TORCHRUN, SPAWNED])
def test_nothing_else_is_read_to_find_the_tree_of_a_process(job: list[ProcessInfo]) -> None:
    finding, comparing = set[str](), {"state"}
    by_pid = {each.pid: noting(each, finding) for each in job}
    for each in job:
        orphaned_tops(by_pid, find_root(by_pid, each.pid))
    of_tree(noting(job[0], comparing))
    assert finding <= comparing


@pytest.mark.parametrize(
    "changed",
    [
        [*JOB, worker(212, 110)],
        JOB[:-1],
        [*JOB[:-1], replace(JOB[-1], ppid=1)],
        [JOB[0], replace(JOB[1], start_ticks=999), *JOB[2:]],
        [*JOB[:3], process(210, 110, "/usr/bin/ffmpeg -i x"), JOB[4]],
        [*JOB[:3], replace(JOB[3], comm="python"), JOB[4]],
    ],
)
def test_what_changes_is_seen_at_once(changed: list[ProcessInfo]) -> None:
    known = Membership()
    before = known.advance(JOB, ())
    assert before == members(JOB)
    assert known.advance(changed, ()) == members(changed, before)


def test_a_spawner_is_seen_at_once() -> None:
    job = [process(100), *(process(pid, 100, command="/opt/bin/python train.py") for pid in (101, 102))]
    known = Membership()
    before = known.advance(job, ())
    assert known.advance(job, {100}) == members(job, before, {100}) != before


def test_a_process_that_grows_over_its_parent_becomes_the_rank() -> None:
    small = replace(process(100, command="/opt/bin/python sweep.py"), rss_bytes=14 << 20)
    known = Membership()
    for size in range(20, 400, 20):
        known.advance([small, replace(process(101, 100), rss_bytes=size << 20)], ())
    assert {each.pid: each.role for each in known.members} == {100: "launcher", 101: "rank"}


def test_the_rest_of_a_reading_places_nobody_again() -> None:
    known = Membership()
    known.advance(JOB, ())
    first = known.advance(JOB, ())
    busy = [
        replace(
            each,
            state="R",
            user_ticks=7,
            wchan="x",
            threads=tuple(ThreadInfo(tid=t.tid, comm=t.comm, state="R", cpu_ticks=3) for t in each.threads),
        )
        for each in JOB
    ]
    assert known.advance(busy, ()) is first

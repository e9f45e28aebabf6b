"""What must be remembered to tell a hang."""

from __future__ import annotations

from typing import Any

from hwtop.derive.job.tracker import JobTracker
from hwtop.model.job import Job
from hwtop.model.process import ProcessInfo, ThreadInfo
from hwtop.model.rank import Rank
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import (
    BOOT_S,
    LOAD,
    STEP,
    WAIT,
    dump,
    frame,
    launcher,
    process,
    processes,
    rank,
    snapshot,
    stacks,
    worker,
)

JOIN = (frame("init_process_group", "torch/distributed/distributed_c10d.py", 1700), frame("main", line=5))


def after(*snapshots: Snapshot) -> Job:
    tracker, job = JobTracker(), None
    for each in snapshots:
        job = tracker.advance(each)
    assert job is not None
    return job


def at(at_s: float, *found: ProcessInfo, **fields: Any) -> Snapshot:
    return snapshot(at_s, process=processes(at_s, *(found or (launcher(), rank(0), rank(1)))), **fields)


def rank_of(job: Job, number: int) -> Rank:
    return next(each for each in job.ranks if each.rank == number)


def sleeper(state: str = "D", switches: int = 7, ticks: int = 0, **fields: Any) -> ProcessInfo:
    """Rank 1, its main thread in `state`."""
    threads = (ThreadInfo(tid=111, comm="python", state=state, cpu_ticks=ticks),)
    counts = {"voluntary_switches": switches, "involuntary_switches": 0}
    return rank(1, state=state, threads=threads, wchan="nfs_wait_bit", **(counts | fields))


def test_since_when_a_thread_is_in_d_state() -> None:
    job = after(*(at(float(s), launcher(), rank(0), sleeper()) for s in range(10, 26)))
    found = rank_of(job, 1).stall.blocked
    assert found is not None
    assert (found.pid, found.for_s, found.wchan, found.is_main, found.is_worker) == (
        111,
        15.0,
        "nfs_wait_bit",
        True,
        False,
    )
    assert rank_of(job, 0).stall.blocked is None
    assert rank_of(job, 1).state == "stuck", "whatever its stack, which may be impossible to get"


def test_a_thread_that_ran_in_between_does_ordinary_io() -> None:
    job = after(*(at(float(s), launcher(), rank(0), sleeper(switches=s)) for s in range(10, 26)))
    found = rank_of(job, 1).stall.blocked
    assert found is not None
    assert found.for_s == 0.0


def test_a_thread_that_was_seen_awake_starts_anew() -> None:
    looks = [at(10.0, launcher(), sleeper()), at(20.0, launcher(), sleeper("S")), at(21.0, launcher(), sleeper())]
    found = rank_of(after(*looks), 1).stall.blocked
    assert found is not None
    assert found.for_s == 0.0
    assert rank_of(after(*looks[:2]), 1).stall.blocked is None


def test_where_switches_are_not_counted_cpu_time_tells() -> None:
    unknown: dict[str, Any] = {"voluntary_switches": None, "involuntary_switches": None}
    still = rank_of(after(*(at(float(s), launcher(), sleeper(**unknown)) for s in (10, 20))), 1).stall.blocked
    works = rank_of(after(*(at(float(s), launcher(), sleeper(**unknown, ticks=s)) for s in (10, 20))), 1).stall.blocked
    assert still is not None
    assert works is not None
    assert (still.for_s, works.for_s) == (10.0, 0.0)


def test_threads_and_workers_count_as_well() -> None:
    def seen(at_s: float) -> Snapshot:
        writer = ThreadInfo(tid=115, comm="ckpt-writer", state="D", cpu_ticks=3)
        trainer = rank(0, threads=(ThreadInfo(tid=110, comm="python", state="S", cpu_ticks=0), writer))
        helper = worker(
            130, 111, state="D", threads=(ThreadInfo(tid=130, comm="pt_data_worker", state="D", cpu_ticks=0),)
        )
        return at(at_s, launcher(), trainer, rank(1), helper)

    job = after(seen(10.0), seen(40.0))
    thread, own = rank_of(job, 0).stall.blocked, rank_of(job, 1).stall.blocked
    assert thread is not None
    assert own is not None
    assert (thread.comm, thread.is_main, thread.wchan) == ("ckpt-writer", False, None)
    assert (own.pid, own.is_worker, own.for_s) == (130, True, 30.0)


def test_how_long_every_look_showed_the_same_phase() -> None:
    looks = [
        at(float(s), stacks=stacks(float(s), dump(110, float(s), LOAD if s < 15 else WAIT))) for s in range(10, 20)
    ]
    assert rank_of(after(*looks[:4]), 0).stack.phase_for_s == 3.0
    assert rank_of(after(*looks), 0).stack.phase_for_s == 4.0
    assert rank_of(after(*looks), 1).stack.phase_for_s is None


def test_after_a_gap_nobody_knows_what_was_in_between() -> None:
    looks = [at(at_s, stacks=stacks(at_s, dump(110, at_s, WAIT))) for at_s in (10.0, 50.0)]
    assert rank_of(after(*looks), 0).stack.phase_for_s == 0.0


def test_the_collective_that_will_time_out() -> None:
    threads = tuple(
        ThreadInfo(tid=tid, comm=comm, state="S", cpu_ticks=0)
        for tid, comm in ((110, "python"), (112, "pt_nccl_watchdg"))
    )
    waits = [
        at(float(s), launcher(), rank(0, threads=threads), stacks=stacks(float(s), dump(110, float(s), WAIT)))
        for s in range(10, 41)
    ]
    job = after(*waits)
    assert job.timeout is not None
    assert (job.timeout.backend, job.timeout.timeout_s, job.timeout.waited_s) == ("nccl", 600.0, 30.0)
    assert after(*waits[:5]).timeout is None


def test_a_rank_whose_program_works_for_it_is_not_idle() -> None:
    """An evaluation in a process of its own: the rank only waits for it to end."""

    def seen(at_s: float, ticks: int) -> Snapshot:
        score = process(150, 111, command="/opt/bin/score --all", user_ticks=ticks)
        return at(at_s, launcher(), rank(0), rank(1), score)

    busy = after(*(seen(float(s), ticks=50 * s) for s in range(10, 31)))
    idle = after(*(seen(float(s), ticks=0) for s in range(10, 31)))
    assert rank_of(busy, 1).stall.idle_for_s == 0.0
    assert rank_of(idle, 1).stall.idle_for_s == 20.0
    assert rank_of(busy, 0).stall.idle_for_s == 20.0


# --- rendezvous


def test_all_ranks_here_in_the_rendezvous() -> None:
    env = {"RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "node1", "MASTER_PORT": "29500"}
    looks = [
        at(float(s), launcher(), rank(0, env=env), stacks=stacks(float(s), dump(110, float(s), JOIN)))
        for s in range(10, 31)
    ]
    found = after(*looks).rendezvous
    assert found is not None
    assert (found.waiting_s, found.ranks, found.expected, found.here) == (20.0, (0,), 4, 1)
    assert found.address == "node1:29500"


def test_a_wait_in_the_rendezvous_began_when_the_main_thread_last_ran() -> None:
    slept: dict[str, Any] = {"asleep_since_s": 2.0, "voluntary_switches": 7, "involuntary_switches": 0}
    looks = [
        at(float(s), launcher(), rank(0, **slept), stacks=stacks(float(s), dump(110, float(s), JOIN)))
        for s in range(60, 71)
    ]
    found = after(*looks).rendezvous
    assert found is not None
    assert (found.watched_s, found.waiting_s) == (10.0, 68.0)


def test_no_rendezvous_once_one_rank_is_past_it() -> None:
    looks = [
        at(float(s), stacks=stacks(float(s), dump(110, float(s), JOIN), dump(111, float(s), STEP)))
        for s in range(10, 31)
    ]
    assert after(*looks).rendezvous is None


def test_a_launcher_that_waits_for_other_nodes() -> None:
    agent = (
        frame("next_rendezvous", "torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py", 67),
        frame("_invoke_run", "torch/distributed/elastic/agent/server/api.py", 916),
    )
    torchrun = process(100, command="/opt/bin/python /opt/bin/torchrun --nnodes 2 --rdzv-endpoint node1:29400 train.py")
    looks = [at(float(s), torchrun, stacks=stacks(float(s), dump(100, float(s), agent))) for s in range(10, 31)]
    found = after(*looks).rendezvous
    assert found is not None
    assert (found.launcher_pid, found.ranks, found.expected, found.here) == (100, (), 2, 1)
    assert (found.waiting_s, found.address) == (20.0, "node1:29400")
    assert found.age_s is not None
    assert BOOT_S + 30.0 - found.age_s == BOOT_S + 1.0, "it started 100 ticks after boot"

"""dataloader-worker-stuck and dataloader-worker-killed."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.hang import LockWait, WorkerLock
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.job import Job
from hwtop.model.process import SystemCall
from hwtop.model.rank import DataFile, Rank, Worker
from hwtop.model.rank_stack import HotSpot
from hwtop.model.stack import StackFrame
from hwtop.model.symptom import Finding
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.history import History
from hwtop.symptoms.input.workers import check_killed, check_stuck
from tests.parts import replace
from tests.stack_jobs import stack
from tests.symptoms.derived_states import constant, derived, event, history, job, rank, row, shares, worker
from tests.symptoms.input.test_loader import TAKES_A_BATCH, dump_of

LOOK_UP = StackFrame(name="look_up", filename="/home/me/data.py", short_filename="data.py", line=31)
AT_THE_LOADER = dump_of(TAKES_A_BATCH)
AT_A_PIPE = dump_of(stack("recv multiprocessing/connection.py 250", "play train.py 9"))
IDLE = StackFrame(
    name="_worker_loop", filename="/t/worker.py", short_filename="torch/utils/data/_utils/worker.py", line=0
)
IDLE_OF_POOL = StackFrame(
    name="get",
    filename="/usr/lib/python3.11/multiprocessing/queues.py",
    short_filename="multiprocessing/queues.py",
    line=0,
)


def at_work(pid: int = 2000, **fields: Any) -> Worker:
    known: dict[str, Any] = {
        "state": "S",
        "cpu_pct": 0.0,
        "wchan": "futex_do_wait",
        "leaf": LOOK_UP,
        "same_stack_for_s": 20.0,
    }
    return worker(pid, **(known | fields))


def waiting(*workers: Worker, seconds: float = 20.0, **fields: Any) -> Rank:
    known: dict[str, Any] = {
        "os_state": "S",
        "cpu_pct": 0.5,
        "phase": "data",
        "phase_shares": shares(data=1.0),
        "same_stack_for_s": seconds,
        "step_age_s": seconds,
        "idle_for_s": seconds,
        "workers": workers,
        "state": "stuck",
        "stack": AT_THE_LOADER,
    }
    return rank(0, **(known | fields))


def test_a_stuck_worker_is_named_with_its_place() -> None:
    seen = check_stuck(constant(job(waiting(at_work(2000, leaf=IDLE), at_work(2001)))))
    assert seen is not None
    assert seen.title == ("Loader worker PID 2001 of rank 0 is stuck in data.py:31 look_up: rank 0 waits for its batch")
    assert any("worker 2 of 2 (PID 2001): state S in the kernel's futex_do_wait" in line for line in seen.evidence)
    assert any("forkserver" in step for step in seen.next_steps)
    assert seen.severity == "critical"


def test_a_worker_in_d_state_is_named_with_its_file_system() -> None:
    file = DataFile(path="/data/shard-7.tar", mount_point="/data", fs_type="nfs4")
    blocked = at_work(state="D", wchan="nfs_wait_bit_killable", leaf=None, same_stack_for_s=None, file=file)
    seen = check_stuck(constant(job(waiting(blocked))))
    assert seen is not None
    assert "in D state (nfs_wait_bit_killable) on /data (nfs4)" in seen.title
    assert seen.next_steps[0].startswith("timeout 5 stat -f /data ")


@pytest.mark.parametrize(
    ("seconds", "fields", "expected"),
    [
        (12.0, {}, True),
        (11.0, {}, False),
        (20.0, {"log_interval_s": 8.0}, False),  # a batch takes 8 s by nature
        (25.0, {"log_interval_s": 8.0}, True),
        (20.0, {"step_age_s": 2.0}, False),  # steps are told: its waits only look the same
        (20.0, {"step_age_s": None}, True),
        (20.0, {"phase": "backward"}, False),
    ],
)
def test_how_long_it_must_hold(seconds: float, fields: dict[str, Any], expected: bool) -> None:
    assert (check_stuck(constant(job(waiting(at_work(), seconds=seconds, **fields)))) is not None) is expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cpu_pct": 1.9}, True),
        ({"cpu_pct": 2.1}, False),
        ({"read_bytes_per_s": 1000.0}, False),
        ({"read_chars_per_s": 10.0}, False),  # a slow download is slow, not stuck
        ({"leaf": IDLE}, False),
        (
            {"leaf": IDLE_OF_POOL},
            False,
        ),  # nobody's code asked for what it waits for: it is the pool that waits for work
        ({"leaf": None}, False),
        ({"same_stack_for_s": 2.0}, False),
        ({"state": "Z"}, False),
    ],
)
def test_a_worker_that_does_anything_or_has_nothing_to_do_is_not_stuck(fields: dict[str, Any], expected: bool) -> None:
    assert (check_stuck(constant(job(waiting(at_work(**fields))))) is not None) is expected


def test_one_that_worked_a_moment_ago_is_not_stuck() -> None:
    def at(second: int) -> Any:
        pct = 90.0 if second < 22 else 0.0
        return derived(float(second), job(waiting(at_work(cpu_pct=pct))))

    assert check_stuck(history(30, at)) is None


def test_a_lock_that_was_held_at_the_fork_is_told() -> None:
    wait = LockWait(kind="lock", thread="MainThread", lock="INDEX_LOCK", site=LOOK_UP)
    seen = check_stuck(constant(job(waiting(at_work(2000), worker_locks=(WorkerLock(pid=2000, wait=wait),)))))
    assert seen is not None
    assert any("INDEX_LOCK, which no thread of it holds" in line for line in seen.evidence)


def killed(watched: History) -> str | None:
    seen = check_killed(watched)
    return None if seen is None else seen.title


@pytest.mark.parametrize(
    ("exit_code", "expected"),
    [
        (-9, "was killed by SIGKILL"),
        (-7, "was killed by SIGBUS"),
        (1, "has ended with exit code 1"),
        (0, None),
        (-15, None),
    ],
)
def test_how_a_worker_ended(exit_code: int, expected: str | None) -> None:
    gone = worker(2001, state="Z", exit_code=exit_code, cpu_pct=0.0, is_named_loader=True)
    title = killed(constant(job(rank(0, workers=(worker(2000), gone)))))
    assert title == (None if expected is None else f"Loader worker PID 2001 of rank 0 {expected}")


def vanishing(*, seconds: float = 12.0, after: tuple[Worker, ...] = (), **fields: Any) -> History:
    """Worker 2001 goes when the wait begins."""

    def at(second: int) -> Any:
        still_s = second - (30 - seconds)
        if still_s < 0:
            return derived(float(second), job(rank(0, workers=(worker(2000), worker(2001)))))
        return derived(float(second), job(waiting(*after, seconds=still_s, **fields)))

    return history(30, at)


def test_a_worker_that_vanished_while_its_rank_does_nothing_but_wait() -> None:
    title = killed(vanishing(after=(worker(2000, state="S", cpu_pct=0.0),)))
    assert title == "Loader worker PID 2001 of rank 0 ended while its rank still waits for it"


@pytest.mark.parametrize(
    "watched",
    [
        vanishing(seconds=8.0, after=(worker(2000),)),
        vanishing(after=(worker(2000),), idle_for_s=0.0),  # the others load on
        vanishing(after=(worker(3000), worker(3001))),  # the next epoch's workers
        vanishing(after=(worker(2000),), phase="checkpoint"),
        vanishing(after=(worker(2000), worker(2001))),
    ],
    ids=["not long", "others work", "new epoch", "saves", "all there"],
)
def test_workers_that_end_in_peace(watched: History) -> None:
    assert killed(watched) is None


def test_a_zombie_child_from_before_hwtop_came_counts_while_the_rank_waits() -> None:
    def with_child(exit_code: int | None, one: Rank) -> Job:
        child = row(7, ppid=one.pid, role="other", state="Z", command="[python]", exit_code=exit_code)
        return replace(job(one), processes=(child,))

    assert killed(constant(with_child(-9, waiting()))) == "Loader worker PID 7 of rank 0 was killed by SIGKILL"
    assert killed(constant(with_child(0, waiting()))) is None
    assert killed(constant(with_child(-9, rank(0)))) is None


LINE = "RuntimeError: DataLoader worker (pid 2001) is killed by signal: Killed."


def reported(at_s: float = 5.0, signal: str = "Killed", **fields: Any) -> Any:
    return event(
        "dataloader-worker-killed", "cascade", text=LINE, at_s=at_s, groups={"pids": "2001", "signal": signal}, **fields
    )


def test_the_log_tells_it_and_out_of_memory_is_the_reason() -> None:
    oom = CgroupRates(
        cpu_quota_cores=None,
        throttled_periods_pct=None,
        mem_limit_bytes=None,
        mem_used_bytes=None,
        mem_cache_bytes=None,
        oom_kills_new=1,
    )
    seen = check_killed(
        history(
            3,
            lambda second: derived(
                float(second), job(rank(), events=(reported(rank=0),)), cgroup=oom if second == 2 else None
            ),
        )
    )
    assert seen is not None
    assert seen.title == (
        "Loader worker PID 2001 of rank 0 was killed by signal: Killed; the kernel ran out of memory in the job's cgroup"
    )
    assert seen.log_line == LINE


def test_the_traceback_of_the_same_error_is_no_other_cause() -> None:
    same = event("rank-crash", "root", text=LINE, at_s=4.0)
    assert killed(constant(job(rank(), events=(same, reported())))) is not None


@pytest.mark.parametrize(
    "events",
    [
        (event("rank-crash", "root", text="ValueError: bad batch", at_s=4.0), reported()),
        (reported(signal="Terminated"),),
    ],
    ids=["after another failure", "ended by the launcher"],
)
def test_what_another_failure_brought_about_is_no_cause(events: tuple[Any, ...]) -> None:
    assert killed(constant(job(rank(), events=events))) is None


def test_the_crash_that_follows_folds_into_it() -> None:
    def finding(symptom: str) -> Finding:
        return Finding(
            symptom=symptom,
            severity="critical",
            confidence=0.9,
            category="stability",
            title=symptom,
            evidence=(),
            next_steps=(),
        )

    found = fold([finding(symptom) for symptom in ("rank-crash", "rank-dead", "hang", "dataloader-worker-killed")])
    assert [each.symptom for each in found] == ["dataloader-worker-killed"]
    assert len(found[0].folded) == 3


def test_a_child_that_is_not_seen_to_load_is_no_loader_worker() -> None:
    """A simulator, an actor: `hang` tells that the rank waits, and how its child ended."""
    at_a_pipe = replace(waiting(at_work(2000)), stack=replace(waiting().stack, dump=AT_A_PIPE))
    assert check_stuck(constant(job(at_a_pipe))) is None
    ended = replace(at_a_pipe, workers=(worker(2000, state="Z", exit_code=-9),))
    assert killed(constant(job(ended))) is None


def test_children_that_wait_for_one_another_bring_no_data() -> None:
    """Actors and their simulator, whose functions read messages: that nobody has sent any is told by `hang`."""
    read = StackFrame(name="read_exact", filename="/home/me/play.py", short_filename="play.py", line=9)
    call = SystemCall(name="recvfrom", fd=5, target="socket:[7]", peer="127.0.0.1:9009", peer_pids=(2009,))
    actors = [at_work(pid, wchan="wait_woken", call=call, leaf=read) for pid in (2000, 2001)]
    hot = (HotSpot(function="read_exact", file="play.py", line=9, share=1.0, samples=20),)
    stuck = waiting(*actors, stack=AT_A_PIPE, worker_hot=hot)
    simulator = row(2009, role="worker")
    assert check_stuck(constant(job(stuck, processes=(row(), simulator)))) is None
    server = job(stuck, processes=(row(),))  # no process of the job
    assert check_stuck(constant(server)) is not None

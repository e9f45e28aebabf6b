"""The job over time, from readings made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hwtop.derive.job.tracker import JobTracker
from hwtop.model.gpu.device import Gpu, GpuProcess, GpuReading
from hwtop.model.job import Job, OutlierVote
from hwtop.model.process import OpenFile, ProcessInfo, ThreadInfo
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogLine
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackDump
from tests.derive.readings import (
    LOAD,
    STEP,
    WAIT,
    dump,
    gone,
    launcher,
    log_lines,
    logs,
    process,
    processes,
    rank,
    snapshot,
    stacks,
    worker,
)

SHARED = "/logs/train.log"


def after(*snapshots: Snapshot) -> Job:
    """The job when all of these have been seen."""
    tracker = JobTracker()
    job = None
    for each in snapshots:
        job = tracker.advance(each)
    assert job is not None
    return job


def at(at_s: float, *found: ProcessInfo, lines: list[LogLine] | None = None, **fields: Any) -> Snapshot:
    """Processes (under a launcher) and new log lines of one time."""
    reading = None if lines is None else logs(at_s, *lines)
    return snapshot(at_s, process=processes(at_s, launcher(), *found), logs=reading, **fields)


def rank_of(job: Job, number: int) -> Rank:
    return next(each for each in job.ranks if each.rank == number)


def step(job: Job, number: int) -> int | None:
    progress = rank_of(job, number).progress.newest
    return None if progress is None else progress.step


def test_no_job_before_its_processes_have_been_read() -> None:
    assert JobTracker().advance(snapshot(1.0)) is None


def test_who_is_who() -> None:
    job = after(at(10.0, rank(0), rank(1), worker(130, 111)), at(12.0, rank(0), rank(1), worker(130, 111)))
    assert job.launcher is not None
    assert (job.launcher.pid, job.launcher.kind, job.launcher.is_alive) == (100, "torchrun", True)
    assert (job.world_size, job.local_world_size, job.target_pid) == (2, 2, 100)
    assert [(each.rank, each.pid, each.local_rank, len(each.workers)) for each in job.ranks] == [
        (0, 110, 0, 0),
        (1, 111, 1, 1),
    ]
    assert [(row.pid, row.role, row.rank, row.depth) for row in job.processes] == [
        (100, "launcher", None, 0),
        (110, "rank", 0, 1),
        (111, "rank", 1, 1),
        (130, "loader-worker", 1, 2),
    ]
    assert [target.path for target in job.logs.targets] == ["/logs/rank_0.log", "/logs/rank_1.log"]
    assert rank_of(job, 0).process.age_s == pytest.approx(12.0 - 1.1)  # it started 110 ticks after boot


def test_numbers_of_a_rank_with_its_workers() -> None:
    def seen(at_s: float, ticks: int, state: str) -> Snapshot:
        threads = (
            ThreadInfo(tid=110, comm="python", state=state, cpu_ticks=ticks // 2),
            ThreadInfo(tid=112, comm="pt_autograd_0", state="R", cpu_ticks=0),
        )
        trainer = rank(0, user_ticks=ticks, read_bytes=ticks * 10, threads=threads, thread_count=2, anon_bytes=5_000)
        busy = worker(130, 110, user_ticks=ticks * 2, anon_bytes=700, threads=())
        return at(at_s, trainer, busy)

    first = rank_of(after(seen(10.0, 0, "S")), 0)
    assert (first.process.cpu_pct, first.process.tree_cpu_pct, first.process.read_bytes_per_s) == (None, None, None)
    now = rank_of(after(seen(10.0, 0, "S"), seen(12.0, 100, "R")), 0)
    assert (now.process.cpu_pct, now.process.main_thread_cpu_pct, now.process.tree_cpu_pct) == (50.0, 25.0, 150.0)
    assert (now.process.runnable_threads, now.process.thread_count, now.process.tree_anon_bytes) == (2, 2, 5_700)
    assert now.process.read_bytes_per_s == 500.0
    assert now.workers[0].cpu_pct == 100.0


def test_phase_shares_and_hot_spots_come_from_the_stacks() -> None:
    looks = [
        at(10.0 + n, rank(0), rank(1), stacks=stacks(10.0 + n, dump(110, 10.0 + n, STEP if n == 3 else WAIT)))
        for n in range(4)
    ]
    now = rank_of(after(*looks), 0)
    assert now.stack.phase == "other"
    assert [(each.phase, each.share) for each in now.stack.shares] == [("collective", 0.75), ("other", 0.25)]
    assert (now.stack.samples, now.stack.wait_share, now.stack.is_waiting) == (4, 0.75, False)
    assert [(spot.function, spot.line, spot.samples) for spot in now.stack.hot] == [("step", 30, 1)]
    other = rank_of(after(*looks), 1)
    assert (other.stack.phase, other.stack.samples, other.stack.wait_share, other.stack.dump) == (None, 0, None, None)


def test_ranks_are_grouped_by_where_they_stand() -> None:
    found = [rank(number, world=3) for number in range(3)]
    seen = stacks(10.0, dump(110, 10.0, WAIT), dump(111, 10.0, STEP), dump(112, 10.0, WAIT))
    job = after(at(10.0, *found, stacks=seen))
    assert [(group.ranks, group.phase) for group in job.stacks.groups] == [((0, 2), "collective"), ((1,), "other")]


def test_reading_a_value_back_from_a_gpu_is_the_same_wait_in_the_rank_in_its_group_and_in_the_vote() -> None:
    """Three ranks wait in `loss.item()` for their GPU, the fourth works: it is the outlier."""
    item = msgspec.structs.replace(STEP[0], line=31, code="total += loss.item()")
    gpus = tuple(
        Gpu(
            index=number,
            vendor="nvidia",
            name="H100",
            uuid=None,
            status="ok",
            processes=(GpuProcess(pid=110 + number, mem_bytes=1),),
        )
        for number in range(4)
    )

    def seen(at_s: float) -> Snapshot:
        dumps = [dump(110 + number, at_s, STEP if number == 3 else (item, *STEP[1:])) for number in range(4)]
        reading = GpuReading(at_s=at_s, gpus=gpus)
        return at(at_s, *[rank(number, world=4) for number in range(4)], stacks=stacks(at_s, *dumps), gpu=reading)

    job = after(
        at(9.0, *[rank(number, world=4) for number in range(4)], gpu=GpuReading(at_s=9.0, gpus=gpus)),
        *[seen(10.0 + 4 * look) for look in range(5)],
    )
    assert [each.stack.phase for each in job.ranks] == ["sync", "sync", "sync", "other"]
    assert [(group.ranks, group.phase) for group in job.stacks.groups] == [((0, 1, 2), "sync"), ((3,), "other")]
    assert job.stacks.outlier_vote == OutlierVote(rank=3, votes=5, rounds=5)


def test_an_old_dump_tells_no_phase() -> None:
    job = after(at(10.0, rank(0), stacks=stacks(10.0, dump(110, 10.0, LOAD))), at(41.0, rank(0)))
    assert rank_of(job, 0).stack.phase is None


def test_stack_errors_are_told_once_and_go_with_their_cause() -> None:
    def refused(pid: int) -> StackDump:
        return StackDump(pid=pid, at_s=10.0, error="Permission denied", advice="run as root")

    one = at(10.0, rank(0), rank(1), stacks=stacks(10.0, refused(110), refused(111)))
    assert after(one).stacks.errors == (("Permission denied", "run as root"),)
    both = at(11.0, rank(0), rank(1), stacks=stacks(11.0, dump(110, 11.0), dump(111, 11.0)))
    assert after(one, both).stacks.errors == ()
    assert after(one, at(11.0)).stacks.errors == ()


# --- logs


def test_each_rank_reads_its_own_log() -> None:
    lines = [
        *log_lines("/logs/rank_0.log", 10.0, "step 7 loss 2.5"),
        *log_lines("/logs/rank_1.log", 10.0, "step 8 loss 2.5"),
    ]
    job = after(at(10.0, rank(0), rank(1), lines=lines))
    assert [(each.log.path, step(job, each.rank), each.log.last_line) for each in job.ranks] == [
        ("/logs/rank_0.log", 7, "step 7 loss 2.5"),
        ("/logs/rank_1.log", 8, "step 8 loss 2.5"),
    ]


def test_step_time_and_interval_are_learned_from_the_arrival_of_lines() -> None:
    looks = [
        at(10.0 + 2 * n, rank(0, world=1), lines=log_lines("/logs/rank_0.log", 10.0 + 2 * n, f"step {50 * n} loss 2.5"))
        for n in range(5)
    ]
    now = rank_of(after(*looks, at(21.0, rank(0, world=1))), 0)
    assert now.log.interval_s == 2.0
    assert now.progress.step_time_s == pytest.approx(0.04)
    assert now.progress.reported_at_s == 18.0
    assert now.progress.step_age_s == pytest.approx(3.0)


def test_the_interval_is_told_by_past_lines_until_live_ones_come() -> None:
    texts = [f"step {50 * n} loss 2.5 step_time 0.1" for n in range(1, 5)]
    past = log_lines("/logs/rank_0.log", 10.0, *texts, is_past=True)
    now = rank_of(after(at(10.0, rank(0, world=1), lines=past)), 0)
    assert now.progress.step_time_s == pytest.approx(0.1)
    assert now.log.interval_s == pytest.approx(5.0)


def test_a_past_step_is_as_old_as_its_file() -> None:
    past = log_lines("/logs/rank_0.log", 400.0, "step 7 loss 2.5", is_past=True)
    old = snapshot(400.0, process=processes(400.0, launcher(), rank(0)), logs=logs(400.0, *past, age_s=340.0))
    now = rank_of(after(old, at(402.0, rank(0))), 0)
    assert now.progress.step_age_s == pytest.approx(342.0)
    assert now.log.age_s == pytest.approx(342.0)
    assert now.progress.reported_at_s is None
    live = at(403.0, rank(0), lines=log_lines("/logs/rank_0.log", 403.0, "step 8 loss 2.5", first=2))
    assert rank_of(after(old, live), 0).progress.step_age_s == 0.0


def test_a_past_step_grows_older_while_another_process_writes_to_the_same_file() -> None:
    past = log_lines("/logs/rank_0.log", 10.0, "step 7 loss 2.5", is_past=True)
    chat = log_lines("/logs/rank_0.log", 24.0, "still here", first=2)
    looks = [at(10.0, rank(0, world=1), lines=past), at(24.0, rank(0, world=1), lines=chat)]
    now = rank_of(after(*looks), 0)
    assert now.log.age_s == 0.0
    assert now.progress.step_age_s == pytest.approx(14.0)


def test_in_a_shared_log_prefixes_tell_whose_line_it_is() -> None:
    lines = log_lines(SHARED, 10.0, "[rank0]: step 7 loss 2.5", "[rank1]: step 9 loss 2.5", "[rank0]: step 8 loss 2.5")
    job = after(at(10.0, rank(0, log=SHARED), rank(1, log=SHARED), lines=lines))
    assert (step(job, 0), step(job, 1)) == (8, 9)
    assert rank_of(job, 1).log.last_line == "[rank1]: step 9 loss 2.5"


def test_in_a_shared_log_without_prefixes_the_lowest_rank_speaks() -> None:
    lines = log_lines(SHARED, 10.0, "step 7 loss 2.5")
    job = after(at(10.0, rank(0, log=SHARED), rank(1, log=SHARED), lines=lines))
    assert (step(job, 0), step(job, 1)) == (7, None)
    assert rank_of(job, 1).log.path == SHARED


def test_the_last_words_in_a_shared_log_are_not_those_of_the_rank_that_is_left() -> None:
    both = at(10.0, rank(0, log=SHARED), rank(1, log=SHARED), lines=log_lines(SHARED, 10.0, "step 7 loss 2.5"))
    words = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    alone = at(11.0, rank(1, log=SHARED), lines=log_lines(SHARED, 11.0, words, first=2))
    job = after(both, alone)
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("cuda-oom", None)]
    assert step(job, 1) is None


def test_files_named_by_hand_belong_to_the_rank_in_their_name() -> None:
    path = "/runs/1/attempt_0/1/stdout.log"
    quiet = [rank(number, log="/dev/null") for number in range(2)]
    job = after(at(10.0, *quiet, lines=log_lines(path, 10.0, "step 7 loss 2.5")))
    assert (step(job, 0), step(job, 1)) == (None, 7)
    assert rank_of(job, 1).log.path == path


def test_a_new_attempt_of_torchrun_takes_over_from_the_old_one() -> None:
    def path(attempt: int) -> str:
        return f"/runs/1/attempt_{attempt}/0/stdout.log"

    old = at(10.0, rank(0, world=1, log=path(0)), lines=log_lines(path(0), 10.0, "step 70 loss 2.5"))
    new = rank(0, world=1, log=path(1), pid=210)
    job = after(old, at(12.0, new), at(14.0, new, lines=log_lines(path(1), 14.0, "step 3 loss 2.5")))
    now = rank_of(job, 0)
    assert (now.pid, now.log.path, step(job, 0), now.log.last_line) == (210, path(1), 3, "step 3 loss 2.5")
    assert now.progress.step_age_s == 0.0


def test_a_past_error_that_three_steps_followed_is_history() -> None:
    words = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    path = "/logs/rank_0.log"

    def events(*steps: str) -> list[str]:
        past = log_lines(path, 10.0, "step 1 loss 2.5", words, *steps, is_past=True)
        return [event.pattern for event in after(at(10.0, rank(0, world=1), lines=past)).logs.events]

    assert events("step 2 loss 2.5", "step 3 loss 2.5") == ["cuda-oom"]
    assert events("step 2 loss 2.5", "step 3 loss 2.5", "step 4 loss 2.5") == []


def test_steps_before_a_past_error_do_not_count() -> None:
    words = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    texts = [*(f"step {n} loss 2.5" for n in range(9)), words]
    past = log_lines("/logs/rank_0.log", 10.0, *texts, is_past=True)
    job = after(at(10.0, rank(0, world=1), lines=past))
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("cuda-oom", 0)]


def test_an_error_that_lines_of_progress_follow_is_over_though_their_counter_begins_again() -> None:
    error = "Unable to initialize backend 'tpu': libtpu.so: cannot open shared object file: No such file or directory"
    passes = [f"第{day}天 批次{batch} 损失 0.{day}1" for day in range(1, 4) for batch in (0, 100)]
    past = log_lines("/logs/rank_0.log", 10.0, error, *passes, is_past=True)
    assert after(at(10.0, rank(0, world=1), lines=past)).logs.events == ()
    assert after(at(10.0, rank(0, world=1), lines=past[:2])).logs.events != ()


# --- life and death


def test_a_restarted_rank_takes_the_seat() -> None:
    old = rank(0, user_ticks=500)
    new = rank(0, pid=310, user_ticks=900)
    dead = snapshot(12.0, process=processes(12.0, launcher(), rank(1), gone=[gone(110, 12.0, exit_code=1)]))
    between = rank_of(after(at(10.0, old, rank(1)), dead), 0)
    assert (between.is_alive, between.exit_code, between.state, between.process.os_state) == (False, 1, "dead", "X")
    job = after(at(10.0, old, rank(1)), dead, at(14.0, new, rank(1)))
    now = rank_of(job, 0)
    assert (now.pid, now.is_alive, now.exit_code, now.process.cpu_pct, now.stall.idle_for_s) == (
        310,
        True,
        None,
        None,
        None,
    )
    assert [each.rank for each in job.ranks] == [0, 1]


def test_a_launcher_that_tells_of_the_dead_when_the_next_ones_run_already() -> None:
    reported = "E0101 12:00:00 100 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 1 (pid: 111) of binary: python"
    again = (rank(0, pid=310), rank(1, pid=311))
    late = at(14.0, *again, lines=log_lines("/logs/launcher.log", 14.0, reported))
    job = after(at(10.0, rank(0), rank(1)), at(12.0, *again), late)
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("rank-crash", 1)]


def test_a_rank_that_ended_keeps_the_stack_where_it_was_last_seen() -> None:
    seen = at(10.0, rank(0), rank(1), stacks=stacks(10.0, dump(111, 10.0, STEP)))
    dead = snapshot(12.0, process=processes(12.0, launcher(), rank(0), gone=[gone(111, 12.0, exit_code=1)]))
    now = rank_of(after(seen, dead), 1)
    assert now.stack.dump is not None
    assert (now.is_alive, now.stack.dump.at_s, now.stack.phase) == (False, 10.0, None)


def test_a_rank_that_ended_leaves_its_last_words() -> None:
    seen = at(10.0, rank(0), rank(1), worker(130, 111), lines=log_lines("/logs/rank_1.log", 10.0, "step 7 loss 2.5"))
    dead = snapshot(12.0, process=processes(12.0, launcher(), rank(0), gone=[gone(111, 12.0, exit_code=-9)]))
    job = after(seen, dead)
    now = rank_of(job, 1)
    assert (now.is_alive, now.exit_code, now.state, now.log.last_line) == (False, -9, "dead", "step 7 loss 2.5")
    assert (now.process.cpu_pct, now.workers, now.stall.idle_for_s) == (None, (), None)
    assert not job.has_ended


def test_what_a_dead_rank_leaves_behind_is_not_that_rank() -> None:
    """Forked by it, with its environment; a shell script is no launcher that would tell."""
    shell = process(100, command="bash run.sh")
    left: dict[str, Any] = {"env": rank(1).env, "command": "/opt/bin/python train.py", "cmdline": rank(1).cmdline}

    def seen(at_s: float, *found: ProcessInfo, dead: bool = False) -> Snapshot:
        ended = [gone(111, at_s)] if dead else []
        return snapshot(at_s, process=processes(at_s, shell, *found, gone=ended))

    child, orphan = process(130, 111, **left), process(130, 1, **left)
    job = after(
        seen(10.0, rank(0), rank(1), child),
        seen(11.0, rank(0), orphan, dead=True),
        seen(12.0, rank(0), orphan),
        seen(13.0, rank(0), orphan),
    )
    assert (rank_of(job, 1).pid, rank_of(job, 1).is_alive) == (111, False)
    assert next(row.role for row in job.processes if row.pid == 130) == "loader-worker"


def test_a_zombie_is_dead() -> None:
    job = after(at(10.0, rank(0), rank(1)), at(12.0, rank(0), rank(1, state="Z", exit_code=1)))
    now = rank_of(job, 1)
    assert (now.is_alive, now.exit_code, now.state) == (False, 1, "dead")
    assert not job.has_ended


def test_the_job_has_ended_when_nothing_of_it_lives() -> None:
    words = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    seen = at(10.0, rank(0, world=1), lines=log_lines("/logs/rank_0.log", 10.0, words))
    last = [gone(110, 12.0, exit_code=1), gone(100, 12.0, exit_code=1)]

    def over(at_s: float) -> Snapshot:
        return snapshot(at_s, process=processes(at_s, gone=last, root_pid=None))

    job = after(seen, over(12.0), over(13.0), over(15.0))
    assert (job.has_ended, job.ended_for_s, job.exit_code) == (True, 3.0, 1)
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("cuda-oom", 0)]
    assert (rank_of(job, 0).log.last_line, rank_of(job, 0).exit_code) == (words, 1)
    assert job.launcher is not None and not job.launcher.is_alive
    assert job.processes == ()


@pytest.mark.parametrize(
    ("of_top", "of_rank", "expected"), [(0, 0, 0), (0, 7, 7), (3, 7, 3), (None, -9, -9), (None, 0, None)]
)
def test_the_exit_code_is_that_of_the_top_unless_it_hides_that_of_a_rank(
    of_top: int | None, of_rank: int, expected: int | None
) -> None:
    last = [gone(110, 12.0, exit_code=of_rank), gone(100, 12.0, exit_code=of_top)]
    job = after(at(10.0, rank(0, world=1)), snapshot(12.0, process=processes(12.0, gone=last, root_pid=None)))
    assert job.exit_code == expected


def test_only_zombies_left_is_the_end_too() -> None:
    dead = snapshot(12.0, process=processes(12.0, launcher(state="Z"), rank(0, world=1, state="Z")))
    job = after(at(10.0, rank(0, world=1)), dead)
    assert (job.has_ended, job.ended_for_s) == (True, 0.0)


def test_how_long_a_rank_is_stopped() -> None:
    job = after(*(at(10.0 + n, rank(0, state="S" if n < 2 else "T")) for n in range(6)))
    now = rank_of(job, 0)
    assert (now.process.os_state, now.stall.stopped_for_s, now.state) == ("T", 3.0, "stopped")
    woken = after(*(at(10.0 + n, rank(0, state="S" if n == 5 else "T")) for n in range(6)))
    assert rank_of(woken, 0).stall.stopped_for_s is None


def test_what_a_stopped_rank_made_the_others_do_is_not_how_the_job_trains() -> None:
    def snapshots(*, is_over: bool) -> list[Snapshot]:
        """Seconds 4 to 7: rank 1 is stopped, and every look at rank 0 shows it wait."""
        found = []
        for second in range(12 if is_over else 8):
            is_stopped = 4 <= second < 8
            looks: tuple[StackDump, ...] = (dump(110, 10.0 + second, WAIT if is_stopped else STEP),)
            looks += () if is_stopped else (dump(111, 10.0 + second),)
            state = "T" if is_stopped else "S"
            found.append(at(10.0 + second, rank(0), rank(1, state=state), stacks=stacks(10.0 + second, *looks)))
        return found

    while_stopped = rank_of(after(*snapshots(is_over=False)), 0)
    assert (while_stopped.stack.samples, while_stopped.stack.wait_share) == (8, 0.5)
    woken = rank_of(after(*snapshots(is_over=True)), 0)
    assert (woken.stack.samples, woken.stack.wait_share) == (
        6,
        0.0,
    )  # seconds 0 to 2 and 9 to 11: it was stopped between 3 and 8


# --- idleness


def idle_for_s(ticks: list[int], *, tick_s: float = 0.5, read_bytes: list[int] | None = None) -> float | None:
    """Of a rank whose CPU time, in ticks of 10 ms, grows by these amounts from look to look."""
    looks = []
    total = moved = 0
    for n, more in enumerate(ticks):
        total += more
        moved += read_bytes[n] if read_bytes else 0
        looks.append(at(10.0 + n * tick_s, rank(0, user_ticks=total, read_bytes=moved)))
    return rank_of(after(*looks), 0).stall.idle_for_s


def test_idle_counts_from_the_last_work() -> None:
    assert idle_for_s([0] * 21) == 10.0
    assert idle_for_s([50] * 21) == 0.0
    assert idle_for_s([50] * 11 + [0] * 10) == 5.0


def test_a_tick_or_two_in_a_short_look_are_no_work() -> None:
    assert idle_for_s([0, 2, 0, 0, 1, 0, 0, 1, 0, 0, 0]) == 5.0


def test_a_burst_is_work() -> None:
    assert idle_for_s([0] * 10 + [20] + [0] * 4) == 2.0


def test_steady_ticks_are_work() -> None:
    """2 ticks each half second are 4 % of a core."""
    reported = idle_for_s([2] * 41)
    assert reported is not None and reported < 5.0


def test_moving_bytes_is_work() -> None:
    assert idle_for_s([0] * 11, read_bytes=[0] * 8 + [4096] + [0] * 2) == 1.0


def test_a_worker_that_works_keeps_its_rank_from_being_idle() -> None:
    looks = [at(10.0 + n, rank(0), worker(130, 110, user_ticks=50 * n)) for n in range(12)]
    assert rank_of(after(*looks), 0).stall.idle_for_s == 0.0


def test_idleness_is_unknown_before_the_second_reading() -> None:
    assert rank_of(after(at(10.0, rank(0))), 0).stall.idle_for_s is None


# --- where logs are found


@pytest.mark.parametrize(
    ("fd", "target", "is_writable", "is_followed"),
    [
        (1, "/logs/out", True, True),
        (2, "/logs/err", True, True),
        (1, "/dev/null", True, True),
        (2, "/dev/null", True, False),
        (1, "/dev/pts/3", True, True),
        (1, "pipe:[77]", True, True),
        (7, "/logs/metrics.jsonl", True, True),
        (7, "/logs/metrics.jsonl", False, False),
        (7, "/data/shard.bin", True, False),
        (0, "/logs/in.log", False, False),
    ],
)
def test_what_is_taken_for_a_log(fd: int, target: str, is_writable: bool, is_followed: bool) -> None:
    file = OpenFile(fd=fd, target=target, is_writable=is_writable)
    job = after(at(10.0, rank(0, world=1, files=(file,))))
    assert [each.path for each in job.logs.targets] == ([target] if is_followed else [])


def test_files_of_workers_are_no_logs() -> None:
    file = OpenFile(fd=1, target="/logs/worker.log", is_writable=True)
    job = after(at(10.0, rank(0, world=1), worker(130, 110, files=(file,))))
    assert [each.path for each in job.logs.targets] == ["/logs/rank_0.log"]

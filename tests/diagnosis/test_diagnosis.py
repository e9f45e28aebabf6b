"""`hwtop diagnose` on real torch jobs: each planted fault is the card on top, and healthy jobs raise nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.diagnosis.case import BUSY, HEAVY, Case, Watched, look, why_wrong
from tests.training import TrainingJob

pytestmark = pytest.mark.timeout(900)  # the first test waits for all jobs

LOSS = r"(?i)loss"
HUNG = r"(?i)step\W{1,8}29\b"
MEETING = "the rendezvous at 127.0.0.1:"


def kill_a_worker(job: TrainingJob) -> None:
    """As the kernel does when memory is full."""
    job.wait_for_line(r"step 60\b")
    workers = [pid for pid in job.pids() if Path(f"/proc/{pid}/comm").read_text().startswith("pt_data_worker")]
    os.kill(workers[0], signal.SIGKILL)


def kill_rank_1(job: TrainingJob) -> None:
    """As the kernel does when memory is full, or a colleague."""
    victim = job.rank_pids()[1]
    job.wait_for_line(r"iter (?:[1-9]\d\d|[1-9]\d{3,})|step (?:[1-9]\d\d)")
    os.kill(victim, signal.SIGKILL)


FAULTS = (
    Case("input_cpu", "input-bound-cpu", telling=("decode",), cores=HEAVY),
    Case("input_main", "input-bound-workers", telling=("no loader workers",), cores=HEAVY),
    Case("input_io", "input-bound-io", telling=("D state",), cores=BUSY),
    Case("input_pipe", "input-bound-io", telling=("read",)),
    Case("straggler", "straggler-rank", (1,), ("forward",), cores=HEAVY),
    Case("nan", "loss-nan", None, ("nan",), ready=r"(?i)nan", seconds=8),
    Case("leak", "host-memory-leak", (0,), ("rank 0",), launch="one file"),
    Case("oversubscribed", "cpu-oversubscribed", None, ("OMP_NUM_THREADS",), env={"OMP_NUM_THREADS": "16"}, cores=HEAVY),
    Case("cuda_oom_text", "cuda-oom", (1,), ("CUDA out of memory",)),
    Case("crash", "rank-crash", (1,), ("ValueError",)),
    Case("diverging", "loss-diverging", (0,), ("learning rate", "gradient norm"), r"step 400\b", 10, "python"),
    Case("slower", "throughput-drop", (0,), ("Step time rose", "from 0.04"), r"step 320\b", 12, "python"),
    Case("many_workers", "dataloader-oversubscribed", (0,), ("8 loader workers",), seconds=16, launch="python", cores=BUSY),
    Case("nccl_timeout_text", "nccl-timeout", None, ("Watchdog",), ready="Watchdog", seconds=8),
    Case("healthy_sparse", "rank-dead", (1,), ("SIGKILL",), ready=LOSS, seconds=40, meanwhile=kill_rank_1),
)  # fmt: skip
CHORES = (
    Case(
        "worker_stuck",
        "dataloader-worker-stuck",
        (0,),
        ("look_up", "worker_stuck.py:31", "futex", "forkserver"),
        r"step 24\b",
        25,
        "python",
    ),
    Case(
        "worker_dstate",
        "dataloader-worker-stuck",
        (0,),
        ("D state", "__getitem__", "shard.bin", "stat -f"),
        r"step 24\b",
        24,
        "python",
    ),
    Case("worker_killed", "dataloader-worker-killed", (0,), ("Killed",), launch="python", meanwhile=kill_a_worker),
    Case("producer_killed", "dataloader-worker-killed", (0,), ("SIGKILL",), r"step 40\b", 18, "python"),
    Case("checkpoint_slow", "checkpoint-stall", (0,), ("last.pt", "MB/s"), r"step 25\b", 18, "python"),
    Case("logging_slow", "logging-overhead", (0,), ("send", "logging_slow.py"), seconds=16, launch="python"),
    Case(
        "device_sync",
        "device-sync-heavy",
        (0,),
        ("`DeviceValue(loss).item()` (device_sync.py:27)", "45 % busy"),
        r"step 10\b",
        16,
        "python",
        gpu={"util": 45, "power": 300},
    ),
    Case("gil_thread", "gil-contention", (0,), ("word-counter", "count_words"), r"step 3\b", 26, "python", cores=BUSY),
    Case("gc_each_step", "gc-thrash", (0,), ("`gc.collect()` (gc_each_step.py:21)",), seconds=16, launch="python", cores=BUSY),
    Case("recompile", "recompile-storm", (0,), ("recompile.py:17",), r"step 8\b", 24, "python", cores=BUSY),
    Case(
        "small_kernels",
        "launch-bound",
        (0,),
        ("GPU 0", "torch.compile"),
        r"step 20\b",
        18,
        "python",
        gpu={"util": 55, "power": 240},
        cores=BUSY,
    ),
)  # fmt: skip
HANGS = (
    Case(
        "hang_missing",
        "rank-missing-from-collective",
        (1,),
        ("ask (hang_missing.py:22", "all_reduce (hang_missing.py:36"),
        HUNG,
        25,
        nproc=3,
    ),
    Case("mismatch", "collective-mismatch", (0, 1), ("all_reduce (mismatch.py:22", "broadcast (mismatch.py:16"), HUNG, 25),
    Case("stopped", "rank-stopped", (1,), ("SIGSTOP", "all_reduce (stopped.py:16", "stopped.py:21", "kill -CONT"), HUNG, 25),
    Case("hang_dstate", "rank-d-state", (1,), ("vfork", "next_shard (hang_dstate.py:", "backward (hang_dstate.py:"), HUNG, 25),
    Case(
        "hang_order",
        "lock-deadlock",
        (1,),
        (
            "the main thread waits for the lock",
            "file_lock (hang_order.py:27 write)",
            "thread exporter holds",
            "rows_lock (hang_order.py:33 export)",
            "all_reduce (hang_order.py:46",
        ),
        HUNG,
        25,
    ),
    Case("hang_lock", "lock-deadlock", (1,), ("_lock (hang_lock.py:27 flush_to_disk)", "holds that lock itself", "hang_lock.py:38"), HUNG, 25),
    Case("hang_gil", "lock-deadlock", (1,), ("thread poller", "GIL", "poll_device", "all_reduce (hang_gil.py:"), HUNG, 25),
    Case("dead", "rank-dead", (1,), ("rank 0 waits", "save_sharded_checkpoint (dead.py:41)"), HUNG, 25, "python"),
    Case("hang_world", "rendezvous-stuck", (0,), ("for rank 1", MEETING, "WORLD_SIZE is 2"), "", 35, "alone"),
    Case("hang_world", "rendezvous-stuck", (), ("1 of 2 nodes", MEETING), "", 35, "node"),
)  # fmt: skip
QUIET = (
    Case("healthy_eval_ckpt", None, ready=LOSS, seconds=30, cores=BUSY),
    Case("healthy_sparse", None, ready=LOSS, seconds=30),
    Case("healthy_chores", None, seconds=18, launch="python", cores=BUSY),
)
HEALTHY = (
    Case("healthy_rank0", None, ready=r"step 20\b", seconds=35),
    Case("healthy_notebook", None, ready="idle", seconds=35, launch="python"),
)
Of = Callable[[Case], Watched]


def named(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def case_of(name: str) -> Case:
    return next(case for case in (*HANGS, *QUIET) if case.name == name)


@named(FAULTS)
def test_a_planted_fault_is_the_card_on_top(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named(CHORES)
def test_a_chore_that_takes_too_long_is_the_card_on_top(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named(HANGS)
def test_the_cause_of_a_hang_is_the_only_serious_card(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen
    assert seen.serious == [case.symptom], "one root, the others fold"


@named(QUIET)
def test_a_healthy_job_raises_nothing_at_all(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert (seen.findings, seen.code) == ([], 0), seen
    assert all(rank["phase"] is not None for rank in seen.report["job"]["ranks"])


@named(HEALTHY)
def test_a_healthy_job_whose_ranks_wait_is_no_hang(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named((case_of("healthy_chores-python"),))
def test_a_healthy_job_was_seen_saving(case: Case, watched: Of) -> None:
    ranks = watched(case).report["job"]["ranks"]
    assert "checkpoint" in {share["phase"] for rank in ranks for share in rank["phase_shares"]}


@named((case_of("healthy_sparse-torchrun"),))
def test_steps_are_read_from_sparse_logs(case: Case, watched: Of) -> None:
    ranks = watched(case).report["job"]["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1]
    assert any(rank["step"] is not None for rank in ranks)


@named((case_of("hang_missing-torchrun"),))
def test_the_end_of_the_wait_is_counted_down(case: Case, watched: Of) -> None:
    evidence = " ".join(watched(case).findings[0]["evidence"])
    assert "the job ends by itself in at most" in evidence
    assert "gloo's timeout is 30 min" in evidence


@pytest.mark.parametrize(
    ("case", "states"),
    [
        (case_of("hang_missing-torchrun"), ["stuck", "stuck", "stuck"]),
        (case_of("stopped-torchrun"), ["stuck", "stopped"]),
        (case_of("hang_world-alone"), ["starting"]),
    ],
)
def test_the_states_of_hung_ranks(case: Case, states: list[str], watched: Of) -> None:
    assert [rank["state"] for rank in watched(case).report["job"]["ranks"]] == states


@named((FAULTS[-1],))
def test_a_killed_rank_ends_the_job(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert "SIGKILL" in seen.findings[0]["title"]
    assert seen.report["job"]["has_ended"]


def test_shared_memory_that_is_nearly_full_is_seen_where_the_job_sees_it(tmp_path: Path) -> None:
    train = "import time\nfor step in range(9999):\n print(f'step {step} loss 1.0', flush=True)\n time.sleep(0.1)"
    fill = "mount -t tmpfs -o size=20m tmpfs /dev/shm && head -c 19500000 /dev/zero > /dev/shm/torch_1"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    command.append(f'{fill} && exec {sys.executable} -u -c "$TRAIN"')
    with TrainingJob(command, tmp_path, {"TRAIN": train}, "launcher.log") as job:
        job.wait_for_line(r"step 5\b")
        seen = look(job, job.launcher_pid, 8, os.environ)
    assert seen.code == 1
    assert [each["symptom"] for each in seen.findings] == ["shm-nearly-full"]
    assert seen.findings[0]["title"].startswith("/dev/shm is 93 % full")

"""The real jobs that the tests of the diagnosis start: what is planted, and what must be found. `bench/matrix.py` runs them too."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.diagnosis.case import BUSY, HEAVY, Case
from tests.training import TrainingJob

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
    # Two loader workers want all of two cores: one of them may get less, and then the other rank does wait for that one.
    Case("input_cpu", "input-bound-cpu", telling=("decode",), or_above="straggler-rank", seconds=12, cores=HEAVY),
    Case("input_main", "input-bound-workers", telling=("no loader workers",), seconds=12, cores=HEAVY),
    Case("input_io", "input-bound-io", telling=("D state",), seconds=12, cores=BUSY),
    Case("input_pipe", "input-bound-io", telling=("read",)),
    Case("straggler", "straggler-rank", (1,), ("forward",), seconds=12, cores=HEAVY),
    Case("slow_shard", "straggler-rank", (1,), ("for its data", "__getitem__ (slow_shard.py:", "rank 0 waits"), seconds=24),
    Case("nan", "loss-nan", None, ("nan",), ready=r"(?i)nan", seconds=8),
    Case("leak", "host-memory-leak", (0,), ("rank 0",), launch="one file"),
    Case("oversubscribed", "cpu-oversubscribed", None, ("OMP_NUM_THREADS",), env={"OMP_NUM_THREADS": "16"}, seconds=12, cores=HEAVY),
    Case("cuda_oom_text", "cuda-oom", (1,), ("CUDA out of memory",)),
    Case("crash", "rank-crash", (1,), ("ValueError",)),
    Case("diverging", "loss-diverging", (0,), ("learning rate", "gradient norm"), r"step 400\b", 10, "python"),
    Case("slower", "throughput-drop", (0,), ("Step time rose", "from 0.04"), r"step 320\b", 12, "python"),
    Case("many_workers", "dataloader-oversubscribed", (0,), ("8 loader workers",), seconds=12, launch="python", cores=BUSY),
    Case("nccl_timeout_text", "nccl-timeout", None, ("Watchdog",), ready="Watchdog", seconds=4),
    Case("healthy_sparse", "rank-dead", (1,), ("SIGKILL",), ready=LOSS, seconds=40, meanwhile=kill_rank_1),
)  # fmt: skip
CHORES = (
    Case(
        "worker_stuck",
        "dataloader-worker-stuck",
        (0,),
        ("look_up", "worker_stuck.py:34", "futex", "forkserver"),
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
    Case("gc_each_step", "gc-thrash", (0,), ("`gc.collect()` (gc_each_step.py:24)",), seconds=12, launch="python", cores=BUSY),
    Case("recompile", "recompile-storm", (0,), ("recompile.py:20",), r"step 8\b", 24, "python", cores=BUSY),
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
        ("ask (hang_missing.py:25", "all_reduce (hang_missing.py:39"),
        HUNG,
        25,
        nproc=3,
    ),
    Case("mismatch", "collective-mismatch", (0, 1), ("all_reduce (mismatch.py:25", "broadcast (mismatch.py:19"), HUNG, 25),
    Case("stopped", "rank-stopped", (1,), ("SIGSTOP", "all_reduce (stopped.py:19", "stopped.py:24", "kill -CONT"), HUNG, 25),
    Case("hang_dstate", "rank-d-state", (1,), ("vfork", "next_shard (hang_dstate.py:", "backward (hang_dstate.py:"), HUNG, 25),
    Case(
        "hang_order",
        "lock-deadlock",
        (1,),
        (
            "the main thread waits for the lock",
            "file_lock (hang_order.py:30 write)",
            "thread exporter holds",
            "rows_lock (hang_order.py:36 export)",
            "all_reduce (hang_order.py:49",
        ),
        HUNG,
        25,
    ),
    Case("hang_lock", "lock-deadlock", (1,), ("_lock (hang_lock.py:30 flush_to_disk)", "holds that lock itself", "hang_lock.py:41"), HUNG, 25),
    Case("hang_gil", "lock-deadlock", (1,), ("thread poller", "GIL", "poll_device", "all_reduce (hang_gil.py:"), HUNG, 25),
    Case("dead", "rank-dead", (1,), ("rank 0 waits", "save_sharded_checkpoint (dead.py:43)"), HUNG, 25, "python"),
    Case("spins_alone", "rank-missing-from-collective", (1,), ("spins_alone.py:", "it computes", "rank 0 waits in all_reduce"), HUNG, 35, cores=BUSY),
    Case("polls_a_lock", "rank-missing-from-collective", (1,), ("take (polls_a_lock.py:20)", "again and again", "rank 0 is in init_process_group"), "starting", 35),
    Case("fifo_save", "rank-missing-from-collective", (0,), ("FIFO", "fifo_save.py:", "rank 1 waits"), r"step 30\b", 35),
    Case("dead_proxy", "hang", (0,), ("weights_of (dead_proxy.py:", "it sleeps", "bytes from a socket (127.0.0.1:"), "loading", 35, "python"),
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

"""What the detection matrix runs: the jobs of the tests, and more, in styles that the tests have no time for."""

from __future__ import annotations

import os

from matrix_gpus import CASES as SICK_GPUS

from tests.diagnosis.case import BUSY, HEAVY, Case
from tests.diagnosis.cases import CHORES, FAULTS, HANGS, HEALTHY, QUIET

_STEP_40 = r"(?i)(?:step|iter)\D{1,12}0*[34]\d\b"
_NO_GPU_TO_DO = ("gpu-low-utilization", "gpu-idle-cpu-busy")

STYLES = (
    Case("lightning_main_decode", "input-bound-workers", (0,), ready="", launch="python", cores=BUSY),
    Case("accelerate_saves", "checkpoint-stall", (0,), ready=r"\[6/", launch="python", seconds=24),
    # The thread that makes the batches holds the lock, indeed.
    Case(
        "thread_prefetch",
        "input-bound-cpu",
        (0,),
        ready="iter=3",
        launch="python",
        seconds=24,
        cores=BUSY,
        also=("gil-contention",),
    ),
    Case("iterable_http", "input-bound-io", (0,), launch="python", seconds=24),
    Case("tracker_slow", "logging-overhead", (0,), ready=r"step=10\b", launch="python"),
    Case("worker_cache", "host-memory-leak", (0,), launch="python", seconds=30),
    Case("open_files", "fd-leak", (0,), launch="python", seconds=40),
    Case("growing_scan", "step-time-rising", (0,), ready=r"step 20\b", launch="python", seconds=70),
    Case("zipped_main", "input-bound-workers", (0,), ready="3/5000", launch="python", cores=BUSY),
    Case("collate_main", "input-bound-workers", (0,), launch="python", cores=BUSY),
    Case("async_store", "input-bound-io", (0,), ready=r"batch 3\b", launch="python", seconds=24),
    Case("gc_in_dataset", "gc-thrash", (0,), ready="loss", launch="python", seconds=24, cores=BUSY),
    Case("keeps_best", "checkpoint-stall", (0,), ready=r"\|   10 ", launch="python", cores=BUSY),
    Case("locked_store", "input-bound-io", (0,), ready="logloss", launch="python", seconds=24),
    Case("rank0_extras", "straggler-rank", (0,), cores=HEAVY),
    Case("one_core", "cpu-oversubscribed", (0, 1), seconds=24, cores=BUSY, also=("straggler-rank",)),
    *(
        (Case("small_quota", "cgroup-throttled", (1,), seconds=24, cores=BUSY, also=("straggler-rank",)),)
        if any(os.access(folder, os.W_OK) for folder in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cgroup.procs"))
        else ()
    ),
    Case("pinned_neighbour", "straggler-rank", (1,), seconds=24, cores=HEAVY, also=("cpu-oversubscribed",)),
)
STANDSTILLS = (
    Case("spawned_upload", "rank-missing-from-collective", (0,), ready=r"\[0\]\[60/", launch="python", seconds=25),
    Case("uneven_data", "collective-mismatch", (0, 1), ready=r"\(60%\)", seconds=25),
    Case("eval_on_rank0", "collective-mismatch", (0, 1), ready=r'"step": 39', seconds=25),
    Case("pool_hang", "hang", ready="step 000049", launch="python", seconds=35, also=("rank-missing-from-collective",)),
    Case("queue_full", "hang", (0,), ready=r"step 30\b", launch="python", seconds=35),
    Case("prompt_left", "hang", (0,), ready="Overwrite", launch="python", seconds=35),
    Case("async_hang", "hang", (0,), ready="step=58", launch="python", seconds=40),
    Case("died_early", "rank-dead", (2,), ready="lost a peer", launch="python"),
    Case("breakpoint_left", "rank-missing-from-collective", (1,), ready="step 55 ", seconds=30),
    Case("hub_first", "rank-missing-from-collective", (0,), ready="loading", seconds=40),
)
WORDS = (
    Case("wrong_schedule", "lr-stuck", (0,), ready=r"'loss'", launch="python", seconds=16),
    Case("fp16_overflow", "loss-scale-overflow", (0,), ready=r"steps: 55\b", launch="python", seconds=20),
    Case("exploding", "grad-explosion", (0,), ready=r'_step": 215,', launch="python", also=("loss-spike",)),
    Case("disk_is_full", "disk-full", (0,), ready=r"step = 40\b", launch="python"),
    Case("segfault", "segfault", (1,), ready=r"step 30\b", seconds=20),
)  # fmt: skip
DEVICES = (
    Case("gpu_input", "input-bound-cpu", seconds=25, cores=HEAVY, has_device=True, also=_NO_GPU_TO_DO),
    Case("gpu_spin", "rank-missing-from-collective", (1,), ready=r"step 39\b", seconds=40, has_device=True, also=("gpu-busy-low-power",)),
    Case("gpu_sync", "device-sync-heavy", (0,), ready=r"step 20\b", launch="python", has_device=True),
)  # fmt: skip
SUSPICIOUS = (
    Case("lightning_healthy", None, ready="", seconds=35, launch="python", cores=BUSY / 2),
    Case("healthy_actors", None, ready="update 3", launch="python", seconds=24, cores=HEAVY),
    Case("healthy_gpu_phases", None, seconds=50, has_device=True),
    Case("healthy_words", None, seconds=25, launch="python"),
    Case("healthy_prepare", None, ready="Preparing", seconds=45, cores=BUSY),
    Case("healthy_first_step", None, ready="compiling", seconds=40, launch="python", cores=BUSY),
    Case("healthy_bursts", None, ready=r"update 5\b", seconds=35, launch="python", cores=BUSY / 2),
    Case("healthy_folds", None, seconds=45, launch="python"),
    Case("healthy_gan", None, ready=r"\]\[5/", seconds=45, launch="python"),
    Case("healthy_warmup", None, seconds=40, launch="python"),
    Case("healthy_neighbour", None, seconds=35, cores=HEAVY),
    Case("healthy_short_epochs", None, ready="Epoch 1/", seconds=35, launch="python"),
    Case("healthy_ends", None, seconds=30),
    Case("healthy_overfit", None, seconds=35, launch="python"),
    Case("healthy_not_yet", None, seconds=30, launch="python"),
    Case("healthy_accumulate", None, ready="completed_steps: 2", seconds=30, launch="python"),
    Case("healthy_lengths", None, seconds=45, launch="python"),
    Case("healthy_crew", None, ready="step 20", seconds=40, launch="python", cores=BUSY),
    Case("healthy_cache", None, seconds=30, launch="python"),
    Case("healthy_resumed", None, ready="step 1003", seconds=20, launch="python"),
    Case("healthy_negative", None, ready=r"iter +60\b", seconds=40, launch="python"),
    Case("healthy_async_save", None, seconds=30, launch="python"),
    Case("healthy_skipped_steps", None, ready=" 80 / 90000", seconds=25, launch="python"),
    Case("healthy_transcripts", None, seconds=25, launch="python"),
    Case("healthy_reads_first", None, ready="loading", seconds=50, launch="python", cores=BUSY / 2),
)

FAMILIES = {
    "faults": FAULTS,
    "chores": CHORES,
    "hangs": HANGS,
    "styles": STYLES,
    "standstills": STANDSTILLS,
    "words": WORDS,
    "devices": DEVICES,
    "gpus": tuple(case for case in SICK_GPUS if case.symptom),
    "healthy": (*QUIET, *HEALTHY, *SUSPICIOUS, *(case for case in SICK_GPUS if not case.symptom)),
}

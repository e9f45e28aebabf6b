"""The level of a line, whatever it says."""

from __future__ import annotations

import pytest

from hwtop.job.log.level import level_of
from hwtop.job.log.parsed import parsed_text
from hwtop.model.reported.log import LogLevel


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("ERROR:root:no space left on device", "error"),
        ("2026-11-23 12:00:00,123 - trainer - ERROR - CUDA out of memory", "error"),
        ("2026-11-23 12:00:00.123 | ERROR    | train:step:12 - CUDA out of memory", "error"),
        ("[2026-11-23 12:00:00,123] [WARNING] [stage3.py:1998:step] 2 pytorch allocator cache flushes", "warning"),
        ("[rank1]:[E1123 12:00:00.123456789 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught", "error"),
        ("[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught", "error"),
        ("[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught", "error"),
        ("[E ProcessGroupNCCL.cpp:474] [Rank 1] Watchdog caught collective operation timeout", "error"),
        ("F1123 12:00:00.123456  4242 logging.cc:12] Check failed: x == y", "critical"),
        ("2026-11-23 12:00:00.123456: F external/xla/service.cc:12] out of memory", "critical"),
        ("W1123 12:00:00.123000 4242 torch/distributed/run.py:803] ", "warning"),
        ("[rank0]: E1123 12:00:00.123000 4242 api.py:869] failed (exitcode: 1)", "error"),
        ("srun: error: node7: task 3: Exited with exit code 1", "error"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=12.0", "error"),
        ("gpu-node:42:77 [0] NCCL WARN Call to connect failed", "error"),
        ("[  428.823493] NVRM: loading NVIDIA UNIX x86_64 Kernel Module", None),
        ("(RayTrainWorker pid=7) [rank: 2] CRITICAL: lost", "critical"),
        ("INFO:root:an ERROR would be told here", "info"),
        ("If you see an ERROR: CUDA out of memory, use a smaller batch", None),
        ("Answer: ERROR 404 means not found", None),
        ("step 12 loss 2.5 error 0.3", None),
        ("error rate 0.12", None),
        ("Killed", None),
    ],
)
def test_a_logger_is_known_by_its_grammar(text: str, level: LogLevel | None) -> None:
    assert parsed_text(text).level == level


def test_a_long_line_takes_no_time() -> None:
    """Characters that times, sources and numbers are made of, in any number."""
    for part in ("1 ", "[1]", "a:", "- ", "(1) ", "/", "1:", "[", " "):
        assert level_of(part * 8_000) is None

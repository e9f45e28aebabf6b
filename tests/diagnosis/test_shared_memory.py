"""`hwtop diagnose` on a job whose /dev/shm, which nobody else sees, is nearly full."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.diagnosis.case import look
from tests.training import TrainingJob

pytestmark = pytest.mark.real


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

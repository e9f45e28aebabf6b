"""`hwtop diagnose` on real torch jobs, each with one planted fault, and on healthy ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.training import JOBS, TrainingJob, start_torchrun


@dataclass(frozen=True)
class Case:
    """One job, and what must be found on it."""

    script: str
    symptom: str
    ranks: tuple[int, ...] | None = None
    """Culprits; None where all ranks or any may be named."""
    telling: str = ""
    """A word that the title or evidence must hold: the place or thing that a person needs."""
    ready: str = r"(?i)(?:step|iter)\W{1,12}5\b"
    """The line after which hwtop is started."""
    seconds: int = 20
    is_redirected: bool = True
    env: dict[str, str] = field(default_factory=dict)


CASES = (
    Case("input_cpu", "input-bound-cpu", telling="decode"),
    Case("input_main", "input-bound-workers", telling="no loader workers"),
    Case("input_io", "input-bound-io", telling="D state"),
    Case("input_pipe", "input-bound-io", telling="read"),
    Case("straggler", "straggler-rank", (1,), "forward"),
    Case("nan", "loss-nan", None, "nan", ready=r"(?i)nan", seconds=8),
    Case("leak", "host-memory-leak", (0,), "rank 0", is_redirected=False),
    Case("oversubscribed", "cpu-oversubscribed", None, "OMP_NUM_THREADS", env={"OMP_NUM_THREADS": "16"}),
    Case("cuda_oom_text", "cuda-oom", (1,), "CUDA out of memory"),
    Case("crash", "rank-crash", (1,), "ValueError"),
    Case("nccl_timeout_text", "nccl-timeout", None, "Watchdog", ready="Watchdog", seconds=8),
)


def start(case: Case, folder: Path) -> TrainingJob:
    script = JOBS / f"{case.script}.py"
    return start_torchrun(script, folder, is_redirected=case.is_redirected, env=case.env)


def diagnose(pid: int, seconds: int) -> tuple[dict[str, Any], int]:
    """The report, and the exit code."""
    run = subprocess.run(
        [sys.executable, "-m", "hwtop", "diagnose", str(pid), "--for", f"{seconds}s", "--json"],
        capture_output=True,
        text=True,
        timeout=seconds + 60,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout), run.returncode


def names(report: dict[str, Any]) -> list[str]:
    return [finding["symptom"] for finding in report["findings"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.script)
def test_a_planted_fault_is_named(case: Case, tmp_path: Path) -> None:
    with start(case, tmp_path) as job:
        job.wait_for_line(case.ready)
        pid = next(iter(job.rank_pids().values()), job.launcher_pid)
        report, code = diagnose(pid, case.seconds)
        logs = job.text()[-3000:]
    told = json.dumps(report["findings"], indent=1)
    assert code == 1, logs
    assert case.symptom in names(report), told + logs
    finding = next(each for each in report["findings"] if each["symptom"] == case.symptom)
    assert finding["severity"] in ("warning", "critical")
    assert finding["evidence"] and finding["next_steps"]
    if case.ranks is not None:
        assert tuple(finding["ranks"]) == case.ranks, told
    assert case.telling in json.dumps(finding, ensure_ascii=False), told
    first = report["findings"][0]["symptom"]
    assert first == case.symptom, f"the card on top is {first}, not the cause: {told}"


@pytest.mark.parametrize("script", ["healthy_eval_ckpt", "healthy_sparse"])
def test_a_healthy_job_raises_nothing(script: str, tmp_path: Path) -> None:
    with start_torchrun(JOBS / f"{script}.py", tmp_path) as job:
        job.wait_for_line(r"(?i)loss")
        report, code = diagnose(job.launcher_pid, 30)
    assert report["findings"] == []
    assert code == 0
    assert [rank["rank"] for rank in report["job"]["ranks"]] == [0, 1]
    assert any(rank["step"] is not None for rank in report["job"]["ranks"]), "no step was read from the logs"
    assert all(rank["phase"] is not None for rank in report["job"]["ranks"])


def test_a_rank_that_is_killed_under_torchrun(tmp_path: Path) -> None:
    with start_torchrun(JOBS / "healthy_sparse.py", tmp_path) as job:
        job.wait_for_line(r"(?i)loss")
        victim = job.rank_pids()[1]
        watcher = subprocess.Popen(
            [sys.executable, "-m", "hwtop", "diagnose", str(victim), "--for", "40s", "--json"], stdout=subprocess.PIPE
        )
        job.wait_for_line(r"iter (?:[1-9]\d\d|[1-9]\d{3,})|step (?:[1-9]\d\d)")
        os.kill(victim, signal.SIGKILL)
        out, _ = watcher.communicate(timeout=60)
    report = json.loads(out)
    assert watcher.returncode == 1, report
    assert report["findings"][0]["symptom"] == "rank-dead", report["findings"]
    assert "SIGKILL" in report["findings"][0]["title"]
    assert report["findings"][0]["ranks"] == [1], report["findings"]
    assert report["job"]["has_ended"]


def test_shared_memory_that_is_nearly_full_is_seen_where_the_job_sees_it(tmp_path: Path) -> None:
    train = "import time\nfor step in range(9999):\n print(f'step {step} loss 1.0', flush=True)\n time.sleep(0.1)"
    fill = "mount -t tmpfs -o size=20m tmpfs /dev/shm && head -c 19500000 /dev/zero > /dev/shm/torch_1"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    command.append(f'{fill} && exec {sys.executable} -u -c "$TRAIN"')
    with TrainingJob(command, tmp_path, {"TRAIN": train}, "launcher.log") as job:
        job.wait_for_line(r"step 5\b")
        report, code = diagnose(job.launcher_pid, 8)
    assert code == 1
    assert names(report) == ["shm-nearly-full"]
    assert report["findings"][0]["title"].startswith("/dev/shm is 93 % full")

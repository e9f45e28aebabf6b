"""`hwtop diagnose` on real torch jobs whose workers fail or whose time goes to chores, and on one that does all chores well.

Jobs that mostly sleep run at the same time; the others in pairs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakenvml.fixture import FakeNvml
from tests.training import JOBS, TrainingJob, start_python


@dataclass(frozen=True, eq=False)
class Case:
    """One job, and what must be found on it."""

    script: str
    symptom: str
    telling: tuple[str, ...] = ()
    """Words that the finding must hold."""
    seconds: int = 20
    ready: str = r"step 5\b"
    gpu: dict[str, object] = field(default_factory=dict)
    """Where the job is to have a GPU: what the fake driver says of it."""
    meanwhile: Callable[[TrainingJob], None] | None = None
    """What happens to the job while hwtop watches."""


def kill_a_worker(job: TrainingJob) -> None:
    """As the kernel does when memory is full."""
    job.wait_for_line(r"step 60\b")
    workers = [pid for pid in job.pids() if Path(f"/proc/{pid}/comm").read_text().startswith("pt_data_worker")]
    os.kill(workers[0], signal.SIGKILL)


SLEEPY = (
    Case(
        "worker_stuck",
        "dataloader-worker-stuck",
        ("look_up", "worker_stuck.py:31", "futex", "forkserver"),
        25,
        r"step 24\b",
    ),
    Case(
        "worker_dstate", "dataloader-worker-stuck", ("D state", "__getitem__", "shard.bin", "stat -f"), 24, r"step 24\b"
    ),
    Case("worker_killed", "dataloader-worker-killed", ("Killed",), 20, meanwhile=kill_a_worker),
    Case("producer_killed", "dataloader-worker-killed", ("SIGKILL",), 18, r"step 40\b"),
)
WRITING = (
    Case("checkpoint_slow", "checkpoint-stall", ("last.pt", "MB/s"), 18, r"step 25\b"),
    Case("logging_slow", "logging-overhead", ("send", "logging_slow.py"), 16),
    Case(
        "device_sync",
        "device-sync-heavy",
        ("`DeviceValue(loss).item()` (device_sync.py:27)", "45 % busy"),
        16,
        r"step 10\b",
        {"util": 45, "power": 300},
    ),
)
BUSY = (
    Case("gil_thread", "gil-contention", ("word-counter", "count_words"), 26, r"step 3\b"),
    Case("gc_each_step", "gc-thrash", ("`gc.collect()` (gc_each_step.py:21)",), 16),
)
COMPILING = (Case("recompile", "recompile-storm", ("recompile.py:17",), 24, r"step 8\b"),)
LONE = (
    Case("small_kernels", "launch-bound", ("GPU 0", "torch.compile"), 18, r"step 20\b", {"util": 55, "power": 240}),
    Case("healthy_chores", "", seconds=18),
)

GROUPS = (SLEEPY, WRITING, BUSY, COMPILING, LONE)
"""Jobs of one group run side by side: no more than the two cores of a small machine can feed."""


@dataclass(frozen=True)
class Watched:
    """What hwtop said, and what the job wrote."""

    report: dict[str, Any]
    code: int
    logs: str


def watch(cases: Sequence[Case], folder: Path, library: Path) -> dict[str, Watched]:
    """Start all jobs, and hwtop on each as soon as it is ready."""
    with ExitStack() as stack, ThreadPoolExecutor(len(cases)) as pool:
        jobs = {}
        for case in cases:
            own = folder / case.script
            own.mkdir()
            jobs[case] = stack.enter_context(start_python(JOBS / f"{case.script}.py", own))
        futures = {case.script: pool.submit(watch_one, case, job, library) for case, job in jobs.items()}
        return {name: future.result() for name, future in futures.items()}


def watch_one(case: Case, job: TrainingJob, library: Path) -> Watched:
    env = dict(os.environ)
    if case.gpu:
        fake = FakeNvml(library, job.folder)
        fake.load("h100x8-train")
        Path(fake.env["FAKENVML_PIDS"]).write_text(f"rank0 {job.launcher_pid}\n")
        fake.set(0, **case.gpu)
        env = fake.env
    job.wait_for_line(case.ready)
    command = [sys.executable, "-m", "hwtop", "diagnose", str(job.launcher_pid), "--for", f"{case.seconds}s", "--json"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as hwtop:
        if case.meanwhile is not None:
            case.meanwhile(job)
        out, err = hwtop.communicate(timeout=case.seconds + 60)
    assert err == "", err
    return Watched(json.loads(out), hwtop.returncode, job.text()[-2000:])


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, nvml_library: Path) -> Iterator[Callable[[Case], Watched]]:
    """Runs the group of a case when its first member is asked for."""
    done: dict[str, Watched] = {}

    def of(case: Case) -> Watched:
        if case.script not in done:
            group = next(group for group in GROUPS if case in group)
            done.update(watch(group, tmp_path_factory.mktemp("jobs"), nvml_library))
        return done[case.script]

    yield of


@pytest.mark.parametrize(
    "case", [case for group in GROUPS for case in group if case.symptom], ids=lambda case: case.script
)
def test_the_fault_is_on_top_with_its_place(case: Case, watched: Callable[[Case], Watched]) -> None:
    seen = watched(case)
    findings = seen.report["findings"]
    told = json.dumps(findings, indent=1, ensure_ascii=False)
    assert findings and seen.code == 1, seen.logs
    first = findings[0]
    assert first["symptom"] == case.symptom, told + seen.logs
    assert first["severity"] in ("warning", "critical")
    assert first["ranks"] == [0], told
    for word in case.telling:
        assert word in json.dumps(first, ensure_ascii=False), told


def test_a_job_that_does_all_its_chores_well_raises_nothing(watched: Callable[[Case], Watched]) -> None:
    seen = watched(LONE[1])
    assert seen.report["findings"] == [], json.dumps(seen.report["findings"], indent=1)
    assert seen.code == 0
    phases = {entry["phase"] for rank in seen.report["job"]["ranks"] for entry in rank["phase_shares"]}
    assert "checkpoint" in phases, "it was not seen saving, so nothing was put to the test"

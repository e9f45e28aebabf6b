"""The demo job starts, does what its scenario says, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hwtop.demo.catalogue import find
from hwtop.demo.run import DemoJob
from hwtop.demo.scenarios import SCENARIOS, Scenario
from tests.training import environment

pytestmark = pytest.mark.real

DEADLINE_S = 170.0

REACHED = {
    "hang": "step 9/",
    "mismatch": "step 10/",
    "stopped": "step 9/",
    "dead": "ended with exit code -9",
    "nan": "loss nan",
    "crash": "ValueError: label 12 is out of range for 10 classes",
    "cuda-oom": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "healthy": "saving checkpoint at step 8",
    "sparse-log": "step 10/",
}
"""What the logs of a scenario hold when its point is reached; the others show theirs from the first steps on."""


SOONER = ("--fault-step", "10", "--device-ms", "5", "--forward-ms", "5")


def soon(name: str) -> Scenario:
    """The scenario with shorter steps and its point reached within ten of them."""
    scenario = find(name)
    assert scenario is not None
    rhythm = {"healthy": ("--eval-every", "5", "--save-every", "8"), "sparse-log": ("--log-every", "10")}.get(name, ())
    return replace(scenario, arguments=(*scenario.arguments, *SOONER, *rhythm))


def wait_until(is_true: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_true():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_S:.0f} s"
        time.sleep(0.05)


def logs(folder: Path) -> str:
    return "\n".join(file.read_text(errors="replace") for file in sorted(folder.glob("*.log")))


def stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; none for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_running(pid: int) -> bool:
    fields = stat(pid)
    return bool(fields) and fields[0] not in "ZX"


def rank_pids(job: DemoJob) -> dict[int, int]:
    children = [pid for pid in job.members(job.launcher_pid) if stat(pid)[1:2] == [str(job.launcher_pid)]]
    return {int(environment(pid)["RANK"]): pid for pid in children if "RANK" in environment(pid)}


@pytest.fixture
def started(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., DemoJob]:
    def start(name: str, *, is_stdlib_forced: bool = True) -> DemoJob:
        job = DemoJob(soon(name), tmp_path, is_stdlib_forced=is_stdlib_forced)
        request.addfinalizer(job.stop)
        job.start()
        return job

    return start


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_each_scenario_reaches_its_point_and_ends_without_a_trace(name: str, tmp_path: Path) -> None:
    with DemoJob(soon(name), tmp_path, is_stdlib_forced=True) as job:
        group = job.launcher_pid
        wait_until(lambda: REACHED.get(name, "step 5/") in logs(tmp_path), name)
        assert group == os.getpgid(group)
    assert job.members(group) == []


def test_ranks_are_told_their_place(started: Callable[..., DemoJob], tmp_path: Path) -> None:
    job = started("healthy")
    wait_until(
        lambda: "step 1/" in (tmp_path / "rank_1.log").read_text() if len(rank_pids(job)) == 2 else False, "ranks"
    )
    for rank, pid in rank_pids(job).items():
        reported = environment(pid)
        assert (reported["RANK"], reported["LOCAL_RANK"], reported["WORLD_SIZE"]) == (str(rank), str(rank), "2")
        assert os.readlink(f"/proc/{pid}/fd/1") == str(tmp_path.resolve() / f"rank_{rank}.log")
        workers = [child for child in job.members(job.launcher_pid) if stat(child)[1:2] == [str(pid)]]
        assert len(workers) == 2
    assert sorted(rank_pids(job)) == [0, 1]


def test_stopped_rank_is_stopped_and_can_be_ended(started: Callable[..., DemoJob]) -> None:
    job = started("stopped")
    wait_until(lambda: any(stat(pid)[:1] == ["T"] for pid in rank_pids(job).values()), "rank 1 stops")
    stopped = rank_pids(job)[1]
    assert stat(stopped)[0] == "T"
    job.stop()
    assert not is_running(stopped)


def test_rank_0_outlives_a_dead_rank_1(started: Callable[..., DemoJob], tmp_path: Path) -> None:
    job = started("dead")
    wait_until(lambda: "ended with exit code -9" in logs(tmp_path), "rank 1 dies")
    assert list(rank_pids(job)) == [0]
    assert "Traceback" not in logs(tmp_path)


def test_slow_storage_keeps_its_workers_in_read(started: Callable[..., DemoJob], tmp_path: Path) -> None:
    job = started("slow-storage")
    wait_until(lambda: "step 3/" in logs(tmp_path), "steps")
    rank = rank_pids(job)[0]
    workers = [pid for pid in job.members(job.launcher_pid) if stat(pid)[1:2] == [str(rank)]]
    read = "0 "  # number of read(2) in /proc/PID/syscall on x86-64; the wait channel tells it elsewhere

    def is_in_read(pid: int) -> bool:
        call = Path(f"/proc/{pid}/syscall").read_text()
        return call.startswith(read) or "pipe_read" in Path(f"/proc/{pid}/wchan").read_text()

    wait_until(lambda: all(is_in_read(pid) for pid in workers), "both workers wait in read()")


def test_another_process_group_is_left_alone(started: Callable[..., DemoJob], tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        job = started("healthy")
        wait_until(lambda: "step 1/" in logs(tmp_path), "steps")
        job.stop()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.communicate()


def test_stop_twice_and_before_start_does_nothing(tmp_path: Path) -> None:
    job = DemoJob(SCENARIOS[0], tmp_path, is_stdlib_forced=True)
    job.stop()
    job.start()
    job.stop()
    job.stop()
    with pytest.raises(RuntimeError, match="not started"):
        _ = job.launcher_pid


REPO = Path(__file__).parents[2]
STARTER = """
import sys, time
from pathlib import Path
from hwtop.demo.catalogue import find
from hwtop.demo.run import DemoJob
from tests.demo.test_run import soon
job = DemoJob(soon(sys.argv[1]), Path(sys.argv[2]), is_stdlib_forced=True)
print(job.start(), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("name", ["slow-loader", "stopped"])
def test_job_dies_with_the_one_that_started_it(name: str, tmp_path: Path) -> None:
    starter = subprocess.Popen([sys.executable, "-c", STARTER, name, str(tmp_path)], stdout=subprocess.PIPE, cwd=REPO)
    try:
        assert starter.stdout is not None
        group = int(starter.stdout.readline())
        job = DemoJob(SCENARIOS[0], tmp_path)
        wait_until(lambda: REACHED.get(name, "step 5/") in logs(tmp_path), "its point")
        assert len(job.members(group)) >= 5
        starter.send_signal(signal.SIGKILL)
        wait_until(lambda: job.members(group) == [], "the job dies")
    finally:
        starter.kill()
        starter.communicate()


def test_ranks_and_workers_die_with_the_launcher(started: Callable[..., DemoJob], tmp_path: Path) -> None:
    job = started("slow-loader")
    wait_until(lambda: "step 2/" in logs(tmp_path), "steps")
    group = job.launcher_pid
    assert len(job.members(group)) == 5  # launcher, two ranks, a worker each
    os.kill(group, signal.SIGKILL)
    wait_until(lambda: job.members(group) == [], "the rest dies")

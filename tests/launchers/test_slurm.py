from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.launchers.launched import SCRIPTS
from tests.launchers.slurm import Slurm

pytestmark = pytest.mark.real

NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"] + (
    [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
)


class Jobs:
    """Jobs of the cluster, and what their ranks tell."""

    def __init__(self, slurm: Slurm) -> None:
        self.slurm = slurm
        rank = f"{sys.executable} {SCRIPTS}/rank.py"
        folder = slurm.folder
        self.batch = slurm.submit(  # a script beside the job, and ranks below a shell each
            f"{rank} {folder}/beside NONE &\nsrun --overlap -n2 bash -c '{rank} {folder}/batch SLURM_PROCID; true'",
            *("-n3", "-J", "pretrain"),
        )
        torchrun = f"{Path(sys.executable).parent}/torchrun --standalone --nproc-per-node 2 {SCRIPTS}/rank.py"
        self.torchrun = slurm.submit(f"srun -n1 {torchrun} {folder}/torchrun RANK")
        self.steps = slurm.submit(
            "\n".join(f"srun --overlap -n1 {rank} {folder}/steps NONE &" for _ in "ab") + "\nwait", "-n2"
        )
        self.array = slurm.submit(f"{rank} {folder}/array SLURM_ARRAY_TASK_ID", "--array=3,5")
        self.held = slurm.submit("sleep 1", "--hold")

    def reported(self, name: str, count: int) -> dict[int, int]:
        """Rank -> PID, as the ranks themselves write it."""
        roster = self.slurm.folder / name
        end_s = time.monotonic() + 60
        while not roster.exists() or len(lines := roster.read_text().splitlines()) < count:
            assert time.monotonic() < end_s, f"{name}: {self.slurm.run('squeue')}"
            time.sleep(0.1)
        return {int(rank): int(pid) for rank, pid in map(str.split, lines)}

    def hwtop(self, *arguments: str, before: list[str] = []) -> subprocess.CompletedProcess[str]:  # noqa: B006
        """The real program."""
        command = [*before, sys.executable, "-m", "hwtop", *arguments]
        return subprocess.run(command, env=self.slurm.env, capture_output=True, text=True, timeout=60)

    def refused(self, target: str, before: list[str] = []) -> str:  # noqa: B006
        """The one line that it says instead."""
        done = self.hwtop("stacks", target, before=before)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        return done.stderr

    def diagnosed(self, target: str) -> Any:
        """What `hwtop diagnose --json` says of the job."""
        done = self.hwtop("diagnose", target, "--for", "1s", "--json")
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)["job"]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    slurm = Slurm(tmp_path_factory.mktemp("slurm") / "cluster")
    try:
        yield Jobs(slurm)
    finally:
        slurm.stop()


def test_ranks_of_srun_below_a_batch_script(jobs: Jobs) -> None:
    reported = jobs.reported("batch", 2)
    job = jobs.diagnosed(f"slurm:{jobs.batch}")
    assert {rank["rank"]: rank["pid"] for rank in job["ranks"]} == reported
    assert [rank["local_rank"] for rank in job["ranks"]] == [0, 1]
    assert (job["world_size"], job["launcher"]["kind"]) == (2, "srun")
    place = job["place"]
    assert (place["slurm_job"], place["slurm_step"], place["slurm_name"]) == (jobs.batch, "0", "pretrain")


def test_a_step_by_its_number_and_the_batch_script_leads_to_it(jobs: Jobs) -> None:
    reported = jobs.reported("batch", 2)
    script = str(*jobs.reported("beside", 1).values())
    for target in (f"slurm:{jobs.batch}.0", f"slurm:{jobs.batch}.batch", script):
        done = jobs.hwtop("stacks", target, "--json")
        assert done.returncode == 0, done.stderr
        assert {rank["rank"]: rank["pid"] for rank in json.loads(done.stdout)["ranks"]} == reported


def test_torchrun_below_srun(jobs: Jobs) -> None:
    reported = jobs.reported("torchrun", 2)
    job = jobs.diagnosed(f"slurm:{jobs.torchrun}")
    assert {rank["rank"]: rank["pid"] for rank in job["ranks"]} == reported
    assert job["launcher"]["kind"] == "torchrun"
    assert "torchrun" in job["launcher"]["command"]


def test_task_of_an_array(jobs: Jobs) -> None:
    reported = jobs.reported("array", 2)
    job = jobs.diagnosed(f"slurm:{jobs.array}_5")
    assert [rank["pid"] for rank in job["ranks"]] == [reported[5]]


def test_several_steps_are_listed(jobs: Jobs) -> None:
    jobs.reported("steps", 1)
    end_s = time.monotonic() + 60
    while len((jobs.slurm.folder / "steps").read_text().splitlines()) < 2:
        assert time.monotonic() < end_s
        time.sleep(0.1)
    reported = jobs.refused(f"slurm:{jobs.steps}")
    assert f"slurm:{jobs.steps}.0" in reported
    assert f"slurm:{jobs.steps}.1" in reported


def test_what_cannot_be_watched_says_what_to_type(jobs: Jobs) -> None:
    jobs.reported("batch", 2)
    assert "slurm:12345.0" in jobs.refused("slurm:")
    assert "is not a Slurm job" in jobs.refused("slurm:12.x.y")
    assert "does not know it" in jobs.refused("slurm:999999")
    assert "waits in the queue (JobHeldUser)" in jobs.refused(f"slurm:{jobs.held}")
    assert f"has no step 7 here: give slurm:{jobs.batch}.0" in jobs.refused(f"slurm:{jobs.batch}.7")


def test_a_job_on_another_node_names_the_command(jobs: Jobs) -> None:
    jobs.reported("batch", 2)
    elsewhere = jobs.refused(f"slurm:{jobs.batch}", before=NAMESPACE)  # where no process of the job is to be seen
    assert "runs on n1" in elsewhere
    assert f"srun --jobid={jobs.batch} --overlap -N1 -n1 --pty hwtop slurm:{jobs.batch}" in elsewhere
    lost = {name: value for name, value in jobs.slurm.env.items() if name != "SLURM_CONF"}
    command = [*NAMESPACE, sys.executable, "-m", "hwtop", "stacks", f"slurm:{jobs.batch}"]
    done = subprocess.run(
        command,
        env=lost | {"PATH": "/usr/bin/nothing"},
        capture_output=True,
        text=True,
        timeout=60,
        executable="/usr/bin/unshare",
    )
    assert "squeue does not answer" in done.stderr


def test_the_command_that_was_named_works(jobs: Jobs) -> None:
    reported = jobs.reported("batch", 2)
    there = ["srun", f"--jobid={jobs.batch}", "--overlap", "-N1", "-n1"]
    done = jobs.hwtop("stacks", f"slurm:{jobs.batch}", "--json", before=there)
    assert done.returncode == 0, done.stderr
    assert str(reported[1]) in done.stdout

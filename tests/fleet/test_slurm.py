from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.fleet.agents import PROGRAM
from tests.fleet.jobs import free_port
from tests.launchers.launched import SCRIPTS
from tests.launchers.slurm import Slurm
from tests.schemas import valid
from tests.training import job_file

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    cluster = Slurm(tmp_path_factory.mktemp("slurm") / "cluster", nodes=2)
    try:
        yield cluster
    finally:
        cluster.stop()


def fleet(slurm: Slurm, job: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hwtop", "fleet", "--slurm", job, "--agent", PROGRAM, "--diagnose", *options]
    return subprocess.run(command, env=slurm.env, capture_output=True, text=True, timeout=120, check=False)


def test_one_step_watches_the_job_on_all_of_its_nodes(slurm: Slurm) -> None:
    rank = f"RANK=$SLURM_PROCID WORLD_SIZE=2 LOCAL_RANK=0 exec {sys.executable} {SCRIPTS}/rank.py"
    place = f"{slurm.folder}/ranks RANK slurm-$SLURMD_NODENAME"
    job = slurm.submit(f"srun -N2 -n2 --ntasks-per-node=1 bash -c '{rank} {place}'", "-N2", "-n2")
    slurm._wait_for(
        lambda: (
            len((slurm.folder / "ranks").read_text().splitlines()) == 2 if (slurm.folder / "ranks").exists() else False
        ),
        "ranks",
    )
    done = fleet(slurm, job, "--name", "rank.py.* slurm-{host}$", "--for", "2s", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout, done.stderr
    found = valid("fleet", done.stdout)
    assert [(node["name"], node["status"], node["ranks"]) for node in found["nodes"]] == [
        ("n1", "reporting", [0]),
        ("n2", "reporting", [1]),
    ]
    assert "srun" in {found["job"]["launcher"]["kind"]}
    slurm.run("scancel", job)
    slurm._wait_for(lambda: not slurm.run("squeue", "-h").strip(), "the end of the job")
    ended = fleet(slurm, job)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("script", "line", "symptom", "ranks"),
    [
        ("slow_shard", "^step 3 ", "straggler-rank", [1]),
        ("mismatch", r"step +29 \|", "collective-mismatch", [0, 1]),
    ],
)
def test_a_fault_between_two_nodes_is_found_with_node_and_rank(
    slurm: Slurm, script: str, line: str, symptom: str, ranks: list[int]
) -> None:
    place = f"RANK=$SLURM_PROCID LOCAL_RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={free_port()} GLOO_SOCKET_IFNAME=lo"
    logs = f"{slurm.folder}/{script}"
    rank = f"{place} exec {sys.executable} {job_file(script)} slurm-$SLURMD_NODENAME"
    job = slurm.submit(f"srun -N2 -n2 --ntasks-per-node=1 -o {logs}-%t.log bash -c '{rank}'", "-N2", "-n2")
    written = [slurm.folder / f"{script}-{number}.log" for number in (0, 1)]
    slurm._wait_for(
        lambda: all(log.exists() and re.search(line, log.read_text(), re.MULTILINE) for log in written), "steps"
    )
    done = fleet(slurm, job, "--name", script + ".py slurm-{host}$", "--for", "25s", "--json")
    slurm.run("scancel", job)
    assert done.stdout, done.stderr
    found = valid("fleet", done.stdout)
    told = {finding["symptom"]: finding for finding in found["findings"]}
    assert symptom in told, done.stdout + done.stderr
    assert told[symptom]["ranks"] == ranks
    assert "node n2" in told[symptom]["title"] + " ".join(told[symptom]["evidence"])
    assert {each["rank"]: each["node"] for each in found["job"]["ranks"]} == {0: "n1", 1: "n2"}

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.agents import PROGRAM
from tests.fleet.jobs import free_port
from tests.schemas import valid
from tests.training import MARKER, TrainingJob, job_file

pytestmark = [pytest.mark.real, pytest.mark.slow]

CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"num_cpus": 1, "object_store_memory": 100 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False, "node_name": "n1"})
cluster.add_node(**small, node_name="n2")
print("at", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
RANKS = """
import os, subprocess, sys
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

address, script, port, marker = sys.argv[1:]
shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", marker: os.environ[marker]}
folder = os.getcwd()

@ray.remote(num_cpus=1)
def train(rank, node):
    env = {**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": "0"}
    with open(f"{folder}/{node}.log", "w") as log:
        subprocess.run([sys.executable, script, "of-" + node], env=env, stdout=log, stderr=log)

ray.init(address=address, log_to_driver=False)
tasks = []
for rank, node in enumerate(sorted(ray.nodes(), key=lambda node: node["NodeName"])):
    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    tasks.append(train.options(scheduling_strategy=there).remote(rank, node["NodeName"]))
ray.get(tasks)
"""
NAME = "a-job-of-ray"
RANK = f"import time, os\nos.environ['RANK']\ntime.sleep(300)  # {NAME}"


def fleet(address: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hwtop", "fleet", "--ray", address, "--agent", PROGRAM, "--diagnose", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a cluster of two nodes."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CLUSTER]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as cluster:
        assert cluster.stdout is not None
        assert cluster.stdin is not None
        yield next(line.split()[1] for line in cluster.stdout if line.startswith("at "))
        cluster.stdin.close()
        cluster.wait(60)


def test_an_actor_on_each_node_of_a_ray_cluster_runs_an_agent(address: str) -> None:
    with subprocess.Popen([sys.executable, "-c", RANK], env={"RANK": "0", "WORLD_SIZE": "1"}) as rank:
        done = fleet(address, "--pid", str(rank.pid), "--for", "2s", "--json")
        rank.kill()
    assert done.stdout, done.stderr
    found = valid("fleet", done.stdout)
    # a node is known from its first report on, whichever comes first
    assert {node["name"]: node["status"] for node in found["nodes"]} == {"n1": "reporting", "n2": "reporting"}


@pytest.mark.parametrize(
    ("script", "line", "symptom", "ranks"),
    [
        ("slow_shard", "^step 3 ", "straggler-rank", [1]),
        ("mismatch", r"step +29 \|", "collective-mismatch", [0, 1]),
    ],
)
def test_a_fault_between_two_nodes_is_found_with_node_and_rank(
    address: str, tmp_path: Path, script: str, line: str, symptom: str, ranks: list[int]
) -> None:
    driver = [sys.executable, "-c", RANKS, address, str(job_file(script)), str(free_port()), MARKER]
    with TrainingJob(driver, tmp_path, {}, "n?.log") as job:
        job.wait_for_line(rf"{line}[\s\S]*{line}")
        done = fleet(address, "--name", script + ".py of-{host}$", "--for", "16s", "--json")
    assert done.stdout, done.stderr
    found = valid("fleet", done.stdout)
    told = {finding["symptom"]: finding for finding in found["findings"]}
    assert symptom in told, done.stdout + done.stderr
    assert told[symptom]["ranks"] == ranks
    assert "node n2" in told[symptom]["title"] + " ".join(told[symptom]["evidence"])
    assert {each["rank"]: each["node"] for each in found["job"]["ranks"]} == {0: "n1", 1: "n2"}


def test_no_cluster_is_one_line_of_error() -> None:
    done = fleet("127.0.0.1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no cluster answers" in done.stderr

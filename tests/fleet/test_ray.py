from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fleet.agents import PROGRAM
from tests.schemas import valid

pytestmark = [pytest.mark.real, pytest.mark.slow]

CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"num_cpus": 1, "object_store_memory": 100 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
cluster.add_node(**small)
print("at", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
NAME = "a-job-of-ray"
RANK = f"import time, os\nos.environ['RANK']\ntime.sleep(300)  # {NAME}"


def fleet(address: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hwtop", "fleet", "--ray", address, "--agent", PROGRAM, "--diagnose", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_an_actor_on_each_node_of_a_ray_cluster_runs_an_agent() -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CLUSTER]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as cluster:
        assert cluster.stdout is not None
        assert cluster.stdin is not None
        address = next(line.split()[1] for line in cluster.stdout if line.startswith("at "))
        with subprocess.Popen([sys.executable, "-c", RANK], env={"RANK": "0", "WORLD_SIZE": "1"}) as rank:
            done = fleet(address, "--pid", str(rank.pid), "--for", "2s", "--json")
            rank.kill()
        cluster.stdin.close()
        cluster.wait(60)
    found = valid("fleet", done.stdout)
    assert [node["status"] for node in found["nodes"]] == ["reporting", "reporting"]
    assert len({node["name"] for node in found["nodes"]}) == 2


def test_no_cluster_is_one_line_of_error() -> None:
    done = fleet("127.0.0.1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no cluster answers" in done.stderr

"""The whole way: a real job over several nodes, real agents by ssh and by a command, and what `hwtop fleet` prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.fleet.launchers.launcher import Agent
from hwtop.fleet.launchers.ssh import SshLauncher
from hwtop.fleet.live import LiveFleet
from tests.fleet.agents import PROGRAM, until, watch_a_job
from tests.fleet.jobs import job_over
from tests.fleet.sessions import read
from tests.fleet.sshd import Sshd
from tests.schemas import valid
from tests.training import TrainingJob

pytestmark = [pytest.mark.real, pytest.mark.slow]

NODES = ("alpha", "beta", "gamma")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TrainingJob]]:
    with job_over(tmp_path_factory.mktemp("job"), NODES) as parts:
        yield parts


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    server = Sshd(tmp_path_factory.mktemp("ssh") / "sshd", (*NODES, "other-key"), "unknown")
    server.forget_key_of("other-key")
    try:
        yield server
    finally:
        server.stop()


SHELL = "sh -c {command}"


def diagnosed(
    hosts: str, *options: str, script: str = "hang_missing", through: str = SHELL
) -> subprocess.CompletedProcess[str]:
    return fleet(hosts, "--diagnose", *options, script=script, through=through)


def fleet(
    hosts: str, *options: str, script: str = "hang_missing", through: str = SHELL
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hwtop", "fleet", "--hosts", hosts, "--command", through]
    choice = ["--agent", PROGRAM, "--name", script + ".py {host}$", *options]
    return subprocess.run([*command, *choice], capture_output=True, text=True, timeout=120, check=False)


def test_the_rank_that_is_missing_is_found_with_its_node(job: dict[str, TrainingJob]) -> None:
    done = diagnosed(",".join(NODES), "--for", "14s", "--json")
    assert done.returncode == 1, done.stderr + done.stdout
    found = valid("fleet", done.stdout)
    first = found["findings"][0]
    assert (first["symptom"], first["ranks"]) == ("rank-missing-from-collective", [1])
    assert first["title"].endswith("(on node beta)")
    assert f"rank 1 is on node beta, PID {job['beta'].rank_pids()[1]} there" in first["evidence"]
    assert found["verdict"]["text"].startswith("Rank 1 is missing from the collective")
    assert [(node["name"], node["status"], node["ranks"]) for node in found["nodes"]] == [
        ("alpha", "reporting", [0]),
        ("beta", "reporting", [1]),
        ("gamma", "reporting", [2]),
    ]
    assert {rank["node"] for rank in found["job"]["ranks"]} == set(NODES)


@pytest.mark.parametrize(
    ("script", "line", "symptom", "ranks"),
    [
        ("slow_shard", "^step 3 ", "straggler-rank", [1]),
        ("mismatch", r"step +29 \|", "collective-mismatch", [0, 1]),
    ],
)
def test_what_only_two_nodes_together_show(
    script: str, line: str, symptom: str, ranks: list[int], sshd: Sshd, tmp_path: Path
) -> None:
    """Each agent sees one rank, which is well or waits; both are reached through a real sshd."""
    with job_over(tmp_path, NODES[:2], script, line):
        through = f"{' '.join(sshd.ssh)} {{host}} {{command}}"
        done = diagnosed("alpha,beta", "--for", "20s", "--json", script=script, through=through)
    found = valid("fleet", done.stdout)
    told = {finding["symptom"]: finding["ranks"] for finding in found["findings"]}
    assert told.get(symptom) == ranks, done.stdout + done.stderr
    assert {rank["rank"]: rank["node"] for rank in found["job"]["ranks"]} == {0: "alpha", 1: "beta"}


def test_a_recording_of_it_is_diagnosed_as_the_live_job_is(job: dict[str, TrainingJob], tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    hosts = ",".join(NODES[:2])
    done = fleet(hosts, "--record", str(place), "--details", "beta", "--for", "14s")
    assert (done.returncode, done.stderr) == (0, "")
    first, last = done.stdout.splitlines()
    assert first == f"recording all nodes into {place} for 14 s"
    assert last.startswith(f"recorded {place}: ")
    assert os.listdir(tmp_path) == ["run.hwtop"]
    replayed = subprocess.run(
        [sys.executable, "-m", "hwtop", "replay", str(place), "--diagnose", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert replayed.returncode == 1, replayed.stderr
    found = valid("fleet", replayed.stdout)
    assert found["findings"][0]["ranks"] == [1]
    assert {finding["symptom"] for finding in found["findings"]} <= set(
        last.partition("found: ")[2].partition(".")[0].split(", ")
    )
    assert last.endswith(f". {found['verdict']['text']}")
    recorded = read(place)
    assert {snapshot.host for reading in recorded for snapshot in reading.snapshots} == {os.uname().nodename}
    assert {reading.focus for reading in recorded} == {"beta"}


def test_a_recording_of_no_node_leaves_no_file(tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    done = fleet("alpha,beta", "--record", str(place), "--agent", "/nowhere/hwtop")
    assert done.returncode == 2
    assert "none of 2 nodes can be watched: hwtop is not on this node" in done.stderr
    assert os.listdir(tmp_path) == []


def test_no_node_can_be_reached() -> None:
    done = diagnosed("alpha,beta", "--agent", "/nowhere/hwtop")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "none of 2 nodes can be watched: hwtop is not on this node" in done.stderr


def test_over_ssh_with_host_keys_that_are_wrong_or_not_known(job: dict[str, TrainingJob], sshd: Sshd) -> None:
    hosts = ("alpha", "beta", "other-key", "unknown")
    agent = Agent(program=PROGRAM, name="hang_missing.py {host}$", interval_s=0.5)
    fleet = LiveFleet(SshLauncher(hosts, sshd.ssh), agent, interval_s=0.5)
    readings = iter(fleet)
    nodes = until(
        readings,
        lambda nodes: watch_a_job({name: nodes[name] for name in hosts[:2]}) and nodes["unknown"].status == "failed",
    )
    fleet.close()
    assert list(readings) == []
    for rank, name in enumerate(hosts[:2]):
        report = nodes[name].report
        assert report is not None
        assert report.job is not None
        assert [each.rank for each in report.job.ranks] == [rank]
    assert "its host key is not the one that is known" in (nodes["other-key"].reason or "")
    assert "its host key is not known: run `ssh unknown` once" in (nodes["unknown"].reason or "")

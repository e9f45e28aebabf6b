"""Every class of hang on real jobs: the cause is the card on top, with the right rank and both call sites.

Hung jobs idle, so all of them run at once and are watched at once.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Thread
from typing import Any

import pytest

from tests.test_diagnose import diagnose
from tests.training import JOBS, TrainingJob, start_python, start_torchrun

MEETING = "the rendezvous at 127.0.0.1:"


@dataclass(frozen=True)
class Case:
    """One job, and what must be found on it."""

    script: str
    symptom: str | None
    """None: a healthy job, on which nothing of warning or above may be found."""
    ranks: tuple[int, ...] = ()
    """Culprits."""
    telling: tuple[str, ...] = ()
    """What the card must say: what is wrong, where the culprit stands, where the others wait."""
    nproc: int = 2
    ready: str = r"(?i)step\W{1,8}29\b"
    seconds: int = 25
    launch: str = "torchrun"
    """ "python": the script starts its ranks itself. "node": torchrun of one node of two. "alone": one rank of two."""


HANGS = (
    Case("hang_missing", "rank-missing-from-collective", (1,), ("ask (hang_missing.py:22", "all_reduce (hang_missing.py:36"), 3),
    Case("mismatch", "collective-mismatch", (0, 1), ("all_reduce (mismatch.py:22", "broadcast (mismatch.py:16")),
    Case("stopped", "rank-stopped", (1,), ("SIGSTOP", "all_reduce (stopped.py:16", "stopped.py:21", "kill -CONT")),
    Case("hang_dstate", "rank-d-state", (1,), ("vfork", "next_shard (hang_dstate.py:", "backward (hang_dstate.py:")),
    Case(
        "hang_order",
        "lock-deadlock",
        (1,),
        (
            "the main thread waits for the lock",
            "file_lock (hang_order.py:27 write)",
            "thread exporter holds",
            "rows_lock (hang_order.py:33 export)",
            "all_reduce (hang_order.py:46",
        ),
    ),
    Case("hang_lock", "lock-deadlock", (1,), ("_lock (hang_lock.py:27 flush_to_disk)", "holds that lock itself", "hang_lock.py:38")),
    Case("hang_gil", "lock-deadlock", (1,), ("thread poller", "GIL", "poll_device", "all_reduce (hang_gil.py:")),
    Case("dead", "rank-dead", (1,), ("rank 0 waits", "save_sharded_checkpoint (dead.py:41)"), launch="python"),
    Case("hang_world", "rendezvous-stuck", (0,), ("for rank 1", MEETING, "WORLD_SIZE is 2"), ready="", seconds=35, launch="alone"),
    Case("hang_world", "rendezvous-stuck", (), ("1 of 2 nodes", MEETING), ready="", seconds=35, launch="node"),
)  # fmt: skip
HEALTHY = (
    Case("healthy_rank0", None, ready=r"step 20\b", seconds=35),
    Case("healthy_notebook", None, launch="python", ready="idle", seconds=35),
)
_AT_ONCE = 5
"""Jobs that stand still cost nothing, but their start does."""
CASES = {f"{case.script}-{case.launch}": case for case in (*HANGS, *HEALTHY)}


def start(case: Case, folder: Path) -> TrainingJob:
    script, port = JOBS / f"{case.script}.py", free_port()
    if case.launch == "python":
        return start_python(script, folder)
    if case.launch == "alone":
        env = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        return start_python(script, folder, logs="launcher.log", env=env)
    if case.launch == "node":
        meeting = ["--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1", "--master-port", str(port)]
        command = [sys.executable, "-m", "torch.distributed.run", *meeting, "--nproc-per-node", "1", str(script)]
        return TrainingJob(command, folder, {}, "launcher.log")
    return start_torchrun(script, folder, nproc=case.nproc)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[dict[str, Any], int]]]:
    """What `hwtop diagnose` says of each job, with its exit code."""
    found: dict[str, tuple[dict[str, Any], int]] = {}

    gate = BoundedSemaphore(_AT_ONCE)

    def watch(name: str, folder: Path) -> None:
        with gate, start(CASES[name], folder) as job:
            if CASES[name].ready:
                job.wait_for_line(CASES[name].ready)
            pids = job.rank_pids()
            found[name] = diagnose(next(iter(pids.values()), job.launcher_pid), CASES[name].seconds)

    threads = [Thread(target=watch, args=(name, tmp_path_factory.mktemp(name))) for name in CASES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield found


@pytest.mark.parametrize("name", [f"{case.script}-{case.launch}" for case in HANGS])
def test_the_cause_of_a_hang_is_the_card_on_top(name: str, reports: dict[str, tuple[dict[str, Any], int]]) -> None:
    case, (report, code) = CASES[name], reports[name]
    told = json.dumps(report["findings"], indent=1, ensure_ascii=False)
    assert code == 1
    assert report["findings"], json.dumps(report["job"], indent=1)
    finding = report["findings"][0]
    assert finding["symptom"] == case.symptom, told
    assert tuple(finding["ranks"]) == case.ranks, told
    assert finding["next_steps"], told
    card = json.dumps(finding, ensure_ascii=False)
    assert [text for text in case.telling if text not in card] == [], told
    serious = [each["symptom"] for each in report["findings"] if each["severity"] != "info"]
    assert serious == [case.symptom], "one root, the others fold"


@pytest.mark.parametrize("name", [f"{case.script}-{case.launch}" for case in HEALTHY])
def test_a_healthy_job_that_waits_is_no_hang(name: str, reports: dict[str, tuple[dict[str, Any], int]]) -> None:
    report, code = reports[name]
    assert [each for each in report["findings"] if each["severity"] != "info"] == []
    assert code == 0


def test_the_end_of_the_wait_is_counted_down(reports: dict[str, tuple[dict[str, Any], int]]) -> None:
    report, _ = reports["hang_missing-torchrun"]
    evidence = " ".join(report["findings"][0]["evidence"])
    assert "the job ends by itself in at most" in evidence
    assert "gloo's timeout is 30 min" in evidence


def test_the_states_of_hung_ranks(reports: dict[str, tuple[dict[str, Any], int]]) -> None:
    def states(name: str) -> list[str]:
        return [rank["state"] for rank in reports[name][0]["job"]["ranks"]]

    assert states("hang_missing-torchrun") == ["stuck", "stuck", "stuck"]
    assert states("stopped-torchrun") == ["stuck", "stopped"]
    assert states("hang_world-alone") == ["starting"]

"""rank-d-state."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.hang import BlockedThread
from hwtop.model.rank import DataFile, Rank
from hwtop.symptoms.hang.blocked import check_blocked
from tests.symptoms.derived_states import constant, event, job, rank, still, worker

NFS = DataFile(path="/data/shard-7.tar", mount_point="/data", fs_type="nfs4")


def blocked(seconds: float, **fields: Any) -> BlockedThread:
    known: dict[str, Any] = {
        "pid": 1001,
        "comm": "python",
        "is_worker": False,
        "is_main": True,
        "wchan": "nfs_wait_bit_killable",
    }
    return BlockedThread(for_s=seconds, **(known | fields))


def sleeper(seconds: float, **fields: Any) -> Rank:
    found = fields.pop("blocked", blocked(seconds))
    return still(1, seconds, phase="other", is_waiting=False, os_state="D", blocked=found, file=NFS, **fields)


@pytest.mark.parametrize(
    ("seconds", "others", "expected"),
    [
        (29.0, rank(0), False),
        (30.0, rank(0), True),
        (9.9, still(0), False),
        (10.0, still(0), True),  # everybody waits for it
        (20.0, still(0, 5.0), False),  # the other one still moves
        (20.0, still(0, phase="other", is_waiting=False), False),
    ],
)
def test_how_long_it_must_last(seconds: float, others: Rank, expected: bool) -> None:
    assert (check_blocked(constant(job(others, sleeper(seconds)))) is not None) is expected


def test_what_it_waits_for() -> None:
    seen = check_blocked(constant(job(still(0), sleeper(20.0))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert seen.severity == "critical"
    assert seen.title == (
        "Rank 1 is in D state for 20 s: its main thread waits for an NFS server, file /data/shard-7.tar on /data (nfs4)"
    )
    assert seen.evidence[0] == (
        "rank 1: PID 1001 (python) in D state in nfs_wait_bit_killable for 20 s without running once"
    )
    assert "rank 0 waits for it" in seen.evidence
    assert "timeout 5 stat -f /data; echo $?   # 124: that file system does not answer" in seen.next_steps


def test_a_wait_for_a_child_is_no_wait_for_a_file() -> None:
    seen = check_blocked(constant(job(still(0), sleeper(20.0, blocked=blocked(20.0, wchan="kernel_clone")))))
    assert seen is not None
    assert "/data" not in seen.title
    assert "a child that it started with vfork" in seen.title
    assert seen.next_steps[0].startswith("ps --ppid 1001 ")


def test_a_worker_and_its_file() -> None:
    own = worker(2001, state="D", wchan="folio_wait_bit", file=DataFile(path="/scratch/a.bin"))
    waits = blocked(40.0, pid=2001, is_worker=True, comm="pt_data_worker", wchan="folio_wait_bit")
    seen = check_blocked(constant(job(rank(0), sleeper(40.0, blocked=waits, workers=(own, worker(2002))))))
    assert seen is not None
    assert "a loader worker waits for a block device, file /scratch/a.bin" in seen.title
    assert seen.severity == "warning"
    assert "1 of its 2 workers are in D state" in seen.evidence[0]


def test_another_thread() -> None:
    writer = blocked(130.0, comm="ckpt-writer", is_main=False, wchan=None)
    seen = check_blocked(constant(job(rank(0), rank(1, blocked=writer))))
    assert seen is not None
    assert "its thread ckpt-writer is in a kernel wait" in seen.title
    assert seen.severity == "critical", "from 120 s on the kernel itself complains"


def test_what_the_kernel_says_is_told() -> None:
    reported = event("filesystem-hang", text="INFO: task python:1001 blocked for more than 120 seconds.")
    seen = check_blocked(constant(job(rank(0), sleeper(130.0), events=(reported,))))
    assert seen is not None
    assert any("blocked for more than 120 seconds" in line for line in seen.evidence)


def test_nobody_is_in_d_state() -> None:
    assert check_blocked(constant(job(still(0), still(1)))) is None

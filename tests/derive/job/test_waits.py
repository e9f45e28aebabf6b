"""Ranks that wait for each other over pipes and sockets of their own."""

from __future__ import annotations

from hwtop.model.process import ProcessInfo, SystemCall
from tests.derive.job.test_job import after, at, rank_of
from tests.derive.readings import rank


def at_socket(number: int, holder: int) -> ProcessInfo:
    return rank(number, call=SystemCall(name="recvfrom", fd=7, target=f"socket:[{number}]", peer_pids=(holder,)))


def test_the_others_wait_for_the_rank_that_computes() -> None:
    slow = rank(2, state="R")
    seen = [at(float(second), at_socket(0, slow.pid), at_socket(1, slow.pid), slow) for second in range(8)]
    fast = [at(float(second), at_socket(0, slow.pid), rank(1, state="R"), slow) for second in range(8, 12)]
    job = after(*seen, *fast)
    first, second, last = (rank_of(job, number) for number in range(3))
    assert (first.stall.awaits_rank, first.stack.is_waiting, first.stack.wait_share) == (2, True, 1.0)
    assert (second.stall.awaits_rank, second.stack.wait_share, second.stack.wait_samples) == (None, 8 / 12, 12)
    assert last.stack.wait_share is None, "no stack of it, and it never waited"

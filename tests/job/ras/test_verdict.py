"""Who has not come, from the counts of all ranks on all nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hwtop.job.ras.counts import counts_of
from hwtop.job.ras.report import parse
from hwtop.job.ras.verdict import ras_verdict
from hwtop.model.reported.ras import RasCommunicator, RasProcess, RasRank, RasReport, RasVerdict

DATA = Path(__file__).parents[2] / "data" / "ras"
HERE = {100 + number: number for number in range(4)}
"""Four ranks of eight are on this machine."""


def communicator(name: str, members: dict[int, dict[str, int]], **fields: Any) -> RasCommunicator:
    """Members by rank of the job, four a node, the PID 100 + rank; numbered in their order."""
    ranks = tuple(
        RasRank(
            rank=number,
            process=RasProcess(host=f"10.0.0.{1 + of_job // 4}", pid=100 + of_job),
            gpu=of_job % 4,
            state="running",
            launched=launched,
        )
        for number, (of_job, launched) in enumerate(members.items())
    )
    known: dict[str, Any] = {"size": len(ranks), "ranks": ranks, "counts": counts_of(ranks)}
    return RasCommunicator(name=name, **(known | fields))


def verdict(*communicators: RasCommunicator, own: dict[int, int] = HERE, world: int = 8) -> RasVerdict | None:
    report = RasReport(nccl_version="2.29.2", communicators=communicators, communicator_count=len(communicators))
    return ras_verdict(report, own, world)


def everyone(launched: int = 6650, **odd: int) -> dict[int, dict[str, int]]:
    """All eight ranks; `rank5=6649` for one that differs."""
    return {number: {"AllReduce": odd.get(f"rank{number}", launched), "Broadcast": 3} for number in range(8)}


def test_all_launched_the_same() -> None:
    assert verdict(communicator("0xa", everyone())) is None
    assert verdict() is None


def test_the_rank_that_never_came_and_its_node() -> None:
    found = verdict(communicator("0xa", everyone(rank5=6649)))
    assert found is not None
    assert (found.kind, found.culprits) == ("missing", (5,))
    assert found.text == "rank 5 on node 10.0.0.2 has launched 6649 of 6650 AllReduce operations: it never came"
    assert found.processes == (RasProcess(host="10.0.0.2", pid=105),)
    assert found.evidence == (
        "NCCL RAS: communicator 0xa (8 ranks): 7 ranks launched AllReduce 6650 times, 1 rank 6649 times",
        "rank 5: PID 105 on node 10.0.0.2, GPU 1, running",
    )


def test_several() -> None:
    found = verdict(communicator("0xa", everyone(rank0=6648, rank5=6648)))
    assert found is not None and found.culprits == (0, 5)
    assert found.text.startswith(
        "ranks 0,5 on nodes 10.0.0.1, 10.0.0.2 have launched 6648 of 6650 AllReduce operations: they"
    )


def test_who_is_kept_waiting_itself_is_not_the_cause() -> None:
    """Rank 6 waits for rank 7 in their own communicator, so that rank 2 waits for rank 6."""
    world = communicator("0xa", everyone())
    pair = communicator("0xb", {6: {"AllGather": 41}, 7: {"AllGather": 40}})
    across = communicator("0xc", {2: {"ReduceScatter": 9}, 6: {"ReduceScatter": 8}})
    found = verdict(world, pair, across)
    assert found is not None
    assert (found.kind, found.culprits) == ("missing", (7,))
    assert "40 of 41 AllGather" in found.text


def test_different_collectives() -> None:
    members = everyone()
    members[3] = {"AllReduce": 6649, "Broadcast": 4}
    found = verdict(communicator("0xa", members))
    assert found is not None
    assert (found.kind, found.culprits) == ("mismatch", (3,))
    assert found.text == "rank 3 on node 10.0.0.1 has launched other collectives than the rest"


def test_half_of_the_ranks_each() -> None:
    members = {number: {"AllReduce": 5 + number % 2, "Broadcast": 5 - number % 2} for number in range(8)}
    found = verdict(communicator("0xa", members))
    assert found is not None and found.culprits == tuple(range(8))


@pytest.mark.parametrize(("state", "does"), [("missing", "does not answer NCCL RAS"), ("dead", "is dead (NCCL RAS)")])
def test_a_rank_that_does_not_answer_comes_before_all_counts(state: Any, does: str) -> None:
    whole = communicator("0xa", everyone(rank1=6649))
    lost = RasRank(rank=7, process=RasProcess(host="10.0.0.2", pid=107), state=state)
    ranks = (*whole.ranks[:7], lost)
    found = verdict(RasCommunicator(name="0xa", size=8, ranks=ranks, counts=counts_of(ranks)))
    assert found is not None
    assert (found.kind, found.culprits, found.text) == ("missing", (7,), f"rank 7 on node 10.0.0.2 {does}")


@pytest.mark.parametrize(
    ("own", "world"),
    [
        (HERE, 16),  # it is not the communicator of the whole job
        ({100 + number: 7 - number for number in range(4)}, 8),  # its ranks are numbered otherwise
    ],
)
def test_a_number_of_a_communicator_is_not_taken_for_a_rank_of_the_job(own: dict[int, int], world: int) -> None:
    found = verdict(communicator("0xa", everyone(rank5=6649)), own=own, world=world)
    assert found is not None
    assert found.culprits == ()
    assert found.text.startswith("PID 105 on node 10.0.0.2 has launched 6649 of 6650")
    assert "rank 5 of communicator 0xa: PID 105 on node 10.0.0.2" in found.evidence[1]


def test_text_names_the_outliers() -> None:
    found = ras_verdict(parse((DATA / "mismatch-2.26.txt").read_bytes()), {}, 32)
    assert found is not None
    assert (found.kind, found.culprits) == ("missing", (0, 2, 3, 4, 5, 7))
    assert found.text.startswith("ranks 0,2-5,7 on node 172.16.64.210 have launched 6649 of 6650 AllReduce")


def test_text_without_names_says_how_many() -> None:
    lines = (DATA / "mismatch-2.26.txt").read_bytes().splitlines(keepends=True)
    found = ras_verdict(parse(b"".join(line for line in lines if b"-- GPU" not in line)), {}, 32)
    assert found is not None and found.culprits == ()
    assert found.text == "6 ranks have launched 6649 of 6650 AllReduce operations (NCCL RAS does not name them)"


def test_the_oldest_text_knows_a_missing_rank_by_its_number() -> None:
    found = ras_verdict(parse((DATA / "incomplete-2.24.txt").read_bytes()), {}, 32)
    assert found is not None
    assert (found.culprits, found.text) == ((21,), "rank 21 does not answer NCCL RAS")


def test_many_ranks_are_judged_at_once() -> None:
    """What a hostile report may hold: a count of its own for each of many ranks."""
    members = {number: {"AllReduce": number} for number in range(20_000)}
    found = verdict(communicator("0xa", members), own={}, world=20_000)
    assert found is not None
    assert len(found.culprits) == 1
    assert sum(map(len, found.evidence)) < 2000

from __future__ import annotations

import pytest

from hwtop.job.hang.rendezvous import address_of, endpoint_of, missing_ranks, nodes_of


@pytest.mark.parametrize(
    ("command", "nodes", "endpoint"),
    [
        ("torchrun --nnodes 2 --master-addr node1 --master-port 29717 train.py", 2, "node1:29717"),
        ("torchrun --nnodes=2:4 --rdzv-endpoint=node1:29400 train.py", 2, "node1:29400"),
        ("torchrun --nnodes 2 --rdzv_endpoint node1 train.py", 2, "node1:29500"),
        ("torchrun --master_addr=10.0.0.1 train.py", None, "10.0.0.1:29500"),
        ("torchrun --standalone train.py", None, None),
        ("torchrun --nnodes $N train.py", None, None),
    ],
)
def test_what_torchrun_waits_for(command: str, nodes: int | None, endpoint: str | None) -> None:
    assert nodes_of(command) == nodes
    assert endpoint_of(command) == endpoint


def test_where_the_ranks_meet() -> None:
    assert address_of({"MASTER_ADDR": "node1", "MASTER_PORT": "29500"}) == "node1:29500"
    assert address_of({"MASTER_ADDR": "node1"}) == "node1"
    assert address_of({"JAX_COORDINATOR_ADDRESS": "node1:1234"}) == "node1:1234"
    assert address_of({}) is None


def test_who_is_not_here() -> None:
    assert missing_ranks((0, 2), 4) == (1, 3)
    assert missing_ranks((0, 1), 2) == ()
    assert missing_ranks((0,), None) == ()

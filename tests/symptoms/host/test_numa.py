"""numa-misplaced."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hwtop.job.cpu_list import cpus_of
from hwtop.symptoms.history import History
from hwtop.symptoms.host.numa import check_numa
from tests.symptoms.derived_states import constant, derived, gpu, history, job, rank

NEAR, FAR = 3, 60


def seen(cpu: int | None = FAR, rate: float | None = 5e9, cpus: str | None = "0-47,96-143", **fields: Any) -> Any:
    watched = job(rank(2, gpus=(2,), cpu=cpu, **fields))
    return check_numa(constant(watched, 65, gpus=(gpu(2, cpus=cpus, pcie_rx_bytes_per_s=rate),)))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "info"),
        ({"rate": 1.1e9}, "info"),
        ({"rate": 0.9e9}, None),
        ({"rate": 11e9}, "warning"),
        ({"rate": None}, None),
        ({"cpu": NEAR}, None),
        ({"cpu": 100}, None),  # the second thread of a core that is near
        ({"cpu": None}, None),
        ({"cpus": None}, None),
        ({"cpus": "ff,ff"}, None),  # a mask is no list
        ({"state": "starting"}, None),
    ],
)
def test_a_rank_on_the_other_socket(fields: dict[str, Any], expected: str | None) -> None:
    found = seen(**fields)
    assert (found.severity if found else None) == expected


def test_what_is_said() -> None:
    found = seen()
    assert found.title == "Rank 2: on CPUs far from GPU 2, 5.0 GB/s cross the link between them"
    assert found.ranks == (2,)
    assert "numactl --cpunodebind=0 --membind=0" in found.next_steps[1]


def wandering(share: float) -> History:
    dice = random.Random(3)

    def at(second: int) -> Any:
        cpu = FAR if dice.random() < share else NEAR
        return derived(
            float(second), job(rank(0, gpus=(0,), cpu=cpu)), gpus=(gpu(cpus="0-47", pcie_rx_bytes_per_s=4e9),)
        )

    return history(65, at)


@pytest.mark.parametrize(("share", "expected"), [(0.5, False), (0.7, False), (0.97, True)])
def test_a_rank_that_the_scheduler_moves_about_is_not_misplaced(share: float, expected: bool) -> None:
    assert (check_numa(wandering(share)) is not None) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-2,5", {0, 1, 2, 5}), ("7", {7}), ("", set()), ("0-", {0}), ("ff", set()), ("0-3,x", set())],
)
def test_lists_of_cpus(text: str, expected: set[int]) -> None:
    assert cpus_of(text) == expected

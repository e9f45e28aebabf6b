"""multi-gpu-slower-than-one."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.link import Path, Topology
from hwtop.model.host.network import NetworkRates, NicRates
from hwtop.model.reported.log import LogEvent
from hwtop.symptoms.gpu.paths import check_paths
from tests.symptoms.derived_states import constant, event, gpu, job, rank


def topology(*joined: tuple[int, int], count: int = 4) -> Topology:
    """NVLink between these pairs, SYS between all others."""

    def way(one: int, other: int) -> Path:
        if one == other:
            return "SELF"
        return "NVLINK" if (one, other) in joined or (other, one) in joined else "SYS"

    indexes = tuple(range(count))
    return Topology(indexes=indexes, paths=tuple(tuple(way(one, other) for other in indexes) for one in indexes))


SWITCHED = topology(*((one, other) for one in range(4) for other in range(one)))
BRIDGES = topology((0, 1), (2, 3))


def says(text: str, **groups: str) -> LogEvent:
    return event("multi-gpu-slower-than-one", "context", text=text, groups=groups, is_past=True)


SHM = says("NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", via="SHM")
SOCKET = says("NCCL INFO Using network Socket", net="Socket")


def seen(ways: Topology | None, *events: LogEvent, gpus: tuple[int, ...] = (0, 1), **fields: Any) -> Any:
    watched = job(*(rank(number, gpus=(index,)) for number, index in enumerate(gpus)), events=events, **fields)
    port = NicRates(
        name="mlx5_0:1",
        rx_bytes_per_s=0.0,
        tx_bytes_per_s=0.0,
        errors_per_s=0.0,
        drops_per_s=0.0,
        link_mbit_per_s=400e3,
        is_up=True,
        is_virtual=False,
    )
    network = NetworkRates(nics=(port,), tcp_retransmit_pct=None)
    devices = tuple(gpu(index) for index in range(4))
    return check_paths(constant(watched, 5, gpus=devices, topology=ways, network=network))


@pytest.mark.parametrize(
    ("ways", "events", "gpus", "expected"),
    [
        (SWITCHED, (SHM,), (0, 1), "NCCL uses host memory"),
        (SWITCHED, (), (0, 1), None),
        (SWITCHED, (SHM,), (0,), None),
        (topology(), (SHM,), (0, 1), None),  # without links host memory is the way
        (None, (SHM,), (0, 1), None),
        (BRIDGES, (), (0, 1), None),
        (BRIDGES, (), (0, 2), "GPUs 0,2: 0 of 1 pairs connected by links, GPUs 0-1 would have 1"),
        (BRIDGES, (), (0, 1, 2, 3), None),  # there is no other choice
        (BRIDGES, (), (0, 1, 2), None),
        (topology(), (), (0, 2), None),
        (None, (), (0, 2), None),
    ],
)
def test_the_way_between_gpus(
    ways: Topology | None, events: tuple[LogEvent, ...], gpus: tuple[int, ...], expected: str | None
) -> None:
    found = seen(ways, *events, gpus=gpus)
    assert (found is not None) is (expected is not None)
    if found is not None and expected is not None:
        assert found.title.startswith(expected)
        assert found.severity == ("warning" if events else "info")


@pytest.mark.parametrize(("world_size", "expected"), [(2, False), (16, True)])
def test_tcp_between_machines(world_size: int, expected: bool) -> None:
    found = seen(SWITCHED, SOCKET, world_size=world_size)
    assert (found is not None) is expected
    if found is not None:
        assert found.title == "NCCL uses TCP between machines although the InfiniBand or RoCE port mlx5_0:1 is up"
        assert found.log_line == "NCCL INFO Using network Socket"

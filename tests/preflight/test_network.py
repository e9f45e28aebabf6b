"""The network between the ranks."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hwtop.model.host.network import IbPortCounters, NetworkReading, NicCounters
from hwtop.preflight.network import NETWORK
from tests.preflight.machines import ask, machine


def nic(name: str, **values: Any) -> NicCounters:
    zero = dict.fromkeys(
        ("rx_bytes", "rx_packets", "rx_errors", "rx_drops", "tx_bytes", "tx_packets", "tx_errors", "tx_drops"), 0
    )
    return NicCounters(name=name, **{**zero, "is_up": True, **values})


def port(number: int, state: str = "4: ACTIVE", phys_state: str = "LinkUp") -> IbPortCounters:
    return IbPortCounters(
        device=f"mlx5_{number}",
        port=1,
        state=state,
        phys_state=phys_state,
        rate_gbit_per_s=400.0,
        rx_bytes=0,
        tx_bytes=0,
        errors={},
    )


def answers(*addresses: str) -> Any:
    return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]


@pytest.mark.parametrize(
    ("address", "nodes", "status"), [("10.0.0.3", "2", "pass"), ("127.0.1.1", "2", "warn"), ("127.0.1.1", "1", "pass")]
)
def test_the_own_name(address: str, nodes: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answers(address))
    assert ask(NETWORK, "host-name", machine(env={"SLURM_NNODES": nodes})).status == status


def test_a_name_that_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert ask(NETWORK, "host-name", machine()).status == "fail"
    env = {"MASTER_ADDR": "node7", "MASTER_PORT": "29500"}
    assert "node7 does not resolve" in ask(NETWORK, "rendezvous", machine(env=env)).reason


@pytest.fixture
def listener() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_the_port_of_the_rendezvous(listener: int) -> None:
    env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(listener)}
    found = ask(NETWORK, "rendezvous", machine(env=env))
    assert found.status == "fail"
    assert f"sport = :{listener}" in (found.remedy or "")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    assert ask(NETWORK, "rendezvous", machine(env={**env, "MASTER_PORT": str(number)})).status == "pass"
    assert ask(NETWORK, "rendezvous", machine()).status == "skip"


@pytest.mark.parametrize(
    ("error", "status"), [(None, "pass"), (ConnectionRefusedError(), "pass"), (TimeoutError("timed out"), "fail")]
)
def test_a_rendezvous_elsewhere(error: Exception | None, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> socket.socket:
        if error is not None:
            raise error
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect)
    env = {"MASTER_ADDR": "192.0.2.1", "MASTER_PORT": "29500"}
    assert ask(NETWORK, "rendezvous", machine(env=env)).status == status


@pytest.mark.parametrize(
    ("chosen", "status"),
    [("", "pass"), ("eth", "pass"), ("=eth0", "pass"), ("=eth", "fail"), ("ib0", "fail"), ("^docker", "pass")],
)
def test_a_chosen_interface(chosen: str, status: str, tmp_path: Path) -> None:
    files = {"sys/class/net/eth0/mtu": "9000\n"}
    reading = NetworkReading(at_s=1.0, nics=(nic("eth0"), nic("ib0", is_up=False)))
    found = ask(NETWORK, "interfaces", machine(tmp_path, files, env={"NCCL_SOCKET_IFNAME": chosen}, network=reading))
    assert found.status == status


def test_interfaces_that_differ_in_mtu(tmp_path: Path) -> None:
    files = {"sys/class/net/eth0/mtu": "9000\n", "sys/class/net/eth1/mtu": "1500\n"}
    reading = NetworkReading(
        at_s=1.0, nics=(nic("eth0", link_mbit_per_s=100_000), nic("eth1", link_mbit_per_s=100_000))
    )
    assert "eth1 1500" in ask(NETWORK, "interfaces", machine(tmp_path, files, network=reading)).reason
    slower = NetworkReading(at_s=1.0, nics=(nic("eth0", link_mbit_per_s=100_000), nic("eth1", link_mbit_per_s=1000)))
    assert ask(NETWORK, "interfaces", machine(tmp_path, files, network=slower)).status == "pass"


@pytest.mark.parametrize(
    ("ports", "status"),
    [
        ((), "skip"),
        ((port(0), port(1)), "pass"),
        ((port(0), port(1, "1: DOWN", "Polling")), "pass"),
        ((port(0), port(1, "2: INIT")), "warn"),
        ((port(0, "1: DOWN", "Polling"),), "warn"),
    ],
)
def test_rdma_ports(ports: tuple[IbPortCounters, ...], status: str) -> None:
    assert ask(NETWORK, "rdma", machine(network=NetworkReading(at_s=1.0, nics=(), ib_ports=ports))).status == status

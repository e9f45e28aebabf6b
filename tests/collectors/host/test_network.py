from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hwtop.collectors.host import network
from hwtop.collectors.host.infiniband import read_ports
from hwtop.collectors.host.network import LINKS_EVERY_S, NetworkSource
from hwtop.model.host.network import IbPortCounters, NetworkReading, NicCounters
from tests.host import TWO_SOCKETS_LINKS, Clock, Link, MacSystem, RecordedSystem, proc, sys, write_tree

HEADINGS = "Inter-| Receive | Transmit\n face |bytes\n"


def source(root: str, sys: str, clock: Clock | None = None, links: dict[str, Link] | None = None) -> NetworkSource:
    return NetworkSource(proc=root, sys=sys, now=clock or Clock(), system=RecordedSystem(root, links))


def nic(reading: NetworkReading, name: str) -> NicCounters:
    return next(entry for entry in reading.nics if entry.name == name)


def test_interfaces_with_their_links() -> None:
    reading = source(proc("two-sockets", "first"), sys("two-sockets"), Clock(5.0), TWO_SOCKETS_LINKS).read()
    assert nic(reading, "eno1") == NicCounters(
        name="eno1",
        rx_bytes=800000000000,
        rx_packets=600000000,
        rx_errors=4,
        rx_drops=100,
        tx_bytes=700000000000,
        tx_packets=500000000,
        tx_errors=1,
        tx_drops=10,
        link_mbit_per_s=25000,
        is_up=True,
        is_virtual=False,
    )
    assert (reading.tcp_out_segments, reading.tcp_retransmitted_segments) == (5000000, 1200)
    assert reading.ib_ports == ()
    assert reading.missing == {}
    assert reading.at_s == 5.0


@pytest.mark.parametrize(
    ("name", "is_up", "is_virtual", "speed"),
    [
        ("lo", True, True, None),
        ("docker0", False, True, None),
        ("veth1a2b3c4", True, True, None),  # says 10000, which is made up
        ("eno2", False, False, None),
        ("eno3", True, False, None),  # up, but the driver does not know its speed
    ],
)
def test_link_facts(name: str, is_up: bool, is_virtual: bool, speed: int | None) -> None:
    reading = source(proc("two-sockets", "second"), sys("two-sockets"), links=TWO_SOCKETS_LINKS).read()
    link = nic(reading, name)
    assert (link.is_up, link.is_virtual, link.link_mbit_per_s) == (is_up, is_virtual, speed)


def test_links_are_read_again_after_a_while_and_for_a_new_interface(tmp_path: Path) -> None:
    row = "{}: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
    write_tree(tmp_path, {"net/dev": HEADINGS + row.format("eth0"), "class/net/.keep": "", "net/snmp": ""})
    (tmp_path / "class/net/eth0").symlink_to("../../devices/pci0000:00/net/eth0")
    clock, links = Clock(), {"eth0": Link(True, 100)}
    network_source = source(str(tmp_path), str(tmp_path), clock, links)
    assert nic(network_source.read(), "eth0").link_mbit_per_s == 100
    links["eth0"] = Link(True, 10)
    assert nic(network_source.read(), "eth0").link_mbit_per_s == 100
    clock.at_s += LINKS_EVERY_S
    assert nic(network_source.read(), "eth0").link_mbit_per_s == 10
    links["eth0"] = Link(False, 10)
    write_tree(tmp_path, {"net/dev": HEADINGS + row.format("eth0") + row.format("x:1")})
    reading = network_source.read()
    assert (nic(reading, "eth0").is_up, nic(reading, "eth0").link_mbit_per_s) == (False, None)
    assert nic(reading, "x:1").is_up is None  # an alias has no link of its own


@pytest.mark.parametrize(
    "snmp", [None, "", "Tcp: OutSegs RetransSegs\n", "Tcp: OutSegs RetransSegs\nTcp: 1\n", "Tcp: A\nTcp: 1\n"]
)
def test_a_garbled_file_is_a_reason(tmp_path: Path, snmp: str | None) -> None:
    good = "  eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
    write_tree(tmp_path, {"net/dev": HEADINGS + good})
    if snmp is not None:
        write_tree(tmp_path, {"net/snmp": snmp})
    reading = source(str(tmp_path), str(tmp_path)).read()
    assert [entry.name for entry in reading.nics] == ["eth0"]
    assert reading.tcp_out_segments is None
    assert reading.tcp_retransmitted_segments is None
    assert set(reading.missing) == {"tcp_out_segments", "tcp_retransmitted_segments"}


def test_infiniband_ports_in_bytes() -> None:
    first, second = (source(proc("infiniband", when), sys("infiniband", when)).read() for when in ("first", "second"))
    port = first.ib_ports[0]
    assert (port.device, port.port, port.state, port.phys_state) == ("mlx5_0", 1, "ACTIVE", "LinkUp")
    assert port.rate_gbit_per_s == 400.0
    assert (port.rx_bytes, port.tx_bytes) == (4 * 1000000000000, 4 * 2000000000000)
    assert port.errors["symbol_error"] == 0
    assert "port_xmit_wait" not in port.errors  # congestion, no error
    assert "lifespan" not in port.errors
    down = second.ib_ports[1]
    assert (down.state, down.phys_state, down.rate_gbit_per_s) == ("DOWN", "Disabled", 10.0)
    assert down.errors["link_downed"] == 1
    assert first.missing == {}


def port_tree(data: str) -> dict[str, str]:
    port = "class/infiniband/hca0/ports/1"
    return {
        f"{port}/state": "4: ACTIVE\n",
        f"{port}/phys_state": "5: LinkUp\n",
        f"{port}/rate": "garbled\n",
        f"{port}/counters/port_rcv_data": data,
        f"{port}/counters/port_xmit_data": "12\n",
        f"{port}/counters/symbol_error": "N/A (no PMA)\n",
        "class/infiniband/hca1/ports/1/state": "4: ACTIVE\n",
        "class/infiniband/hca2/node_type": "1: CA\n",
        "net/dev": HEADINGS,
        "net/snmp": "Tcp: OutSegs RetransSegs\nTcp: 1 1\n",
    }


@pytest.mark.parametrize("data", ["4294967295\n", "N/A (no PMA)\n"])
def test_a_full_or_absent_infiniband_counter_is_a_reason(tmp_path: Path, data: str) -> None:
    write_tree(tmp_path, port_tree(data))
    reading = source(str(tmp_path), str(tmp_path)).read()
    assert reading.ib_ports == (
        IbPortCounters(
            device="hca0",
            port=1,
            state="ACTIVE",
            phys_state="LinkUp",
            rate_gbit_per_s=None,
            rx_bytes=None,
            tx_bytes=48,
            errors={},
        ),
    )
    assert set(reading.missing) == {"ib_ports.hca0:1.rx_bytes", "ib_ports.hca1:1", "ib_ports.hca2"}


def test_an_adapter_that_hangs_does_not_hold_up_the_interfaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, port_tree("5\n") | {"net/dev": HEADINGS + "  eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"})
    let_go = threading.Event()

    def hang(root: str, missing: dict[str, str]) -> tuple[IbPortCounters, ...]:
        let_go.wait()
        return read_ports(root, missing)

    monkeypatch.setattr(network, "read_ports", hang)
    monkeypatch.setattr(network, "IB_DEADLINE_S", 0.01)
    clock = Clock()
    network_source = source(str(tmp_path), str(tmp_path), clock)
    network_source.read()
    clock.at_s += 30
    reading = network_source.read()
    assert [entry.name for entry in reading.nics] == ["eth0"]
    assert reading.ib_ports == ()
    assert reading.missing["ib_ports"] == f"{tmp_path}/class/infiniband: not answering for 30 s"
    let_go.set()
    for thread in threading.enumerate():
        if thread.name == "hwtop-infiniband":
            thread.join(10)
    monkeypatch.setattr(network, "IB_DEADLINE_S", 10)
    assert network_source.read().ib_ports[0].rx_bytes == 20


def test_probe_names_the_file_that_is_not_there(tmp_path: Path) -> None:
    assert source(str(tmp_path), "").probe() == f"{tmp_path}/net/dev: no such file or directory"


def test_an_operating_system_without_proc(tmp_path: Path) -> None:
    mac = NetworkSource(proc=f"{tmp_path}/proc", sys=f"{tmp_path}/sys", system=MacSystem())
    assert mac.probe() is None
    reading = mac.read()
    ethernet, loopback = nic(reading, "en0"), nic(reading, "lo0")
    assert (ethernet.rx_bytes, ethernet.tx_bytes, ethernet.link_mbit_per_s, ethernet.is_virtual) == (
        1000,
        2000,
        1000,
        False,
    )
    assert loopback.is_virtual
    assert set(reading.missing) == {"tcp_out_segments", "tcp_retransmitted_segments"}

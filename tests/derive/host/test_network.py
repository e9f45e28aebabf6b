from __future__ import annotations

import msgspec
import pytest

from hwtop.collectors.host.network import NetworkSource
from hwtop.derive.host.network import network_rates
from hwtop.model.host.network import NetworkRates, NetworkReading, NicRates
from tests.host import HOST, TWO_SOCKETS_LINKS, Clock, RecordedSystem, proc, sys


def recorded(when: str, at_s: float, tree: str = "two-sockets") -> NetworkReading:
    own_sys = HOST / tree / when / "sys"
    return NetworkSource(
        proc=proc(tree, when),
        sys=str(own_sys) if own_sys.exists() else sys(tree),
        now=Clock(at_s),
        system=RecordedSystem(proc(tree, when), TWO_SOCKETS_LINKS),
    ).read()


def nic(rates: NetworkRates, name: str) -> NicRates:
    return next(entry for entry in rates.nics if entry.name == name)


def test_interfaces_over_two_seconds() -> None:
    rates = network_rates(recorded("first", 100.0), recorded("second", 102.0))
    assert nic(rates, "eno1") == NicRates(
        name="eno1",
        rx_bytes_per_s=1.25e9,
        tx_bytes_per_s=1.25e8,
        errors_per_s=3.0,  # 6 received
        drops_per_s=15.0,  # 20 received, 10 sent
        link_mbit_per_s=25000,
        is_up=True,
        is_virtual=False,
    )
    assert nic(rates, "eno2").rx_bytes_per_s == 0.0
    assert nic(rates, "eno3").rx_bytes_per_s is None  # new
    veth = nic(rates, "veth1a2b3c4")
    assert (veth.rx_bytes_per_s, veth.tx_bytes_per_s) == (None, 0.0)  # a 32-bit counter has wrapped
    assert rates.tcp_retransmit_pct == 0.1  # 10 of 9990 + 10


def test_infiniband_ports_stand_beside_the_interfaces() -> None:
    rates = network_rates(recorded("first", 100.0, "infiniband"), recorded("second", 102.0, "infiniband"))
    assert [entry.name for entry in rates.nics] == ["ib0", "mlx5_0:1", "mlx5_1:1"]
    assert nic(rates, "mlx5_0:1") == NicRates(
        name="mlx5_0:1",
        rx_bytes_per_s=2e10,  # 1e10 words of 4 bytes in 2 s
        tx_bytes_per_s=1e10,
        errors_per_s=5.0,  # 6 symbol errors, 4 out of sequence
        drops_per_s=4.0,
        link_mbit_per_s=400000.0,
        is_up=True,
        is_virtual=False,
    )
    down = nic(rates, "mlx5_1:1")
    assert (down.is_up, down.link_mbit_per_s, down.rx_bytes_per_s, down.errors_per_s) == (False, 10000.0, 0.0, 0.5)


def test_first_and_repeated_readings_have_no_rates() -> None:
    first = recorded("first", 100.0, "infiniband")
    for rates in (network_rates(None, first), network_rates(first, first)):
        for entry in rates.nics:
            assert (entry.rx_bytes_per_s, entry.tx_bytes_per_s, entry.errors_per_s, entry.drops_per_s) == (None,) * 4
        assert nic(rates, "mlx5_0:1").link_mbit_per_s == 400000.0
        assert rates.tcp_retransmit_pct is None


@pytest.mark.parametrize(
    ("sent", "again", "pct"),
    [
        (99, 0, None),  # too few to tell
        (99, 1, 1.0),
        (0, 200, 100.0),  # nothing gets through
        (100, 0, 0.0),
        (-1, 0, None),  # reset
        (1000, -1, None),
    ],
)
def test_share_of_retransmitted_segments(sent: int, again: int, pct: float | None) -> None:
    first = NetworkReading(at_s=1.0, nics=(), tcp_out_segments=5000, tcp_retransmitted_segments=70)
    second = NetworkReading(at_s=2.0, nics=(), tcp_out_segments=5000 + sent, tcp_retransmitted_segments=70 + again)
    assert network_rates(first, second).tcp_retransmit_pct == pct


def test_a_port_without_counters_has_no_rates() -> None:
    first, second = recorded("first", 100.0, "infiniband"), recorded("second", 102.0, "infiniband")
    bare = msgspec.structs.replace(second.ib_ports[0], rx_bytes=None, errors={})
    rates = network_rates(first, msgspec.structs.replace(second, ib_ports=(bare,)))
    port = nic(rates, "mlx5_0:1")
    assert (port.rx_bytes_per_s, port.tx_bytes_per_s) == (None, 1e10)
    assert (port.errors_per_s, port.drops_per_s) == (None, None)

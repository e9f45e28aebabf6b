"""gpu-idle-network-busy."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.host.network import NetworkRates, NicRates
from hwtop.symptoms.gpu.network import check_network
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from tests.symptoms.derived_states import constant, gpu, job, rank, shares


def port(share: float, **fields: Any) -> NetworkRates:
    """A port of 10 Gbit/s that receives so much of it."""
    known: dict[str, Any] = {
        "name": "eth0",
        "rx_bytes_per_s": share * 1.25e9,
        "tx_bytes_per_s": 1e6,
        "errors_per_s": 0.0,
        "drops_per_s": 0.0,
        "link_mbit_per_s": 10_000.0,
        "is_up": True,
        "is_virtual": False,
    }
    return NetworkRates(nics=(NicRates(**(known | fields)),), tcp_retransmit_pct=None)


def seen(network: NetworkRates | None, util_pct: float | None = 5.0, **fields: Any) -> Observation | None:
    watched = job(rank(0, gpus=(0,), **fields))
    return check_network(constant(watched, 15, gpus=(gpu(util_pct=util_pct),), network=network))


LOADS = {"phase_shares": shares(data=0.8, forward=0.2), "state": "data-wait"}


@pytest.mark.parametrize(
    ("network", "util_pct", "expected"),
    [
        (port(0.51), 29.0, True),
        (port(0.49), 29.0, False),
        (port(0.51), 31.0, False),
        (port(0.51), None, False),
        (port(0.0, tx_bytes_per_s=7e8), 5.0, True),
        (port(0.9, is_virtual=True), 5.0, False),
        (port(0.9, link_mbit_per_s=None), 5.0, False),
        (port(0.9, rx_bytes_per_s=None, tx_bytes_per_s=None), 5.0, False),
        (None, 5.0, False),
    ],
)
def test_idle_gpus_and_a_full_port(network: NetworkRates | None, util_pct: float | None, expected: bool) -> None:
    assert (seen(network, util_pct, **LOADS) is not None) is expected


@pytest.mark.parametrize(
    ("fields", "severity", "what"),
    [
        (LOADS, "warning", "data loading, 80 % of the ranks' time"),
        (
            {"phase_shares": shares(collective=0.9, forward=0.1)},
            "warning",
            "communication between ranks, 90 % of their time",
        ),
        ({"state": "checkpoint"}, "info", "a checkpoint is written or read"),
        ({"state": "starting"}, "info", "the job starts: weights, data or the first parameters"),
        ({"samples": 0, "phase_shares": (), "state": "unknown"}, "info", "what for is not known"),
    ],
)
def test_what_goes_over_it(fields: dict[str, Any], severity: str, what: str) -> None:
    found = seen(port(0.8), **fields)
    assert found is not None
    assert (found.severity, found.title) == (severity, f"GPU 0 idle while eth0 is 80 % full: {what}")
    assert "eth0: 1000 MB/s in its busier direction, 80 % of the link" in found.evidence


def test_a_burst_is_not_enough() -> None:
    """Three seconds of a full port in ten."""
    watched = job(rank(0, gpus=(0,), **LOADS))
    calm, full = (
        constant(watched, 15, gpus=(gpu(util_pct=5.0),), network=port(share)).derived_states for share in (0.05, 0.95)
    )
    mixed = [full[index] if index >= 13 else calm[index] for index in range(16)]
    assert check_network(History(mixed)) is None
    assert check_network(History(full)) is not None

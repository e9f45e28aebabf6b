"""Network interfaces, TCP, InfiniBand."""

from __future__ import annotations

from msgspec import Struct


class NicCounters(Struct, frozen=True, gc=False, kw_only=True):
    """One interface of /proc/net/dev, its link from /sys/class/net."""

    name: str
    rx_bytes: int
    rx_packets: int
    rx_errors: int
    rx_drops: int
    tx_bytes: int
    tx_packets: int
    tx_errors: int
    tx_drops: int
    link_mbit_per_s: int | None = None
    """Negotiated speed; None for virtual interfaces and links that are down."""
    is_up: bool | None = None
    is_virtual: bool = False
    """No device behind it: lo, bridges, veth, tunnels."""


class IbPortCounters(Struct, frozen=True, gc=False, kw_only=True):
    """One InfiniBand or RoCE port of /sys/class/infiniband. Data counters are bytes (the files hold 4-byte words)."""

    device: str
    port: int
    state: str
    phys_state: str
    rate_gbit_per_s: float | None
    rx_bytes: int | None
    tx_bytes: int | None
    errors: dict[str, int]
    """symbol_error, link_downed, link_error_recovery, port_rcv_errors, ... as the driver names them."""


class NetworkReading(Struct, frozen=True, gc=False, kw_only=True):
    """All interfaces, TCP's segment counters (/proc/net/snmp), InfiniBand ports."""

    at_s: float
    nics: tuple[NicCounters, ...]
    ib_ports: tuple[IbPortCounters, ...] = ()
    tcp_out_segments: int | None = None
    tcp_retransmitted_segments: int | None = None
    missing: dict[str, str] = {}


class NicRates(Struct, frozen=True, gc=False, kw_only=True):
    """One interface over one interval; an InfiniBand port appears as "mlx5_0:1"."""

    name: str
    rx_bytes_per_s: float | None
    tx_bytes_per_s: float | None
    errors_per_s: float | None
    drops_per_s: float | None
    link_mbit_per_s: float | None
    is_up: bool | None
    is_virtual: bool

    @property
    def link_bytes_per_s(self) -> float | None:
        """The speed of the link, in one direction; None where it is not known."""
        return self.link_mbit_per_s * 1e6 / 8 if self.link_mbit_per_s else None


class NetworkRates(Struct, frozen=True, gc=False, kw_only=True):
    """The network over one interval."""

    nics: tuple[NicRates, ...]
    tcp_retransmit_pct: float | None
    """Retransmitted share of the TCP segments sent; None when fewer than 100 were sent."""

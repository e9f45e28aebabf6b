"""Interfaces and TCP over one interval."""

from __future__ import annotations

from hwtop.derive.host.rates import elapsed_s, increase, per_second
from hwtop.model.host.network import IbPortCounters, NetworkRates, NetworkReading, NicCounters, NicRates

LEAST_SEGMENTS = 100
"""With fewer segments sent a single retransmitted one would be above 1 %. Engineering default."""

_IB_DROPS = frozenset({"port_xmit_discards", "VL15_dropped", "out_of_buffer"})
"""Counters of `IbPortCounters.errors` that count lost packets; the others count errors."""


def network_rates(previous: NetworkReading | None, current: NetworkReading) -> NetworkRates:
    """One entry for each interface and InfiniBand port there is now; rates None for a new one (see `rates`)."""
    seconds = None if previous is None else elapsed_s(previous.at_s, current.at_s)
    nics = {} if previous is None else {nic.name: nic for nic in previous.nics}
    ports = {} if previous is None else {(port.device, port.port): port for port in previous.ib_ports}
    return NetworkRates(
        nics=(
            *(_nic_rates(nics.get(nic.name), nic, seconds) for nic in current.nics),
            *(_port_rates(ports.get((port.device, port.port)), port, seconds) for port in current.ib_ports),
        ),
        tcp_retransmit_pct=None if previous is None or seconds is None else _retransmit_pct(previous, current),
    )


def _nic_rates(previous: NicCounters | None, current: NicCounters, seconds: float | None) -> NicRates:
    return NicRates(
        name=current.name,
        rx_bytes_per_s=per_second(previous.rx_bytes if previous else None, current.rx_bytes, seconds),
        tx_bytes_per_s=per_second(previous.tx_bytes if previous else None, current.tx_bytes, seconds),
        errors_per_s=per_second(
            previous.rx_errors + previous.tx_errors if previous else None,
            current.rx_errors + current.tx_errors,
            seconds,
        ),
        drops_per_s=per_second(
            previous.rx_drops + previous.tx_drops if previous else None, current.rx_drops + current.tx_drops, seconds
        ),
        link_mbit_per_s=current.link_mbit_per_s,
        is_up=current.is_up,
        is_virtual=current.is_virtual,
    )


def _port_rates(previous: IbPortCounters | None, current: IbPortCounters, seconds: float | None) -> NicRates:
    return NicRates(
        name=f"{current.device}:{current.port}",
        rx_bytes_per_s=per_second(previous.rx_bytes if previous else None, current.rx_bytes, seconds),
        tx_bytes_per_s=per_second(previous.tx_bytes if previous else None, current.tx_bytes, seconds),
        errors_per_s=_port_events_per_s(previous, current, current.errors.keys() - _IB_DROPS, seconds),
        drops_per_s=_port_events_per_s(previous, current, current.errors.keys() & _IB_DROPS, seconds),
        link_mbit_per_s=None if current.rate_gbit_per_s is None else 1000 * current.rate_gbit_per_s,
        is_up=current.state == "ACTIVE",
        is_virtual=False,
    )


def _port_events_per_s(
    previous: IbPortCounters | None, current: IbPortCounters, names: set[str], seconds: float | None
) -> float | None:
    """Sum of the named counters; None where the adapter has none of them or one went backwards."""
    if previous is None or seconds is None or not names:
        return None
    increases = [increase(previous.errors.get(name), current.errors[name]) for name in names]
    known = [value for value in increases if value is not None]
    return sum(known) / seconds if len(known) == len(increases) else None


def _retransmit_pct(previous: NetworkReading, current: NetworkReading) -> float | None:
    """The kernel counts a retransmitted segment in RetransSegs only, not in OutSegs (RFC 4022), so both make the sum."""
    first = increase(previous.tcp_out_segments, current.tcp_out_segments)
    again = increase(previous.tcp_retransmitted_segments, current.tcp_retransmitted_segments)
    if first is None or again is None or first + again < LEAST_SEGMENTS:
        return None
    return 100 * again / (first + again)

"""The network: interfaces from psutil, TCP's counters from /proc/net/snmp, InfiniBand ports from /sys/class/infiniband."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, KeysView
from typing import Any, NamedTuple

import psutil

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.host.infiniband import read_ports
from hwtop.collectors.host.system import System
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.network import IbPortCounters, NetworkReading, NicCounters
from hwtop.model.plan import SamplingPlan

LINKS_EVERY_S = 5.0
"""Speed and state of a link come from its driver, and a node of a cluster may have hundreds of virtual interfaces."""

IB_DEADLINE_S = 0.5
"""An adapter whose firmware hangs answers after minutes; the interfaces do not wait for it."""


class _Link(NamedTuple):
    is_up: bool | None
    is_virtual: bool
    mbit_per_s: int | None


class NetworkSource:
    """Reads the interfaces of hwtop's own network namespace, which in a container are the container's."""

    name = "network"
    every_s = 0.0

    def __init__(
        self,
        *,
        proc: str = "/proc",
        sys: str = "/sys",
        now: Callable[[], float] = time.monotonic,
        system: System = psutil,
    ) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._system = system
        self._links: dict[str, _Link] = {}
        self._links_at_s: float | None = None
        self._ib = Abandonable("infiniband", self._read_ib, now)

    def probe(self) -> str | None:
        """Why the interfaces cannot be read, or None."""
        try:
            self._system.net_io_counters(pernic=True, nowrap=False)
        except OSError as error:
            return reason_of(error)
        return None

    def read(self) -> NetworkReading:
        """The reading of now.

        Raises:
            OSError: psutil cannot read the interfaces.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        counters = self._system.net_io_counters(pernic=True, nowrap=False)
        sent, retransmitted = self._read_tcp(missing)
        ib_ports = self._poll_ib(missing)
        self._refresh_links(counters.keys(), at_s)
        return NetworkReading(
            at_s=at_s,
            nics=tuple(_nic(name, numbers, self._links[name]) for name, numbers in counters.items()),
            ib_ports=ib_ports,
            tcp_out_segments=sent,
            tcp_retransmitted_segments=retransmitted,
            missing=missing,
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """The network is the same for every job."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _read_tcp(self, missing: dict[str, str]) -> tuple[int | None, int | None]:
        """Segments sent and retransmitted; psutil reports neither."""
        path = f"{self._proc}/net/snmp"
        try:
            names, numbers = (line.split() for line in read_text(path).splitlines() if line.startswith("Tcp:"))
            tcp = dict(zip(names[1:], map(int, numbers[1:]), strict=True))
            return tcp["OutSegs"], tcp["RetransSegs"]
        except OSError as error:
            reason = reason_of(error)
        except (ValueError, KeyError):
            reason = f"{path}: cut short or garbled"
        missing["tcp_out_segments"] = missing["tcp_retransmitted_segments"] = reason
        return None, None

    def _read_ib(self) -> tuple[tuple[IbPortCounters, ...], dict[str, str]]:
        missing: dict[str, str] = {}
        return read_ports(self._sys, missing), missing

    def _poll_ib(self, missing: dict[str, str]) -> tuple[IbPortCounters, ...]:
        """Counters read at this tick; an answer to an earlier tick's question is dropped, its time is not known."""
        if not os.path.isdir(f"{self._sys}/class/infiniband"):
            return ()
        try:
            if self._ib.out_for_s() > 0:
                self._ib.poll(0.0)
            ports, reasons = self._ib.poll(IB_DEADLINE_S)
        except OSError as error:  # TimeoutError is one
            missing["ib_ports"] = f"{self._sys}/class/infiniband: {error}"
            return ()
        missing.update(reasons)
        return ports

    def _refresh_links(self, wanted: KeysView[str], at_s: float) -> None:
        if self._links_at_s is None or at_s - self._links_at_s >= LINKS_EVERY_S or not wanted <= self._links.keys():
            self._links_at_s = at_s
            stats = self._system.net_if_stats()
            self._links = {name: self._link(name, stats.get(name)) for name in wanted}

    def _link(self, name: str, stats: Any) -> _Link:
        """`stats` is None for an alias and for an interface that has just gone. A virtual one reports a made-up speed."""
        is_virtual = self._is_virtual(name)
        if stats is None:
            return _Link(None, is_virtual, None)
        return _Link(stats.isup, is_virtual, None if is_virtual or not stats.isup else stats.speed or None)

    def _is_virtual(self, name: str) -> bool:
        """Not in psutil."""
        try:
            return "/devices/virtual/" in os.readlink(f"{self._sys}/class/net/{name}")
        except OSError:  # no Linux, or a sandbox without sysfs
            return name.startswith("lo")


def _nic(name: str, counters: Any, link: _Link) -> NicCounters:
    return NicCounters(
        name=name,
        rx_bytes=counters.bytes_recv,
        rx_packets=counters.packets_recv,
        rx_errors=counters.errin,
        rx_drops=counters.dropin,
        tx_bytes=counters.bytes_sent,
        tx_packets=counters.packets_sent,
        tx_errors=counters.errout,
        tx_drops=counters.dropout,
        link_mbit_per_s=link.mbit_per_s,
        is_up=link.is_up,
        is_virtual=link.is_virtual,
    )

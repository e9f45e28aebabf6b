"""The network: /proc/net/dev, /sys/class/net, TCP's counters in /proc/net/snmp, InfiniBand ports."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, KeysView
from typing import NamedTuple

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.infiniband import read_ports
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.aim import Aim
from hwtop.model.network import IbPortCounters, NetworkReading, NicCounters

LINKS_EVERY_S = 5.0
"""Speed and state of a link come from its driver, and a node of a cluster may have hundreds of virtual interfaces."""

IB_DEADLINE_S = 0.5
"""An adapter whose firmware hangs answers after minutes; the interfaces of /proc/net/dev are not made to wait for it."""

_DOWN = frozenset({"down", "lowerlayerdown", "notpresent", "dormant", "testing"})  # operstate, RFC 2863


class _Link(NamedTuple):
    is_up: bool | None
    is_virtual: bool
    mbit_per_s: int | None


class NetworkSource:
    """Reads the interfaces of hwtop's own network namespace, which in a container are the container's."""

    name = "network"
    every_s = 0.0

    def __init__(self, *, proc: str = "/proc", sys: str = "/sys", now: Callable[[], float] = time.monotonic) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._links: dict[str, _Link] = {}
        self._links_at_s: float | None = None
        self._ib = Abandonable("infiniband", self._read_ib, now)

    def probe(self) -> str | None:
        """Why there is no /proc/net/dev to read, or None."""
        try:
            read_text(f"{self._proc}/net/dev")
        except OSError as error:
            return reason_of(error)
        return None

    def read(self) -> NetworkReading:
        """The reading of now.

        Raises:
            OSError: /proc/net/dev cannot be read.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        rows = _parsed_dev(read_text(f"{self._proc}/net/dev"), missing)
        sent, retransmitted = self._read_tcp(missing)
        ib_ports = self._poll_ib(missing)
        self._refresh_links(rows.keys(), at_s)
        return NetworkReading(
            at_s=at_s,
            nics=tuple(_nic(name, numbers, self._links[name]) for name, numbers in rows.items()),
            ib_ports=ib_ports,
            tcp_out_segments=sent,
            tcp_retransmitted_segments=retransmitted,
            missing=missing,
        )

    def aim(self, aim: Aim) -> None:
        """The network is the same for every job."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _read_tcp(self, missing: dict[str, str]) -> tuple[int | None, int | None]:
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
            self._links = {name: self._read_link(name) for name in wanted}

    def _read_link(self, name: str) -> _Link:
        path = f"{self._sys}/class/net/{name}"
        try:
            is_virtual = "/devices/virtual/" in os.readlink(path)
        except OSError:  # no sysfs in this sandbox
            return _Link(None, name == "lo", None)
        is_up = self._is_up(path)
        return _Link(is_up, is_virtual, None if is_virtual or not is_up else _speed(path))

    def _is_up(self, path: str) -> bool | None:
        try:
            state = read_text(f"{path}/operstate").strip()
            if state in _DOWN:
                return False
            # drivers that do not set operstate ("unknown") still report the carrier; lo is one
            return state == "up" or read_text(f"{path}/carrier").strip() == "1"
        except OSError:  # carrier of an interface that is switched off: invalid argument
            return None


def _speed(path: str) -> int | None:
    """Mbit/s; a driver that does not know says -1, or refuses with EINVAL."""
    try:
        speed = int(read_text(f"{path}/speed"))
    except (OSError, ValueError):
        return None
    return speed if speed > 0 else None


def _parsed_dev(text: str, missing: dict[str, str]) -> dict[str, list[int]]:
    """The 16 numbers of each interface; two lines of headings come first."""
    rows: dict[str, list[int]] = {}
    for line in text.splitlines()[2:]:
        name, colon, rest = line.rpartition(":")  # the name itself may hold a colon
        try:
            numbers = [int(word) for word in rest.split()]
        except ValueError:
            numbers = []
        if colon and len(numbers) >= 16:
            rows[name.strip()] = numbers
        else:
            missing[f"nics.{name.strip() or line.strip()}"] = "/proc/net/dev: line cut short or garbled"
    return rows


def _nic(name: str, numbers: list[int], link: _Link) -> NicCounters:
    """Columns of /proc/net/dev (proc_pid_net(5)): bytes packets errs drop fifo frame compressed multicast, twice."""
    return NicCounters(
        name=name,
        rx_bytes=numbers[0],
        rx_packets=numbers[1],
        rx_errors=numbers[2],
        rx_drops=numbers[3],
        tx_bytes=numbers[8],
        tx_packets=numbers[9],
        tx_errors=numbers[10],
        tx_drops=numbers[11],
        link_mbit_per_s=link.mbit_per_s,
        is_up=link.is_up,
        is_virtual=link.is_virtual,
    )

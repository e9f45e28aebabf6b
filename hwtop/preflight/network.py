"""The network between the ranks: names, the rendezvous, interfaces, RDMA ports."""

from __future__ import annotations

import errno
import socket
from contextlib import closing

from hwtop.collectors.procfs import read_text
from hwtop.job.whole_number import whole_number
from hwtop.model.host.network import NicCounters
from hwtop.preflight.check import Check, Family, Outcome, failed, passed, skipped, warned
from hwtop.preflight.machine import Machine

_CONNECTS_S = 3.0
"""A host that answers does so within it. Engineering default."""
_LOOPBACK = ("127.", "::1")
_CHOICES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
_EXCLUDES = "^"
"""Before a list of interfaces of NCCL that are not to be used; "=" before one of whole names."""


def _name(machine: Machine) -> Outcome:
    host = machine.state.host
    try:
        addresses = sorted({str(found[4][0]) for found in socket.getaddrinfo(host, None)})
    except socket.gaierror as error:
        return failed(
            f"the own host name {host} does not resolve: {error.strerror}", f"Add {host} to /etc/hosts or to the DNS"
        )
    if machine.has_several_nodes and all(address.startswith(_LOOPBACK) for address in addresses):
        words = f"{host} resolves to {', '.join(addresses)}: other nodes would connect to themselves"
        return warned(
            words, f"Remove the line of {host} from 127.0.1.1 in /etc/hosts, or set MASTER_ADDR to an address"
        )
    return passed(f"{host} resolves to {', '.join(addresses)}")


def _rendezvous(machine: Machine) -> Outcome:
    """Free where the store will be, reachable from elsewhere. A refused connection means that the host answers."""
    address, port = machine.env.get("MASTER_ADDR"), whole_number(machine.env.get("MASTER_PORT"))
    if address is None or port is None:
        return skipped("MASTER_ADDR and MASTER_PORT are not set")
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return failed(f"MASTER_ADDR {address} does not resolve: {error.strerror}", f"getent hosts {address}")
    family, kind, protocol, _, place = found[0]
    with closing(socket.socket(family, kind, protocol)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            return passed(f"{address}:{port} is on this machine and free")
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL and not machine.is_job:
                remedy = f"ss -ltnp 'sport = :{port}'   # who listens; or choose another MASTER_PORT"
                return failed(f"{address}:{port}: {(error.strerror or '').lower()}", remedy)
    try:
        socket.create_connection((address, port), _CONNECTS_S).close()
    except ConnectionRefusedError:
        return passed(f"{address} answers; nothing listens on port {port} yet")
    except OSError as error:
        return failed(
            f"{address}:{port} cannot be reached: {error}", f"ping -c 3 {address}; check firewalls between the nodes"
        )
    return passed(f"{address}:{port} can be reached")


def _interfaces(machine: Machine) -> Outcome:
    nics = machine.given("network", machine.snapshots[-1].network).nics
    for variable in _CHOICES:
        chosen = machine.env.get(variable, "")
        if not chosen or chosen.startswith(_EXCLUDES):
            continue
        names = [name.partition(":")[0] for name in chosen.lstrip("=").split(",")]
        if not any(_is_meant(nic, name, is_whole=chosen.startswith("=")) for nic in nics for name in names):
            here = ", ".join(nic.name for nic in nics if nic.is_up)
            return failed(f"{variable}={chosen}: no such interface is up", f"export {variable}=...   # up here: {here}")
    down = [nic.name for nic in nics if not nic.is_virtual and nic.is_up is False]
    up = [nic for nic in nics if not nic.is_virtual and nic.is_up]
    for speed in {nic.link_mbit_per_s for nic in up if nic.link_mbit_per_s}:
        rails = {nic.name: _mtu(machine, nic.name) for nic in up if nic.link_mbit_per_s == speed}
        if len(set(rails.values())) > 1:
            words = ", ".join(f"{name} {mtu}" for name, mtu in rails.items())
            return warned(
                f"interfaces of {speed / 1000:g} Gbit/s differ in MTU: {words}", "sudo ip link set DEVICE mtu 9000"
            )
    names = [nic.name + (f" {nic.link_mbit_per_s / 1000:g} Gbit/s" if nic.link_mbit_per_s else "") for nic in up]
    return passed(
        f"up: {', '.join(names) or 'virtual ones only'}" + (f"; down: {', '.join(down)}" if down else ""), compares=True
    )


def _rdma(machine: Machine) -> Outcome:
    """A port without a cable is no fault; one with a cable is, if it is not active."""
    ports = machine.given("network", machine.snapshots[-1].network).ib_ports
    active = [port for port in ports if "ACTIVE" in port.state.upper()]
    waiting = [port for port in ports if port not in active and "LINKUP" in port.phys_state.upper()]
    if waiting:
        words = ", ".join(f"{port.device}:{port.port} {port.state}" for port in waiting)
        return warned(
            f"RDMA ports with a link are not active: {words}",
            "ibstat; sudo systemctl status opensm   # the subnet manager",
        )
    if ports and not active:
        return warned(f"none of {len(ports)} RDMA ports is active: NCCL uses TCP", "ibstat; check the cables")
    return (
        passed(f"{len(active)} of {len(ports)} RDMA ports active", compares=True) if ports else skipped("no RDMA port")
    )


def _is_meant(nic: NicCounters, name: str, *, is_whole: bool) -> bool:
    return bool(nic.is_up) and (nic.name == name if is_whole else nic.name.startswith(name))


def _mtu(machine: Machine, name: str) -> str:
    return read_text(f"{machine.sys}/class/net/{name}/mtu").strip()


NETWORK = Family(
    "Network",
    (
        Check(id="host-name", about="The own host name does not resolve, or only to the loopback address", look=_name),
        Check(id="rendezvous", about="MASTER_ADDR:MASTER_PORT is taken, or cannot be reached", look=_rendezvous),
        Check(
            id="interfaces",
            about="A chosen interface is not up, or interfaces of one speed differ in MTU",
            look=_interfaces,
        ),
        Check(id="rdma", about="An RDMA port has a link and is not active, or none is active", look=_rdma),
    ),
)

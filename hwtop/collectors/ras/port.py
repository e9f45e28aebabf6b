"""Where the job's NCCL listens for RAS clients.

Source: docs/userguide/source/troubleshooting/ras.rst of NVIDIA/nccl. All processes of a user on a node share the port (SO_REUSEPORT), also
those of two jobs: the kernel deals a connection to any of them.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from contextlib import suppress

from hwtop.collectors.process.files import read_environ
from hwtop.collectors.process.listening_socket import TcpSocket, accepted_inode, socket_inodes, tcp_listeners

_PORT = 28028
"""Where NCCL_RAS_ADDR does not name another."""
_ADDRESS = b"NCCL_RAS_ADDR="


def find_port(pids: Sequence[int], proc: str = "/proc") -> TcpSocket | None:
    """The socket that RAS clients of one of these processes connect to, its address as one to connect to; None without one.

    Raises:
        OSError: there is one, but it cannot be reached from here; the message says why.
    """
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            own, port = frozenset(socket_inodes(pid, proc).values()), _port_of(pid, proc)
            for found in tcp_listeners(pid, proc):
                if found.inode in own and found.port == port:
                    _check_namespace(pid, port, proc)
                    return TcpSocket(_loopback(found), port, found.inode)
    return None


def is_answered_by(pids: Sequence[int], port: int, peer_port: int, proc: str = "/proc") -> bool:
    """Whether the connection from `peer_port` was accepted by one of these processes."""
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            inode = accepted_inode(f"{proc}/{pid}", port, peer_port)
            if inode is not None and inode in socket_inodes(pid, proc).values():
                return True
    return False


def _check_namespace(pid: int, port: int, proc: str) -> None:
    if os.readlink(f"{proc}/{pid}/ns/net") != os.readlink(f"{proc}/self/ns/net"):
        advice = f"run hwtop in it, as root: nsenter -t {pid} -n hwtop {pid}"
        raise OSError(f"port {port} of PID {pid} is in another network namespace: {advice}")


def _port_of(pid: int, proc: str) -> int:
    for pair in read_environ(f"{proc}/{pid}").split(b"\0"):
        if pair.startswith(_ADDRESS):
            digits = pair.rpartition(b":")[2]
            return int(digits) if digits.isdigit() and len(digits) <= 5 else _PORT
    return _PORT


def _loopback(found: TcpSocket) -> str:
    address = ipaddress.ip_address(found.address)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    if not address.is_loopback:
        raise OSError(f"port {found.port} is bound to {found.address}, not to the loopback interface")
    return found.address

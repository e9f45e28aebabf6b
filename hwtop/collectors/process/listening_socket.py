"""Which sockets a process listens on: its descriptors joined with /proc/PID/net (proc(5), proc_net_tcp in the kernel's docs).

psutil reads hwtop's own network namespace, which is not the one of a job in a container, and has no state of Unix sockets.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import platform
import sys
from collections.abc import Iterable

from msgspec import Struct

_LISTEN = "0A"
"""TCP_LISTEN of include/net/tcp_states.h."""
_ACCEPTS_CONNECTIONS = 0x10000
"""__SO_ACCEPTCON in the flags of /proc/net/unix."""
_ACCEPT_CALLS: dict[str, frozenset[int]] = {"x86_64": frozenset({43, 288}), "aarch64": frozenset({202, 242})}
"""Numbers of accept and accept4."""


class UnixSocket(Struct, frozen=True):
    """A Unix stream socket that listens."""

    path: str
    """As given to bind(2): may be relative; "@" begins an abstract name."""
    inode: int


class TcpSocket(Struct, frozen=True):
    """A TCP socket that listens."""

    address: str
    """Where it is bound, e.g. "::" or "127.0.0.1"."""
    port: int
    inode: int


def socket_inodes(pid: int, proc: str = "/proc") -> dict[int, int]:
    """Descriptor -> inode of every socket of a process.

    Raises:
        PermissionError: they may not be read.
    """
    folder = f"{proc}/{pid}/fd"
    found = {}
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            target = os.readlink(f"{folder}/{name}")
            if target.startswith("socket:["):
                found[int(name)] = int(target[8:-1])
    return found


def unix_listeners(pid: int, proc: str = "/proc") -> list[UnixSocket]:
    """All that listen in the network namespace of `pid`."""
    found = []
    for line in _rows(f"{proc}/{pid}/net/unix"):
        fields = line.rstrip("\n").split(maxsplit=7)
        if len(fields) == 8 and int(fields[3], 16) & _ACCEPTS_CONNECTIONS and fields[4] == "0001":
            found.append(UnixSocket(fields[7], int(fields[6])))
    return found


def tcp_listeners(pid: int, proc: str = "/proc") -> list[TcpSocket]:
    """All that listen in the network namespace of `pid`."""
    found = []
    for name in ("tcp", "tcp6"):
        for line in _rows(f"{proc}/{pid}/net/{name}"):
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTEN:
                found.append(TcpSocket(*_end(fields[1]), int(fields[9])))
    return found


class TcpConnection(Struct, frozen=True):
    """The two ends of a TCP connection."""

    local: str
    """Address and port: "127.0.0.1:45112"."""
    remote: str
    local_port: int
    remote_port: int

    @property
    def is_local(self) -> bool:
        """Both ends are on this machine."""
        host = self.remote.rpartition(":")[0]
        return host == self.local.rpartition(":")[0] or ipaddress.ip_address(host).is_loopback


def tcp_connection(directory: str, inode: int) -> TcpConnection | None:
    """Of a connected TCP socket; None where it is of another kind. `directory`: of a process in its namespace."""
    for name in ("tcp", "tcp6"):
        for line in _rows(f"{directory}/net/{name}"):
            fields = line.split()
            if len(fields) > 9 and fields[9] == str(inode) and fields[3] != _LISTEN:
                (local, local_port), (remote, remote_port) = (_end(each) for each in fields[1:3])
                return TcpConnection(f"{local}:{local_port}", f"{remote}:{remote_port}", local_port, remote_port)
    return None


def accepted_inode(directory: str, port: int, peer_port: int) -> int | None:
    """Socket at `port` whose other end is at `peer_port` of the same machine; None where nobody has accepted the connection."""
    for name in ("tcp", "tcp6"):
        for line in _rows(f"{directory}/net/{name}"):
            fields = line.split()
            if len(fields) > 9 and all(
                each.endswith(f":{number:04X}") for each, number in zip(fields[1:3], (port, peer_port), strict=True)
            ):
                return int(fields[9]) or None
    return None


def accepting_fds(pid: int, tids: Iterable[int], proc: str = "/proc") -> frozenset[int]:
    """Descriptors in whose accept(2) one of these threads sleeps; empty where the kernel does not report it (it does to whoever
    may trace the process).
    """
    calls = _ACCEPT_CALLS.get(platform.machine(), frozenset())
    found = set()
    for tid in tids:
        with contextlib.suppress(OSError, ValueError), open(f"{proc}/{pid}/task/{tid}/syscall") as file:
            fields = file.read().split()
            if len(fields) > 1 and int(fields[0]) in calls:
                found.add(int(fields[1], 16))
    return frozenset(found)


def _rows(path: str) -> list[str]:
    try:
        with open(path, errors="surrogateescape") as file:
            return file.readlines()[1:]
    except FileNotFoundError:  # a kernel without IPv6
        return []


def _end(words: str) -> tuple[str, int]:
    address, port = words.split(":")
    return _address(address), int(port, 16)


def _address(words: str) -> str:
    """Groups of four bytes in the machine's own order, as hexadecimal."""
    data = bytes.fromhex(words)
    if sys.byteorder == "little":
        data = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    return str(ipaddress.ip_address(data))

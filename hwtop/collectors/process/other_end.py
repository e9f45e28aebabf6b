"""Which processes hold the other end of the pipe or connection that one of the job waits at, or the file lock that it waits for.

A pipe has one inode at both ends. Of a TCP connection within this machine the kernel lists both sockets (/proc/PID/net/tcp), of a pair of
Unix sockets it names the other one on request (sock_diag(7)). Who holds a lock is in /proc/locks (proc_locks(5)).
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from hwtop.collectors.process.listening_socket import accepted_inode, tcp_connection
from hwtop.job.whole_number import whole_number
from hwtop.model.process import SystemCall

_MOST_PROCESSES = 256
"""Of larger jobs nobody's descriptors are listed: 256 processes with 200 each take 0.1 s."""
_KEPT_S = 60.0
"""Descriptors are passed on and closed seldom, and listing those of a large job takes 20 ms. Engineering default."""
_LIST_EVERY_S = 5.0
"""Of a job with other connections at each reading. Engineering default."""
_SOCK_DIAG_BY_FAMILY = 20
"""linux/sock_diag.h."""
_NLM_F_REQUEST = 1
_UDIAG_SHOW_PEER = 4
_UNIX_DIAG_PEER = 2
"""linux/unix_diag.h."""
_UNIX_REQUEST = struct.Struct("=BBHIIIII")
_UNIX_ANSWER_BYTES = 16 + 16
"""Header of the message, and unix_diag_msg."""
_TIMEOUT_S = 0.1
_STREAMS = ("pipe:[", "socket:[")
_EPOLL = "anon_inode:[eventpoll]"
_WRITES = frozenset({"write", "writev", "sendto", "sendmsg"})
_LOCKS = frozenset({"flock", "fcntl"})


class _End(NamedTuple):
    pid: int
    link: str
    """In /proc/PID/fd: its mode says whether it is open for reading or writing."""


class OtherEnd(NamedTuple):
    """What is known of it."""

    address: str | None = None
    """Of a TCP connection: "10.0.0.3:29500"."""
    pids: tuple[int, ...] | None = None
    """Other processes of the job that hold it, of a lock any process; None where that cannot be told."""
    is_own: bool = False
    """The process holds it itself, and no other one of the job does."""


class OtherEnds:
    """Of processes that were seen at the same pipe or socket before; each is looked up once a minute."""

    def __init__(self, proc: str, now: Callable[[], float]) -> None:
        self._proc = proc
        self._now = now
        self._seen: set[tuple[int, str]] = set()
        """PID and target of `call`."""
        self._known: dict[tuple[int, str], OtherEnd] = {}
        self._known_until_s = self._listed_at_s = float("-inf")
        self._current: dict[int, OtherEnd] = {}

    def of(self, pid: int) -> OtherEnd | None:
        """As the newest `look` has found it; None where it waits at none."""
        return self._current.get(pid)

    def look(self, calls: Mapping[int, SystemCall | None]) -> None:
        """`calls`: what each process of the job is blocked in. May block."""
        at = {
            (pid, call.target): call
            for pid, call in calls.items()
            if call is not None and call.target is not None and call.target.startswith((*_STREAMS, _EPOLL))
        }
        if self._now() >= self._known_until_s:
            self._known, self._known_until_s = {}, self._now() + _KEPT_S
            self._seen &= set(at)
        unknown = [key for key in at if key in self._seen and key not in self._known]
        if unknown and self._now() < self._listed_at_s + _LIST_EVERY_S:
            unknown = []
        holders = self._holders(calls.keys()) if unknown else {}
        for pid, target in unknown:
            self._known[pid, target] = self._end(pid, at[pid, target], target, holders)
        self._seen |= set(at)
        self._current = {key[0]: self._known[key] for key in at if key in self._known}
        waiting = {pid for pid, call in calls.items() if call is not None and call.name in _LOCKS}
        self._current |= _lock_holders(self._proc, waiting) if waiting else {}

    def _holders(self, pids: Collection[int]) -> dict[str, list[_End]]:
        """By pipe or socket; none for too large a job."""
        self._listed_at_s = self._now()
        found: dict[str, list[_End]] = {}
        for pid in sorted(pids) if len(pids) <= _MOST_PROCESSES else ():
            folder = f"{self._proc}/{pid}/fd"
            with contextlib.suppress(OSError):  # it has ended, or belongs to somebody else
                for name in os.listdir(folder):
                    with contextlib.suppress(OSError):
                        target = os.readlink(f"{folder}/{name}")
                        if target.startswith(_STREAMS):
                            found.setdefault(target, []).append(_End(pid, f"{folder}/{name}"))
        return found

    def _end(self, pid: int, call: SystemCall, target: str, holders: dict[str, list[_End]]) -> OtherEnd:
        if target == _EPOLL:
            ends = (self._end(pid, call, each, holders) for each in self._watched(pid, call.fd))
            known = {end.pids for end in ends if end.pids}  # of a pipe to itself there are none
            return OtherEnd(pids=known.pop()) if len(known) == 1 else OtherEnd()
        if target.startswith("pipe:["):
            if target not in holders:
                return OtherEnd()
            mode = stat.S_IRUSR if call.name in _WRITES else stat.S_IWUSR
            return _held_by(pid, [end for end in holders[target] if _mode(end) & mode])
        inode = int(target[8:-1])
        connection = tcp_connection(f"{self._proc}/{pid}", inode)
        if connection is None:
            other = _unix_peer(inode)
            return _held_by(pid, _ends_of(other, holders))
        if not connection.is_local:
            return OtherEnd(address=connection.remote)
        other = accepted_inode(f"{self._proc}/{pid}", connection.remote_port, connection.local_port)
        return _held_by(pid, _ends_of(other, holders), connection.remote)

    def _watched(self, pid: int, epoll_fd: int | None) -> Iterator[str]:
        """Pipes and sockets that are registered with epoll(7), as fdinfo lists them (proc_pid_fdinfo(5))."""
        with contextlib.suppress(OSError), open(f"{self._proc}/{pid}/fdinfo/{epoll_fd}") as file:
            for line in file:
                fields = line.split()
                if len(fields) > 1 and fields[0] == "tfd:":
                    with contextlib.suppress(OSError):  # closed meanwhile
                        target = os.readlink(f"{self._proc}/{pid}/fd/{fields[1]}")
                        if target.startswith(_STREAMS):
                            yield target


def _lock_holders(proc: str, waiting: Collection[int]) -> dict[int, OtherEnd]:
    """Who holds the lock that each of these processes waits for. The rows of one lock have one number, its holder's is the first."""
    found, holders = {}, dict[str, str]()
    with contextlib.suppress(OSError), open(f"{proc}/locks", errors="replace") as file:
        for fields in map(str.split, file):
            if len(fields) > 5 and fields[1] == "->" and whole_number(fields[5]) in waiting and fields[0] in holders:
                holder = whole_number(holders[fields[0]])
                if holder:  # another namespace's is 0
                    found[int(fields[5])] = OtherEnd(f"PID {holder} ({_comm(proc, holder)})", (holder,))
            elif len(fields) > 4 and fields[1] != "->":
                holders[fields[0]] = fields[4]
    return found


def _comm(proc: str, pid: int) -> str:
    try:
        with open(f"{proc}/{pid}/comm", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "has ended"


def _ends_of(inode: int | None, holders: dict[str, list[_End]]) -> list[_End] | None:
    """None where that socket is held by no process of the job: it is another one's."""
    return holders.get(f"socket:[{inode}]") if inode is not None else None


def _mode(end: _End) -> int:
    try:
        return os.lstat(end.link).st_mode
    except OSError:  # closed meanwhile
        return 0


def _held_by(pid: int, ends: Sequence[_End] | None, address: str | None = None) -> OtherEnd:
    if ends is None:
        return OtherEnd(address)
    pids = {end.pid for end in ends}
    return OtherEnd(address, tuple(sorted(pids - {pid})), is_own=pids == {pid})


def _unix_peer(inode: int) -> int | None:
    """Inode of the socket that this one is connected to, in hwtop's own network namespace; None where the kernel knows none."""
    body = _UNIX_REQUEST.pack(socket.AF_UNIX, 0, 0, 0xFFFFFFFF, inode, _UDIAG_SHOW_PEER, 0xFFFFFFFF, 0xFFFFFFFF)
    header = struct.pack("=IHHII", 16 + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as link:  # NETLINK_SOCK_DIAG
            link.settimeout(_TIMEOUT_S)
            link.sendall(header + body)
            return _peer_in(link.recv(8192))
    except OSError:  # a sandbox may refuse it
        return None


def _peer_in(answer: bytes) -> int | None:
    """An error message is shorter than an answer and has no attributes."""
    length, kind = struct.unpack_from("=IH", answer)
    at = _UNIX_ANSWER_BYTES
    while kind == _SOCK_DIAG_BY_FAMILY and at + 8 <= min(length, len(answer)):
        size, name = struct.unpack_from("=HH", answer, at)
        if name == _UNIX_DIAG_PEER:
            return int(struct.unpack_from("=I", answer, at + 4)[0])
        at += max(4, (size + 3) & ~3)
    return None

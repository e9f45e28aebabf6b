"""Client of torch's worker server: the HTTP server that a training process itself may run for its own debugging.

`torch.distributed.elastic.control_plane.worker_main()` starts one on the Unix socket TORCH_WORKER_SERVER_SOCKET,
`torch.distributed.debug.start_debug_server()` one on a TCP port of the kernel's choice (torch 2.13, WorkerServer.cpp). It has
no authentication: only servers of the user that hwtop runs as are asked, and only over the loopback interface.

A request runs code in the job's process, on a thread of the server, so ask rarely. A socket that might be anything else
(the rendezvous of gloo, NCCL or a TCPStore) is never written to: the server is identified first, or left alone.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from hwtop.collectors.process.listening_socket import (
    TcpSocket,
    UnixSocket,
    accepting_fds,
    socket_inodes,
    tcp_listeners,
    unix_listeners,
)
from hwtop.collectors.process.target_state import read_state

if TYPE_CHECKING:
    import http.client

THREAD_NAME = "pt_workerserver"
"""Name of the server's threads."""
SOCKET_VARIABLE = "TORCH_WORKER_SERVER_SOCKET"
DEADLINE_S = 5.0
_REPLY_LIMIT_BYTES = 64 << 20
"""A Flight Recorder trace of 2000 entries with stacks takes a few MiB."""


class DebugServer:
    """The worker server of one process. Each call opens a connection of its own and raises OSError (TimeoutError among
    them) when there is no answer.
    """

    def __init__(self, pid: int, connect: Callable[[], socket.socket]) -> None:
        self.pid = pid
        self._connect = connect

    @classmethod
    def find(cls, pid: int, proc: str = "/proc") -> DebugServer | None:
        """The server of `pid`, or None where it runs none. May block as long as /proc/PID does: call it where it can be
        abandoned.

        Raises:
            OSError: there seems to be one, but it cannot be used from here; the message says why.
        """
        environ = _environ(pid, proc)
        tids = _server_threads(pid, proc)
        if SOCKET_VARIABLE not in environ and not tids:
            return None
        state = read_state(pid, proc)
        if state is None:
            return None
        if state.uid != os.geteuid():
            raise PermissionError(f"pid {pid} belongs to uid {state.uid}: only a server of one's own is asked")
        try:
            inodes = socket_inodes(pid, proc)
        except PermissionError as error:
            raise PermissionError(f"there is one, but the open files of pid {pid} may not be read") from error
        own = frozenset(inodes.values())
        path = _unix_path((each for each in unix_listeners(pid, proc) if each.inode in own), environ, bool(tids))
        if path is not None:
            return cls(pid, lambda: _connect_unix(pid, path, proc))
        if not tids:
            return None
        accepting = frozenset(inodes[fd] for fd in accepting_fds(pid, tids, proc) if fd in inodes)
        found = _tcp_socket((each for each in tcp_listeners(pid, proc) if each.inode in own), accepting, environ)
        if os.readlink(f"{proc}/{pid}/ns/net") != os.readlink(f"{proc}/self/ns/net"):
            raise OSError(f"port {found.port} of pid {pid} is in another network namespace")
        return cls(pid, lambda: _connect_tcp(found))

    def handlers(self, deadline_s: float = DEADLINE_S) -> list[str]:
        """What it can be asked for. Answered without the job's interpreter."""
        try:
            names = json.loads(self._request("GET", "/handler/", deadline_s))
        except ValueError:
            names = None
        if not isinstance(names, list) or "ping" not in names:
            raise OSError(f"what listens in pid {self.pid} does not answer as torch's worker server does")
        return [str(name) for name in names]

    def post(self, handler: str, params: Mapping[str, str] | None = None, deadline_s: float = DEADLINE_S) -> bytes:
        """Have the job's process run `handler`; its answer."""
        query = f"?{urlencode(params)}" if params else ""
        return self._request("POST", f"/handler/{handler}{query}", deadline_s)

    def _request(self, method: str, path: str, deadline_s: float) -> bytes:
        import http.client  # 10 ms, for the few jobs that have such a server

        ends_s = time.monotonic() + deadline_s
        connection = http.client.HTTPConnection("localhost")
        try:
            connection.sock = self._connect()
            connection.sock.settimeout(deadline_s)
            connection.request(method, path, headers={"Connection": "close"})
            response = connection.getresponse()
            body = self._body(response, connection.sock, ends_s)
        except http.client.HTTPException as error:
            raise OSError(f"pid {self.pid} does not answer in HTTP: {type(error).__name__}") from error
        except TimeoutError as error:
            raise TimeoutError(f"the debug server of pid {self.pid} did not answer within {deadline_s:g} s") from error
        finally:
            connection.close()
        if response.status != http.client.OK:
            text = body[:200].decode(errors="replace").strip()
            raise OSError(f"the debug server of pid {self.pid} answers {path} with {response.status}: {text}")
        return body

    @staticmethod
    def _body(response: http.client.HTTPResponse, sock: socket.socket | None, ends_s: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := response.read1(1 << 16):
            parts.append(part)
            size += len(part)
            left_s = ends_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            if size > _REPLY_LIMIT_BYTES:
                raise OSError(f"an answer of more than {_REPLY_LIMIT_BYTES >> 20} MiB")
            if sock is not None:
                sock.settimeout(left_s)
        return b"".join(parts)


def _server_threads(pid: int, proc: str) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{proc}/{pid}/task"):
            with contextlib.suppress(OSError), open(f"{proc}/{pid}/task/{name}/comm") as file:
                if file.read().strip() == THREAD_NAME:
                    found.append(int(name))
    return found


def _environ(pid: int, proc: str) -> dict[str, str]:
    """The two variables that matter here; nothing where it may not be read."""
    wanted = (SOCKET_VARIABLE, "MASTER_PORT")
    try:
        with open(f"{proc}/{pid}/environ", "rb") as file:
            pairs = (part.partition(b"=") for part in file.read().split(b"\0"))
            return {
                key: value
                for name, _, raw in pairs
                if (key := os.fsdecode(name)) in wanted and (value := os.fsdecode(raw))
            }
    except OSError:
        return {}


def _unix_path(found: Iterable[UnixSocket], environ: Mapping[str, str], has_threads: bool) -> str | None:
    """The socket that the environment names; without one, the only one that can be it."""
    paths = {each.path for each in found if not each.path.startswith("@")}
    reported = environ.get(SOCKET_VARIABLE)
    if reported in paths:
        return reported
    likely = [path for path in paths if "/pymp-" not in path]  # those are multiprocessing's
    return likely[0] if has_threads and len(likely) == 1 else None


def _tcp_socket(found: Iterable[TcpSocket], accepting: frozenset[int], environ: Mapping[str, str]) -> TcpSocket:
    """The one that a thread of the server waits on, where the kernel reports it. Else the only one that can be it: bound to all
    interfaces as the server is (gloo and NCCL bind to one), and not the port of the TCPStore.

    Raises:
        OSError: none or several can be it.
    """
    candidates = list(found)
    sure = [each for each in candidates if each.inode in accepting]
    likely = sure or [
        each
        for each in candidates
        if ipaddress.ip_address(each.address).is_unspecified and str(each.port) != environ.get("MASTER_PORT")
    ]
    if len(likely) != 1:
        ports = ", ".join(str(each.port) for each in likely) or "none"
        raise OSError(f"it is unclear which listening socket is the debug server (ports: {ports}), so none is asked")
    return likely[0]


def _connect_unix(pid: int, path: str, proc: str) -> socket.socket:
    """By way of the process's own root, for it may live in another mount namespace. The folder is opened first: the whole
    path could be longer than a socket's address may be.
    """
    base = f"{proc}/{pid}/root" if path.startswith("/") else f"{proc}/{pid}/cwd/"
    folder, name = os.path.split(base + path)
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(DEADLINE_S)
        sock.connect(f"/proc/self/fd/{fd}/{name}")
        peer_pid, peer_uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if peer_uid != os.geteuid() or peer_pid not in (pid, 0):  # 0: in a PID namespace that is not seen from here
            raise PermissionError(f"{path} is served by pid {peer_pid}, not by pid {pid}")
    except BaseException:
        sock.close()
        raise
    finally:
        os.close(fd)
    return sock


def _connect_tcp(found: TcpSocket) -> socket.socket:
    address = ipaddress.ip_address(found.address)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    elif address.is_loopback:
        host = found.address
    else:
        raise PermissionError(f"port {found.port} is bound to {found.address}, not to the loopback interface")
    return socket.create_connection((host, found.port), DEADLINE_S)

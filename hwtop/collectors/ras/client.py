"""A client of the RAS port. Source of the protocol: src/ras/client.cc of NVIDIA/nccl, 2.24 to 2.30."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress

from hwtop.collectors.process.listening_socket import TcpSocket
from hwtop.job.ras.report import MOST_BYTES

_TRIES = 8
"""Connections until one is accepted by the job: a stopped process and those of other jobs share the port. Engineering default."""
_REPORT_S = 8.0
"""NCCL waits at most 3 s for processes that do not answer (TIMEOUT). Engineering default."""
_READ_LINE_BYTES = 1024


class RasClient:
    """Asks once for each call of `report`."""

    def __init__(self, server: TcpSocket, is_job: Callable[[int], bool], *, reply_s: float = 1.0) -> None:
        """`is_job`: whether a process of the job has accepted the connection from this port. `reply_s`: for each of the short replies."""
        self._server = server
        self._is_job = is_job
        self._reply_s = reply_s

    def report(self, *, any_version: bool = False) -> bytes:
        """What the job's NCCL reports of all its ranks.

        `any_version`: also of NCCL before 2.28.7. It may crash when it makes a report (NVIDIA/nccl #1669, #1718), and is recognised by
        having no JSON: nothing else was asked of it by then.

        Raises:
            OSError: there is no report; the message says why.
        """
        answered = 0
        for _ in range(_TRIES):
            with suppress(TimeoutError), self._connected() as sock:
                greeting = self._reply(sock, b"CLIENT PROTOCOL 2")
                if not greeting.startswith(b"SERVER PROTOCOL"):
                    raise OSError(f"{self._place} does not answer as NCCL RAS does: {greeting[:80]!r}")
                answered += 1
                if self._is_job(sock.getsockname()[1]):
                    return self._report(sock, any_version)
        others = f", {answered} answered by another job" if answered else ""
        raise OSError(
            f"no answer of the job at {self._place}: {_TRIES - answered} of {_TRIES} connections silent{others}"
        )

    @property
    def _place(self) -> str:
        return f"port {self._server.port} of {self._server.address}"

    def _connected(self) -> socket.socket:
        return socket.create_connection((self._server.address, self._server.port), self._reply_s)

    def _report(self, sock: socket.socket, any_version: bool) -> bytes:
        self._reply(sock, b"TIMEOUT 3")
        if self._reply(sock, b"SET FORMAT json") != b"OK" and not any_version:
            raise OSError(
                "NCCL before 2.28.7 is not asked, it may crash the job (NVIDIA/nccl #1669, #1718); "
                'the setting nccl.ras = "any-version" allows it'
            )
        sock.sendall(b"VERBOSE STATUS\n")
        try:
            return self._read(sock, MOST_BYTES, _REPORT_S)
        except TimeoutError as error:
            raise OSError(f"{self._place} has not finished its report after {_REPORT_S:g} s") from error

    def _reply(self, sock: socket.socket, command: bytes) -> bytes:
        sock.sendall(command + b"\n")
        return self._read(sock, _READ_LINE_BYTES, self._reply_s, ends_with=b"\n").strip()

    def _read(self, sock: socket.socket, most: int, deadline_s: float, ends_with: bytes = b"") -> bytes:
        """Up to the end of the line, or of the connection: the server sends nothing after a line before the next command."""
        ends_s = time.monotonic() + deadline_s
        data = bytearray()
        while not (ends_with and data.endswith(ends_with)):
            sock.settimeout(max(0.001, ends_s - time.monotonic()))
            part = sock.recv(1 << 16)
            if not part:
                break
            data += part
            if len(data) > most:
                raise OSError(f"{self._place} sends more than {most >> 10} KiB")
            if time.monotonic() > ends_s:
                raise TimeoutError
        return bytes(data)

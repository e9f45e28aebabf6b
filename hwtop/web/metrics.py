"""Server of metrics: answers the scrapes of Prometheus. Needs only the standard library."""

from __future__ import annotations

import base64
import os
import secrets
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from msgspec import Struct

from hwtop.errors import CannotError, UsageError
from hwtop.report.exports.openmetrics import CONTENT_TYPE

_TIMEOUT_S = 10.0
"""For which a client may be silent."""
_MOST_CLIENTS = 16
"""Served at a time; more are refused. Each takes a thread."""


class Guard(Struct, frozen=True):
    """Who may read the metrics."""

    tls: ssl.SSLContext | None = None
    authorization: bytes | None = None
    """The header that a client must send."""


def guard(host: str, certificate: Path | None, key: Path | None, auth_file: Path | None) -> Guard:
    """The guard of these options, for this address.

    Raises:
        UsageError: other machines can reach the address, and TLS or the password is missing.
        CannotError: a file cannot be read.
    """
    if not is_loopback(host) and (certificate is None or auth_file is None):
        raise UsageError(
            f"--listen {host}: other machines can reach this address, so it needs --tls-cert and --auth-file; or listen on 127.0.0.1"
        )
    return Guard(
        tls=None if certificate is None else _tls(certificate, key),
        authorization=None if auth_file is None else _authorization(auth_file),
    )


def is_loopback(host: str) -> bool:
    """Only this machine can reach it."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class MetricsServer(ThreadingHTTPServer):
    """Serves the newest text, in threads that do not keep the program from exiting."""

    daemon_threads = True

    def __init__(self, host: str, port: int, guard: Guard) -> None:
        """Listens at once; port 0 takes a free one.

        Raises:
            CannotError: the address cannot be listened on.
        """
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.page = b""
        """The newest text; empty before the first."""
        self.guard = guard
        self._places = threading.BoundedSemaphore(_MOST_CLIENTS)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise CannotError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
        name = f"[{host}]" if ":" in host else host
        self.address = f"{'https' if guard.tls else 'http'}://{name}:{self.server_port}/metrics"

    def start(self) -> None:
        """Serve in a daemon thread."""
        threading.Thread(target=self.serve_forever, name="hwtop-metrics", daemon=True).start()

    def server_bind(self) -> None:
        """Without asking for the name of this machine, which may take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = self.socket.getsockname()[:2]

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread, if one is free."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Gives its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake happens here, in the thread of this client."""
        request.settimeout(_TIMEOUT_S)
        if self.guard.tls is None:
            super().finish_request(request, client_address)
            return
        with self.guard.tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away, or speaks no TLS, is no failure of hwtop."""


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    server_version, sys_version = "hwtop", ""
    timeout = _TIMEOUT_S

    def do_GET(self) -> None:
        if not self._is_allowed():
            self._answer(401, b"a user and a password are needed\n", ("WWW-Authenticate", 'Basic realm="hwtop"'))
        elif not self._is_meant():
            self._answer(403, b"hwtop answers only at 127.0.0.1, [::1] and localhost\n")
        elif self.path.partition("?")[0] != "/metrics":
            self._answer(404, b"see /metrics\n")
        elif not self.server.page:
            self._answer(503, b"nothing has been read yet\n")
        else:
            self._answer(200, self.server.page, ("Content-Type", CONTENT_TYPE))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Scrapes are not logged."""

    def _is_allowed(self) -> bool:
        wanted = self.server.guard.authorization
        given = self.headers.get("Authorization", "").encode(errors="replace")
        return wanted is None or secrets.compare_digest(given, wanted)

    def _is_meant(self) -> bool:
        """Without a password, a web page could reach it by a name that an attacker points at 127.0.0.1 (DNS rebinding)."""
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        return self.server.guard.authorization is not None or is_loopback(host.strip("[]").lower())

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _tls(certificate: Path, key: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError) as error:
        raise CannotError(f"--tls-cert {str(certificate)!r}: {error.strerror or error}") from None
    return context


def _authorization(file: Path) -> bytes:
    try:
        if os.stat(file).st_mode & 0o077:
            raise UsageError(f"--auth-file {str(file)!r} can be read by others: chmod 600 {file}")
        line = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotError(f"--auth-file {str(file)!r}: {getattr(error, 'strerror', None) or error}") from None
    user, colon, password = line.partition(":")
    if not (user and colon and password) or "\n" in line:
        raise UsageError(f"--auth-file {str(file)!r} must hold one line: USER:PASSWORD")
    return b"Basic " + base64.b64encode(line.encode())

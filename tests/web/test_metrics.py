"""The server of metrics: who gets them, and who does not."""

from __future__ import annotations

import base64
import http.client
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.errors import CannotError, UsageError
from hwtop.report.exports.openmetrics import CONTENT_TYPE
from hwtop.web.metrics import Guard, MetricsServer, guard
from tests.web.served import hwtop

PAGE = b"# EOF\n"
SELF_SIGNED = [
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost",
]


@pytest.fixture(scope="module")
def started() -> Iterator[MetricsServer]:
    with MetricsServer("127.0.0.1", 0, Guard()) as server:
        server.start()
        yield server
        server.shutdown()


@pytest.fixture
def server(started: MetricsServer) -> MetricsServer:
    started.guard, started.page = Guard(), PAGE
    return started


def asked(server: MetricsServer, path: str = "/metrics", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


def test_a_scrape(server: MetricsServer) -> None:
    answer = asked(server)
    assert (answer.status, answer.read(), answer.getheader("Content-Type")) == (200, PAGE, CONTENT_TYPE)
    assert asked(server, "/other").status == 404
    assert asked(server, Host=f"localhost:{server.server_port}").status == 200


def test_before_the_first_frame(server: MetricsServer) -> None:
    server.page = b""
    assert asked(server).status == 503


def test_a_web_page_cannot_read_them_under_a_name_of_its_own(server: MetricsServer) -> None:
    assert asked(server, Host="attacker.example").status == 403


def test_a_password(server: MetricsServer, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("prometheus:secret\n")
    file.chmod(0o600)
    server.guard = guard("127.0.0.1", None, None, file)
    refused = asked(server)
    assert (refused.status, refused.getheader("WWW-Authenticate")) == (401, 'Basic realm="hwtop"')
    assert asked(server, Authorization="Basic " + base64.b64encode(b"prometheus:other").decode()).status == 401
    right = "Basic " + base64.b64encode(b"prometheus:secret").decode()
    assert asked(server, Authorization=right, Host="node3:9843").status == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls(server: MetricsServer, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [*SELF_SIGNED, "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    server.guard = guard("127.0.0.1", certificate, key, None)
    trusted = ssl.create_default_context(cafile=str(certificate))
    connection = http.client.HTTPSConnection("localhost", server.server_port, context=trusted, timeout=10)
    connection.request("GET", "/metrics")
    assert connection.getresponse().read() == PAGE
    connection.close()
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        asked(server)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "node3", "10.0.0.7"])
def test_other_addresses_need_tls_and_a_password(host: str) -> None:
    with pytest.raises(UsageError, match="--tls-cert and --auth-file"):
        guard(host, None, None, None)
    with pytest.raises(UsageError, match="--tls-cert and --auth-file"):
        guard(host, Path("cert.pem"), None, None)


def test_a_password_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("prometheus:secret\n")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        guard("127.0.0.1", None, None, file)


def test_a_port_in_use(server: MetricsServer) -> None:
    with pytest.raises(CannotError, match=f"port {server.server_port}"):
        MetricsServer("127.0.0.1", server.server_port, Guard())


@pytest.mark.real
def test_the_command_serves_what_it_reads(tmp_path: Path) -> None:
    command = hwtop("export", "--prometheus", "--listen", "127.0.0.1:0")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("metrics: http://").strip()
            connection = http.client.HTTPConnection(address.partition("/")[0], timeout=10)
            status, body = 503, b""
            while status == 503:  # the first reading is under way
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                status, body = answer.status, answer.read()
        finally:
            process.terminate()
        assert b"\nhwtop_memory_used_ratio{" in body
        assert body.endswith(b"# EOF\n")
        assert process.wait(10) == 0

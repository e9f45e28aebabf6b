"""Which address metrics are pushed to, with which headers, and what is refused."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from hwtop.errors import UsageError
from hwtop.web.collector import NotDeliveredError, collector
from tests.web.otlp_server import Answer, receiving
from tests.web.test_metrics import SELF_SIGNED


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
        ("http://collector/", "http://collector:80/v1/metrics"),
        ("http://[::1]:4318/v1/metrics", "http://[::1]:4318/v1/metrics"),
        ("https://otlp.example.org/otlp", "https://otlp.example.org:443/otlp/v1/metrics"),
        ("http://prometheus:9090/api/v1/otlp/v1/metrics?key=5", "http://prometheus:9090/api/v1/otlp/v1/metrics"),
    ],
)
def test_the_path_of_otlp_is_added_where_it_is_missing(given: str, url: str) -> None:
    assert collector(given, {}).url == url


def test_a_query_is_sent_and_not_printed() -> None:
    found = collector("https://otlp.example.org?key=5", {})
    assert found.path == "/v1/metrics?key=5"
    assert "key" not in found.url


@pytest.mark.parametrize(
    "given",
    [
        "",
        "127.0.0.1:4318",
        "localhost",
        "grpc://a:4317",
        "http://",
        "http://a:99999",
        "http://a:0",
        "http://[::1",
        "http://a b",
        "http://a..b",
    ],
)
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(UsageError, match=r"is not an address: use e\.g\. http://127\.0\.0\.1:4318"):
        collector(given, {})


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_HEADERS") as raised:
        collector("https://user:hunter2@otlp.example.org", {})
    assert "hunter2" not in str(raised.value)


def test_headers_of_metrics_come_before_those_of_all_signals() -> None:
    both = {"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "B = 2%2C3 ,c=4=5,"}
    assert collector("http://collector", both).headers == {"b": "2,3", "c": "4=5"}
    assert collector("http://collector", {"OTEL_EXPORTER_OTLP_HEADERS": "a=1"}).headers == {"a": "1"}
    assert collector("http://collector", {"OTEL_EXPORTER_OTLP_HEADERS": " "}).headers == {}


@pytest.mark.parametrize("given", ["hunter2", "a b=hunter2", "a=hunter2%0d%0aHost:x", "=hunter2"])
def test_headers_that_are_not_valid_are_not_repeated(given: str) -> None:
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_HEADERS is not valid: use KEY=VALUE") as raised:
        collector("https://collector", {"OTEL_EXPORTER_OTLP_HEADERS": given})
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("given", ["authorization=Basic%20dXNlcjpodW50ZXIy", "x-api-key=hunter2", "api-token=hunter2"])
def test_a_secret_is_not_sent_to_other_machines_without_encryption(given: str) -> None:
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": given}
    with pytest.raises(UsageError, match="would be sent without encryption: use https://") as raised:
        collector("http://collector:4318", environ)
    assert "hunter2" not in str(raised.value)
    for safe in ("https://collector", "http://127.0.0.1:4318", "http://localhost:4318"):
        assert collector(safe, environ).headers
    assert collector("http://collector:4318", {"OTEL_EXPORTER_OTLP_HEADERS": "x-scope-orgid=team-a"}).headers


@pytest.mark.parametrize(
    ("answer", "is_refused", "pause_s"),
    [
        (Answer(429, headers={"Retry-After": "30"}), False, 30),
        (Answer(503, headers={"Retry-After": "999999"}), False, 300),
        (Answer(503, headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}), False, 0),
        (Answer(400), True, 0),
        (Answer(599), False, 0),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else str(value),
)
def test_what_a_receiver_asks_for(answer: Answer, is_refused: bool, pause_s: float) -> None:
    with receiving() as server:
        server.answer = answer
        with pytest.raises(NotDeliveredError, match=f"it answers {answer.status}") as raised:
            collector(server.url, {}).post(b"")
    assert (raised.value.is_refused, raised.value.pause_s) == (is_refused, pause_s)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run([*SELF_SIGNED, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiving(tls=context) as server:
        url = f"https://localhost:{server.server_port}"
        with pytest.raises(NotDeliveredError, match=r"certificate is not trusted: self.signed certificate"):
            collector(url, {}).post(b"")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert collector(url, {}).post(b"") == server.answer.body

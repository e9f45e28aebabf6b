"""A receiver of OTLP: decodes what is posted with OpenTelemetry's own package, and answers as a test wants."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

DEADLINE_S = 30.0
Labels = dict[str, str]


@dataclass(frozen=True)
class Received:
    """A request."""

    path: str
    headers: Labels
    message: Any

    @property
    def resources(self) -> list[Labels]:
        return [_labels(each.resource.attributes) for each in self.message.resource_metrics]

    def metrics(self, resource: int = 0) -> dict[str, Any]:
        """By name; each must be there once."""
        found = [metric for scope in self.message.resource_metrics[resource].scope_metrics for metric in scope.metrics]
        assert len({metric.name for metric in found}) == len(found)
        return {metric.name: metric for metric in found}

    def points(self, name: str, resource: int = 0) -> list[tuple[Labels, float]]:
        return [
            (_labels(point.attributes), point.as_double) for point in self.metrics(resource)[name].gauge.data_points
        ]

    def without_value(self) -> dict[str, list[Labels]]:
        """Name -> labels of the points that have ended."""
        return {
            name: ended
            for number in range(len(self.message.resource_metrics))
            for name, metric in self.metrics(number).items()
            if (ended := [_labels(point.attributes) for point in metric.gauge.data_points if point.flags == 1])
        }


@dataclass
class Answer:
    """What the receiver answers."""

    status: int = 200
    body: bytes = ExportMetricsServiceResponse().SerializeToString()
    headers: Labels = field(default_factory=dict)


class OtlpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.answer = Answer()
        self.requests: Queue[Received] = Queue()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def next(self) -> Received:
        return self.requests.get(timeout=DEADLINE_S)


@contextmanager
def receiving(port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[OtlpServer]:
    """Serves; port 0 takes a free one."""
    with OtlpServer(port, tls) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: OtlpServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer
        self.server.requests.put(Received(self.path, headers, ExportMetricsServiceRequest.FromString(body)))
        self.send_response(answer.status)
        for name, value in (*answer.headers.items(), ("Content-Length", str(len(answer.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""


def _labels(attributes: Any) -> Labels:
    found = {each.key: each.value.string_value for each in attributes}
    assert len(found) == len(attributes)
    return found

"""Metrics that are pushed, as a receiver of OTLP decodes them; and receivers that fail."""

from __future__ import annotations

import os
import platform
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace as replaced
from queue import Queue

import pytest
from msgspec.structs import replace
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)

from hwtop.errors import CannotError
from hwtop.model.frame import Frame
from hwtop.model.job import JobPlace
from hwtop.web.collector import Collector, collector
from hwtop.web.pusher import Pusher
from tests import fleets
from tests.recording import replay
from tests.web.otlp_server import DEADLINE_S, Answer, OtlpServer, receiving

_EVERY_S = 0.02
Start = Callable[..., Pusher]


@pytest.fixture(scope="module")
def frame() -> Frame:
    return replay("hang")[-1]


@pytest.fixture
def server() -> Iterator[OtlpServer]:
    with receiving() as server:
        yield server


@pytest.fixture
def reports() -> Queue[str]:
    """What is printed on standard error."""
    return Queue()


@pytest.fixture
def start(server: OtlpServer, reports: Queue[str]) -> Iterator[Start]:
    """A pusher to the server, or to another place."""
    started: list[Pusher] = []

    def begin(to: Collector | None = None) -> Pusher:
        started.append(Pusher(to or collector(server.url, {}), _EVERY_S, reports.put))
        return started[-1]

    yield begin
    for pusher in started:
        pusher._ends.set()
        pusher._has_frame.set()
        pusher._thread.join(DEADLINE_S)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def later(frame: Frame, **changes: object) -> Frame:
    """The same a second later."""
    return replace(frame, derived=replace(frame.derived, time_s=frame.derived.time_s + 1), **changes)


def test_what_arrives_is_the_frame(server: OtlpServer, start: Start, frame: Frame) -> None:
    assert frame.derived.job is not None
    job = replace(frame.derived.job, place=JobPlace(slurm_job="4711"))
    start().put(replace(frame, derived=replace(frame.derived, job=job)))
    received = server.next()
    assert received.path == "/v1/metrics"
    assert received.headers["content-encoding"] == "gzip"
    assert received.headers["content-type"] == "application/x-protobuf"
    assert received.resources == [
        {
            "service.name": "hwtop",
            "service.version": received.resources[0]["service.version"],
            "service.instance.id": f"{platform.node()}:{os.getpid()}",
            "host.name": frame.derived.host,
            "node": frame.derived.host,
            "job_name": received.resources[0]["job_name"],
            "job_id": "4711",
        }
    ]
    gpus, ranks = frame.derived.gpus, frame.derived.job.ranks
    power = {labels["gpu"]: value for labels, value in received.points("hwtop.gpu.power")}
    assert power == {str(gpu.index): gpu.power_w for gpu in gpus}
    clock = {labels["gpu"]: value for labels, value in received.points("hwtop.gpu.sm_clock")}
    assert clock == {str(gpu.index): 1e6 * gpu.sm_clock_mhz for gpu in gpus if gpu.sm_clock_mhz}
    used = [value for _, value in received.points("hwtop.gpu.mem_used")]
    assert used == [gpu.mem_used_bytes for gpu in gpus]
    assert {labels["rank"]: labels["state"] for labels, _ in received.points("hwtop.rank.state")} == {
        str(rank.rank): rank.state for rank in ranks
    }
    units = {name: metric.unit for name, metric in received.metrics().items()}
    assert {
        "hwtop.gpu.power": "W",
        "hwtop.gpu.sm_clock": "Hz",
        "hwtop.gpu.mem_used": "By",
        "hwtop.gpu.mem_used_ratio": "1",
        "hwtop.cpu.context_switches": "1/s",
        "hwtop.disk.read": "By/s",
        "hwtop.rank.state": "",
    }.items() <= units.items()
    times = {point.time_unix_nano for metric in received.metrics().values() for point in metric.gauge.data_points}
    assert times == {round(frame.derived.time_s * 1e9)}


def test_findings_are_states_with_their_ranks(server: OtlpServer, start: Start, frame: Frame) -> None:
    start().put(frame)
    received = server.next()
    expected = {"symptom": "rank-missing-from-collective", "severity": "critical", "rank": "5"}
    assert (expected, 1) in received.points("hwtop.finding")
    assert ({"severity": "critical"}, 1) in received.points("hwtop.findings")
    assert ({"level": "critical"}, 1) in received.points("hwtop.verdict")
    assert ({"level": "ok"}, 0) in received.points("hwtop.verdict")


def test_a_finding_that_clears_ends_at_the_receiver(server: OtlpServer, start: Start, frame: Frame) -> None:
    pusher = start()
    pusher.put(frame)
    raised = [labels for labels, _ in server.next().points("hwtop.finding")]
    pusher.put(cleared := later(frame, findings=()))
    second = server.next()
    assert "hwtop.finding" not in second.metrics()
    assert second.without_value() == {"hwtop.finding": raised}
    pusher.put(later(cleared))
    assert server.next().without_value() == {}


def test_what_ended_while_the_receiver_was_down_ends_when_it_is_back(
    server: OtlpServer, start: Start, reports: Queue[str], frame: Frame
) -> None:
    pusher = start()
    pusher.put(frame)
    raised = [labels for labels, _ in server.next().points("hwtop.finding")]
    server.answer = Answer(503)
    pusher.put(cleared := later(frame, findings=()))
    assert "503 Service Unavailable; tried again every" in reports.get(timeout=DEADLINE_S)
    server.answer = Answer()
    assert reports.get(timeout=DEADLINE_S) == f"metrics for {server.url}/v1/metrics: delivered again"
    while not server.requests.empty():
        last = server.requests.get()
    assert last.without_value() == {"hwtop.finding": raised}
    pusher.put(later(cleared))
    assert server.next().without_value() == {}


def test_when_the_job_becomes_known_its_series_replace_those_without_it(
    server: OtlpServer, start: Start, frame: Frame
) -> None:
    pusher = start()
    pusher.put(replace(frame, derived=replace(frame.derived, job=None)))
    server.next()
    pusher.put(later(frame))
    new, old = server.next().resources
    assert "job_name" in new
    assert "job_name" not in old


def test_over_several_nodes_each_row_names_its_own(server: OtlpServer, start: Start) -> None:
    start().put(fleets.sick(41))
    received = server.next()
    assert not {"node", "host.name"} & received.resources[0].keys()
    assert {labels["rank"]: labels["node"] for labels, _ in received.points("hwtop.rank.step")}["21"] == "gpu-002"


def test_the_same_frame_is_not_pushed_twice(server: OtlpServer, start: Start, frame: Frame) -> None:
    pusher = start()
    pusher.put(frame)
    server.next()
    pusher.put(second := later(frame))
    assert server.next().message.resource_metrics[0].scope_metrics[0].metrics[0].gauge.data_points[
        0
    ].time_unix_nano == round(second.derived.time_s * 1e9)
    pusher.finish()
    assert server.requests.empty()


def test_the_last_frame_is_pushed_at_the_end(server: OtlpServer, frame: Frame) -> None:
    pusher = Pusher(collector(server.url, {}), 3600, print)
    pusher.put(frame)
    server.next()
    pusher.put(later(frame, findings=()))
    pusher.finish()
    assert "hwtop.finding" in server.next().without_value()


def test_a_receiver_that_is_down_is_reported_once_and_tried_again(
    start: Start, reports: Queue[str], frame: Frame
) -> None:
    port = unused_port()
    pusher = start(collector(f"http://127.0.0.1:{port}", {}))
    pusher.put(frame)
    assert "Connection refused; tried again every" in reports.get(timeout=DEADLINE_S)
    with receiving(port) as back:
        back.next()
        assert "delivered again" in reports.get(timeout=DEADLINE_S)
    assert reports.empty()


def test_a_receiver_that_took_nothing_is_an_error_at_the_end(start: Start, frame: Frame) -> None:
    port = unused_port()
    pusher = start(collector(f"http://127.0.0.1:{port}", {}))
    pusher.put(frame)
    with pytest.raises(CannotError, match=f"no metrics were pushed to http://127.0.0.1:{port}/v1/metrics: Connection"):
        pusher.finish()


def test_a_receiver_that_hangs_delays_nothing(start: Start, reports: Queue[str], frame: Frame) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        pusher = start(replaced(collector(url, {}), timeout_s=0.2))
        for _ in range(3):
            pusher.put(frame)
        assert "no answer within 0.2 s" in reports.get(timeout=DEADLINE_S)
        with pytest.raises(CannotError, match="no answer within"):
            pusher.finish()


def test_a_first_push_that_is_refused_ends_it(server: OtlpServer, start: Start, frame: Frame) -> None:
    server.answer = Answer(404, b"nothing here")
    pusher = start()
    pusher.put(frame)
    pusher._thread.join(DEADLINE_S)
    with pytest.raises(CannotError, match=r"404 Not Found: is this the address of an OTLP receiver"):
        pusher.put(frame)


def test_a_later_refusal_does_not_end_it(server: OtlpServer, start: Start, reports: Queue[str], frame: Frame) -> None:
    pusher = start()
    pusher.put(frame)
    server.next()
    server.answer = Answer(401)
    pusher.put(later(frame))
    assert "401 Unauthorized: set OTEL_EXPORTER_OTLP_HEADERS" in reports.get(timeout=DEADLINE_S)
    pusher.put(later(frame))
    server.answer = Answer()
    assert "delivered again" in reports.get(timeout=DEADLINE_S)


def test_a_port_that_speaks_something_else(start: Start, frame: Frame) -> None:
    with socket.create_server(("127.0.0.1", 0)) as grpc:
        pusher = start(collector(f"http://127.0.0.1:{grpc.getsockname()[1]}", {}))
        pusher.put(frame)
        connection, _ = grpc.accept()
        with connection:
            connection.sendall(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00\r\n")
            pusher._thread.join(DEADLINE_S)
    with pytest.raises(CannotError, match="4317 is gRPC"):
        pusher.put(frame)


def test_what_the_receiver_left_out_is_reported(
    server: OtlpServer, start: Start, reports: Queue[str], frame: Frame
) -> None:
    partial = ExportMetricsPartialSuccess(rejected_data_points=7, error_message="too old\x1b[2J")
    server.answer = Answer(200, ExportMetricsServiceResponse(partial_success=partial).SerializeToString())
    pusher = start()
    pusher.put(frame)
    assert "it left out 7 samples: too old␛[2J" in reports.get(timeout=DEADLINE_S)
    pusher.finish()


def test_the_token_is_sent_and_never_printed(
    server: OtlpServer, start: Start, reports: Queue[str], frame: Frame
) -> None:
    token = "hunter2-9f86d081884c7d65"
    to = collector(server.url, {"OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer%20{token}, x-scope-orgid=a"})
    server.answer = Answer(503)
    pusher = start(to)
    pusher.put(frame)
    headers = server.next().headers
    assert (headers["authorization"], headers["x-scope-orgid"]) == (f"Bearer {token}", "a")
    with pytest.raises(CannotError) as raised:
        pusher.finish()
    assert not re.search(token, f"{reports.get(timeout=DEADLINE_S)} {raised.value} {to!r}")


def test_only_the_named_address_is_connected_to(
    server: OtlpServer, start: Start, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as other:
        for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "OTEL_EXPORTER_OTLP_ENDPOINT"):
            monkeypatch.setenv(variable, other.url)
        server.answer = Answer(307, headers={"Location": f"{other.url}/v1/metrics"})
        pusher = start()
        pusher.put(frame)
        server.next()
        with pytest.raises(CannotError, match="redirects are not followed"):
            pusher.finish()
        assert other.requests.empty()

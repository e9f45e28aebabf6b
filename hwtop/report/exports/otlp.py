"""Metrics as a request of OTLP, the protocol of OpenTelemetry (https://opentelemetry.io/docs/specs/otlp/).

Needs the package opentelemetry-proto, so it is imported only where metrics are pushed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import DataPointFlags

from hwtop import __version__
from hwtop.report.exports.metrics import CORES, RATIO, Labels, Metric, Metrics, Unit

_NO_VALUE = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
_IN_NAME = (RATIO, CORES)
"""Units whose UCUM code does not say what they are: 1 is also a count, and what is in braces is a comment."""


def request(now: Metrics, before: Metrics | None, instance: str) -> bytes:
    """The message with all samples. Those that were there `before` and are not any more are sent once without a value: else the
    receiver shows a finding that has cleared, or the phase before, for minutes.

    `instance`: `service.instance.id`, different for each running hwtop.
    """
    message = ExportMetricsServiceRequest()
    time_ns = round(now.time_s * 1e9)
    _add(message, now, instance, time_ns, now.metrics)
    gone = () if before is None else tuple(_gone(before, now))
    if before is not None and gone:
        _add(message, before, instance, time_ns, gone, flags=_NO_VALUE)
    return message.SerializeToString()  # type: ignore[no-any-return]


def rejected(answer: bytes) -> tuple[int, str]:
    """How many samples the receiver did not take although it accepted the request, and its words; (0, "") = it took all.

    Raises:
        ValueError: it is not such an answer.
    """
    from google.protobuf.message import DecodeError

    try:
        partial = ExportMetricsServiceResponse.FromString(answer).partial_success
    except DecodeError as error:
        raise ValueError(str(error)) from None
    return partial.rejected_data_points, partial.error_message


def full_name(name: str, unit: Unit | None) -> str:
    """("gpu.sm_clock", hertz) -> "hwtop.gpu.sm_clock"."""
    return f"hwtop.{name}_{unit.word}" if unit in _IN_NAME else f"hwtop.{name}"


def _add(
    message: Any, found: Metrics, instance: str, time_ns: int, metrics: Iterable[Metric], *, flags: int = 0
) -> None:
    resource = message.resource_metrics.add()
    _set(resource.resource.attributes, _resource(found, instance))
    scope = resource.scope_metrics.add()
    scope.scope.name, scope.scope.version = "hwtop", __version__
    for metric in metrics:
        if not metric.samples:
            continue
        written = scope.metrics.add(name=full_name(metric.name, metric.unit), description=metric.about)
        written.unit = metric.unit.ucum if metric.unit else ""
        for labels, value in metric.samples.items():
            point = written.gauge.data_points.add(time_unix_nano=time_ns, flags=flags)
            _set(point.attributes, labels)
            if not flags:
                point.as_double = value


def _resource(found: Metrics, instance: str) -> Labels:
    """Names of the semantic conventions where they have one, else those of the labels."""
    service = {"service.name": "hwtop", "service.version": __version__, "service.instance.id": instance}
    host = {"host.name": found.host} if "node" in found.shared else {}
    return tuple((service | host | dict(found.shared)).items())


def _set(attributes: Any, labels: Labels) -> None:
    for key, text in labels:
        attributes.add(key=key).value.string_value = text


def _gone(before: Metrics, now: Metrics) -> Iterable[Metric]:
    """What is missing now; all of it where the job or the node is another one."""
    known: Mapping[tuple[str, Unit | None], Metric] = {}
    if before.shared == now.shared and before.host == now.host:
        known = {(metric.name, metric.unit): metric for metric in now.metrics}
    for metric in before.metrics:
        still = known.get((metric.name, metric.unit))
        missing = (
            metric.samples if still is None else {k: v for k, v in metric.samples.items() if k not in still.samples}
        )
        if missing:
            yield Metric(metric.name, metric.about, metric.unit, missing)

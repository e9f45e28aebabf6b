"""The few messages of libtpu's metric service that are needed, on the wire.

Service `tpu.monitoring.runtime.RuntimeMetricService` (tpu_metric_service.proto of github.com/AI-Hypercomputer/
cloud-accelerator-diagnostics). One or two fields of each message are read, so no generated code is needed, nor the package
protobuf, whose releases refuse code that another release generated.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.job.metrics.protobuf import fields

METHOD = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric"

_BYTES = 2
"""Wire type of strings and messages."""


def request(metric: str) -> bytes:
    """MetricRequest{metric_name = 1}. skip_node_aggregation stays unset: one answer covers all processes of the host."""
    name = metric.encode()
    if len(name) > 127:
        raise ValueError(f"name of a metric too long: {metric}")
    return bytes((1 << 3 | _BYTES, len(name))) + name


def response(data: bytes) -> dict[int, float]:
    """Device -> value of MetricResponse{metric = 1 {metrics = 3 {attribute = 1, gauge = 3, counter = 4}}}.

    Raises:
        ValueError: not such a message.
    """
    values: dict[int, float] = {}
    for reported in _messages(data, 1):
        for metric in _messages(reported, 3):
            value = _measure(metric)
            if value is not None:
                values[_device(metric)] = value
    return values


def _measure(metric: bytes) -> float | None:
    """Gauge or Counter: {as_double = 1, as_int = 2}; an int of a gauge is signed, no number of interest is negative."""
    for number, entry in fields(metric):
        if number in (3, 4) and isinstance(entry, bytes):
            for kind, value in fields(entry):
                if kind in (1, 2) and isinstance(value, (int, float)):
                    return float(value)
    return None


def _device(metric: bytes) -> int:
    """Attribute{value = 2 {string_attr = 1, int_attr = 3}}: older releases of libtpu report an int, newer ones digits. 0 is the default."""
    for attribute in _messages(metric, 1):
        for value in _messages(attribute, 2):
            for kind, entry in fields(value):
                if kind == 3 and isinstance(entry, int):
                    return entry
                if kind == 1 and isinstance(entry, bytes) and entry.isdigit():
                    return int(entry)
    return 0


def _messages(data: bytes, wanted: int) -> Iterator[bytes]:
    return (entry for number, entry in fields(data) if number == wanted and isinstance(entry, bytes))

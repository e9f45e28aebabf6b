"""The few messages of libtpu's metric service that are needed, on the wire.

Service `tpu.monitoring.runtime.RuntimeMetricService` (tpu_metric_service.proto of github.com/AI-Hypercomputer/
cloud-accelerator-diagnostics). Of each message one or two fields are read, so a walk over the encoding
(protobuf.dev/programming-guides/encoding) does without generated code and without the package protobuf, whose releases
refuse code that another release generated.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

METHOD = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def request(metric: str) -> bytes:
    """MetricRequest{metric_name = 1}. skip_node_aggregation stays unset: one answer tells of all processes of the host."""
    name = metric.encode()
    if len(name) > 127:
        raise ValueError(f"name of a metric too long: {metric}")
    return bytes((1 << 3 | _BYTES, len(name))) + name


def response(data: bytes) -> dict[int, float]:
    """Device -> value of MetricResponse{metric = 1 {metrics = 3 {attribute = 1, gauge = 3, counter = 4}}}.

    Raises:
        ValueError: this is no such message.
    """
    values: dict[int, float] = {}
    for told in _messages(data, 1):
        for metric in _messages(told, 3):
            value = _measure(metric)
            if value is not None:
                values[_device(metric)] = value
    return values


def _measure(metric: bytes) -> float | None:
    """Gauge or Counter: {as_double = 1, as_int = 2}; an int of a gauge is signed, no number of interest is negative."""
    for number, entry in _fields(metric):
        if number in (3, 4) and isinstance(entry, bytes):
            for kind, value in _fields(entry):
                if kind in (1, 2) and isinstance(value, (int, float)):
                    return float(value)
    return None


def _device(metric: bytes) -> int:
    """Attribute{value = 2 {string_attr = 1, int_attr = 3}}: older libtpu tells an int, newer ones digits. 0 is the default."""
    for attribute in _messages(metric, 1):
        for value in _messages(attribute, 2):
            for kind, entry in _fields(value):
                if kind == 3 and isinstance(entry, int):
                    return entry
                if kind == 1 and isinstance(entry, bytes) and entry.isdigit():
                    return int(entry)
    return 0


def _messages(data: bytes, wanted: int) -> Iterator[bytes]:
    return (entry for number, entry in _fields(data) if number == wanted and isinstance(entry, bytes))


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Field number and value, of all fields of one message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind} is unknown")
        entry, at = data[at : at + size], at + size
        if len(entry) < size:
            raise ValueError("message is cut short")
        yield key >> 3, struct.unpack("<d", entry)[0] if kind == _FIXED64 else entry


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("number is cut short")

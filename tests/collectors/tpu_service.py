"""A small libtpu: the runtime metric service on a port of its own, its messages made by protobuf itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

NAME = "tpu.monitoring.runtime.RuntimeMetricService"
_FIELD = descriptor_pb2.FieldDescriptorProto
_MESSAGES: dict[str, list[tuple[str, int, Any]]] = {
    "Timestamp": [("seconds", 1, _FIELD.TYPE_INT64), ("nanos", 2, _FIELD.TYPE_INT32)],
    "Gauge": [("as_double", 1, _FIELD.TYPE_DOUBLE), ("as_int", 2, _FIELD.TYPE_INT64)],
    "AttrValue": [("string_attr", 1, _FIELD.TYPE_STRING), ("int_attr", 3, _FIELD.TYPE_INT64)],
    "Attribute": [("key", 1, _FIELD.TYPE_STRING), ("value", 2, "AttrValue")],
    "Metric": [("attribute", 1, "Attribute"), ("timestamp", 2, "Timestamp"), ("gauge", 3, "Gauge")],
    "TPUMetric": [("name", 1, _FIELD.TYPE_STRING), ("description", 2, _FIELD.TYPE_STRING), ("metrics", 3, "*Metric")],
    "MetricRequest": [("metric_name", 1, _FIELD.TYPE_STRING), ("skip_node_aggregation", 2, _FIELD.TYPE_BOOL)],
    "MetricResponse": [("metric", 1, "TPUMetric")],
}
"""What the test speaks of tpu_metric_service.proto. Values are members of a oneof there, so that a zero is sent."""


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tpu.proto", package="test.tpu", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        is_union = name in ("Gauge", "AttrValue")
        if is_union:
            message.oneof_decl.add(name="value")
        for field, number, kind in fields:
            entry = message.field.add(name=field, number=number, label=_FIELD.LABEL_OPTIONAL)
            if isinstance(kind, str):
                entry.type = _FIELD.TYPE_MESSAGE
                entry.type_name = f".test.tpu.{kind.lstrip('*')}"
                entry.label = _FIELD.LABEL_REPEATED if kind.startswith("*") else _FIELD.LABEL_OPTIONAL
            else:
                entry.type = kind
            if is_union:
                entry.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"test.tpu.{name}")) for name in _MESSAGES}


PROTO = _classes()


def answer(name: str, values: dict[int, float], *, has_text_ids: bool = False) -> bytes:
    """A MetricResponse."""
    response = PROTO["MetricResponse"]()
    response.metric.name = name
    response.metric.description = "of each device"
    for device, value in values.items():
        metric = response.metric.metrics.add()
        metric.attribute.key = "device-id"
        if has_text_ids:
            metric.attribute.value.string_attr = str(device)
        else:
            metric.attribute.value.int_attr = device
        metric.timestamp.seconds = 1_780_000_000
        if isinstance(value, int):
            metric.gauge.as_int = value
        else:
            metric.gauge.as_double = value
    data: bytes = response.SerializeToString()
    return data


class Libtpu:
    """Serves `values` (metric -> device -> value) until closed; a metric that is not in there is NOT_FOUND."""

    def __init__(self, values: dict[str, dict[int, float]]) -> None:
        self.values = values
        self.asked: list[str] = []
        self.go_on = threading.Event()
        """Cleared: every call hangs."""
        self.go_on.set()
        self._server = grpc.server(futures.ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers((self._handler(),))
        self.port = int(self._server.add_insecure_port("localhost:0"))
        self._server.start()

    def close(self) -> None:
        self.go_on.set()
        self._server.stop(None).wait()

    def _handler(self) -> Any:
        method = grpc.unary_unary_rpc_method_handler(self._tell)
        return grpc.method_handlers_generic_handler(NAME, {"GetRuntimeMetric": method})

    def _tell(self, data: bytes, context: Any) -> bytes:
        self.go_on.wait(20)
        name = PROTO["MetricRequest"].FromString(data).metric_name
        self.asked.append(name)
        if name not in self.values:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no metric {name}")
        return answer(name, self.values[name])


def tpu_machine(root: Path, device: str, subsystem: str, groups: list[int], accels: bool = False) -> None:
    """/sys of a machine with one chip for each IOMMU group, or with /dev/accelN for each, and a network card of Google's."""
    devices = root / "sys/bus/pci/devices"
    for place, group in enumerate(groups):
        folder = _pci(devices / f"0000:00:{4 + place:02x}.0", "0x1ae0", device, subsystem)
        if accels:
            link = root / f"sys/class/accel/accel{group}/device"
            link.parent.mkdir(parents=True)
            link.symlink_to(folder)
        else:
            (folder / "iommu_group").symlink_to(f"/sys/kernel/iommu_groups/{group}")
    _pci(devices / "0000:00:03.0", "0x1ae0", "0x0042", "0x0058")


def _pci(folder: Path, vendor: str, device: str, subsystem: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in {"vendor": vendor, "device": device, "subsystem_device": subsystem, "class": "0xff0000"}.items():
        (folder / name).write_text(text + "\n")
    return folder


def holder(root: Path, pid: int, *paths: str) -> None:
    """A process of the made-up /proc that has these files open."""
    folder = root / f"proc/{pid}/fd"
    folder.mkdir(parents=True)
    for number, path in enumerate(paths):
        (folder / str(number)).symlink_to(path)


Serve = Callable[[dict[str, dict[int, float]]], Libtpu]

"""What the program that uses a TPU reports of it: libtpu's metric service, over gRPC on this machine.

Only a running program answers: libtpu opens the port when it takes the TPU (port 8431, or those of
TPU_RUNTIME_METRICS_PORTS; github.com/AI-Hypercomputer/cloud-accelerator-diagnostics, tpu_info/metrics.py).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from hwtop.collectors.gpu.tpu import wire as tpu_wire
from hwtop.errors import CannotError

DUTY_CYCLE = "tpu.runtime.tensorcore.dutycycle.percent"
MEM_USED = "tpu.runtime.hbm.memory.usage.bytes"
MEM_TOTAL = "tpu.runtime.hbm.memory.total.bytes"
HBM_BANDWIDTH = "tpu.runtime.hbm.utilization.percent"
"""Newer libtpu only."""

PORT = 8431
_PORTS = "TPU_RUNTIME_METRICS_PORTS"
_DEADLINE_S = 0.1
"""For one answer: on this machine it takes about a millisecond."""


class NotServedError(CannotError):
    """No program serves metrics."""


class LateError(CannotError):
    """A program serves metrics, but does not answer."""


class UnknownMetricError(CannotError):
    """This libtpu does not know the metric."""


def ports_of(env: Mapping[str, str], chip_count: int) -> tuple[int, ...]:
    """Where to ask: what the environment says, or one port for each process that there could be."""
    reported = tuple(int(part) for part in env.get(_PORTS, "").split(",") if part.strip().isdigit())
    return reported or tuple(range(PORT, PORT + max(1, chip_count)))


class TpuMetrics:
    """A client of the first port that answers: it speaks for all processes of the host."""

    def __init__(self, ports: tuple[int, ...]) -> None:
        self._ports = ports
        self._grpc: Any = None
        self._channels: dict[int, Any] = {}
        self._port: int | None = None

    def ask(self, metric: str) -> dict[int, float]:
        """Device -> value, as libtpu numbers devices.

        Raises:
            CannotError: grpcio is not installed, or the answer makes no sense.
            NotServedError: no port is open.
            LateError: the program does not answer within the deadline.
            UnknownMetricError: this libtpu does not report it.
        """
        if self._grpc is None:
            try:
                self._grpc = importlib.import_module("grpc")
            except ImportError as error:
                raise CannotError("the numbers of a TPU need the package grpcio: pip install 'hwtop[tpu]'") from error
        for port in self._ports if self._port is None else (self._port,):
            try:
                values = self._ask(port, metric)
            except NotServedError:
                continue
            self._port = port
            return values
        self._port = None
        raise NotServedError(f"libtpu serves no metrics on port {', '.join(map(str, self._ports))}")

    def _ask(self, port: int, metric: str) -> dict[int, float]:
        call = self._channel(port).unary_unary(
            tpu_wire.METHOD, request_serializer=tpu_wire.request, response_deserializer=None
        )
        try:
            return tpu_wire.response(call(metric, timeout=_DEADLINE_S))
        except ValueError as error:
            raise CannotError(f"port {port} does not speak libtpu's metric service: {error}") from error
        except self._grpc.RpcError as error:
            raise self._refusal(error, port, metric) from error

    def _refusal(self, error: Any, port: int, metric: str) -> CannotError:
        codes = self._grpc.StatusCode
        code = error.code()
        if code == codes.UNAVAILABLE:
            return NotServedError(f"nothing listens on port {port}")
        if code == codes.DEADLINE_EXCEEDED:
            return LateError(f"libtpu's metric service on port {port} gave no answer within {_DEADLINE_S:g} s")
        if code in (codes.NOT_FOUND, codes.INVALID_ARGUMENT, codes.UNIMPLEMENTED):
            return UnknownMetricError(f"this release of libtpu does not report {metric}")
        return CannotError(f"libtpu's metric service on port {port}: {error.details() or code.name}")

    def _channel(self, port: int) -> Any:
        if port not in self._channels:
            # no proxy: gRPC would send even localhost through one that the environment names
            options = (("grpc.enable_http_proxy", 0), ("grpc.max_reconnect_backoff_ms", 1000))
            self._channels[port] = self._grpc.secure_channel(
                f"localhost:{port}", self._grpc.local_channel_credentials(), options
            )
        return self._channels[port]

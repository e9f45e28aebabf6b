"""What the units of an NVIDIA GPU really do, from GPM (GPU performance monitoring): Hopper and later.

GPM hands out samples of hardware counters; two of them make averages over the time between. NVIDIA asks for more than 100 ms
between two samples (nvmlGpmMetricsGet in the NVML API reference). Units: percent, and MiB/s (NVML_GPM_METRIC_* of nvml.h).
"""

from __future__ import annotations

import contextlib
import importlib
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused

ACTIVITY_EVERY_S = 1.9
"""At every second tick: the hardware averages over the whole time, so that nothing is lost between."""
_LEAST_S = 0.1
_RETRY_EACH = 30
"""At every so many readings, once a minute, GPM is tried again where it was refused for good."""
_MIB = 1024.0**2
_NO_DATA = 21  # NVML_ERROR_NO_DATA

_TOO_EARLY = "not read yet: averaged between two readings"
_NOT_THERE = "needs Hopper or later (GPM)"
_IN_MIG = "MIG mode: GPM is not read for a GPU that is split"
_NOT_PERMITTED = (
    "not permitted: the driver keeps performance counters to administrators; run hwtop as root, or put "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia.conf and reboot"
)


class _Metric(NamedTuple):
    field: str
    id: int
    scale: float = 1.0


_METRICS = (
    _Metric("sm_active_pct", 2),
    _Metric("sm_occupancy_pct", 3),
    _Metric("tensor_active_pct", 5),
    _Metric("dram_bw_pct", 10),
    _Metric("pcie_tx_bytes_per_s", 20, _MIB),
    _Metric("pcie_rx_bytes_per_s", 21, _MIB),
    _Metric("nvlink_rx_bytes_per_s", 60, _MIB),
    _Metric("nvlink_tx_bytes_per_s", 61, _MIB),
)
_PCIE = ("pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s")
FIELDS = tuple(f"activity.{metric.field}" for metric in _METRICS)


class ActivityReader:
    """GPM of one GPU. Keeps two sample buffers, of which each reading fills the older."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.tells_pcie = False
        """The traffic over PCIe is known from here."""
        self._now = now
        self._samples: tuple[Any, Any] | None = None
        """The one to fill next, then the one that was filled last."""
        self._sampled_at_s: float | None = None
        self._refused: Refused | None = None
        self._until_retry = 0

    def question(self) -> Question:
        """Fills the children of `activity`, and the PCIe traffic of the GPU, which it knows best."""
        return Question(FIELDS, self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        if self._refused is not None and self._until_retry > 0:
            self._until_retry -= 1
            raise self._refused
        try:
            return self._measured(ask, handle)
        except Refused as refused:
            self._sampled_at_s = None
            self.tells_pcie = False
            if not refused.is_lasting:
                raise
            self._release(ask)
            self._refused = _explained(refused, ask, handle)
            self._until_retry = _RETRY_EACH
            raise self._refused from refused

    def _measured(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        spare, last = self._samples or self._allocate(ask, handle)
        before_s, now_s = self._sampled_at_s, self._now()
        if before_s is not None and now_s - before_s < _LEAST_S:
            return {}  # what is known stays
        ask("nvmlGpmSampleGet", handle, spare)
        self._samples, self._sampled_at_s = (last, spare), now_s
        if before_s is None:
            return _gap(_TOO_EARLY)
        lib = importlib.import_module("pynvml")
        request = lib.c_nvmlGpmMetricsGet_t()
        request.version = lib.NVML_GPM_METRICS_GET_VERSION
        request.numMetrics = len(_METRICS)
        request.sample1, request.sample2 = last, spare
        for place, metric in enumerate(_METRICS):
            request.metrics[place].metricId = metric.id
        ask("nvmlGpmMetricsGet", request)
        answers = zip(FIELDS, _METRICS, request.metrics, strict=False)  # the array has room for all metrics there are
        found = {field: _value(metric, answer) for field, metric, answer in answers}
        traffic = {field: found[f"activity.{field}"] for field in _PCIE}
        self.tells_pcie = not any(isinstance(rate, Refused) for rate in traffic.values())
        return found | traffic if self.tells_pcie else found

    def _allocate(self, ask: Ask, handle: Any) -> tuple[Any, Any]:
        if not ask("nvmlGpmQueryDeviceSupport", handle).isSupportedDevice:
            raise Refused("nvmlGpmQueryDeviceSupport", codes.NOT_SUPPORTED, "not supported", _NOT_THERE)
        samples = ask("nvmlGpmSampleAlloc"), ask("nvmlGpmSampleAlloc")
        self._samples = samples
        return samples

    def _release(self, ask: Ask) -> None:
        """Free the buffers. Left out where the GPU was lost or the library shut down: they may have gone with it."""
        samples, self._samples = self._samples, None
        for sample in samples or ():
            with contextlib.suppress(Refused):
                ask("nvmlGpmSampleFree", sample)


def _value(metric: _Metric, answer: Any) -> Any:
    if answer.nvmlReturn != codes.SUCCESS:
        reason = None if answer.nvmlReturn == codes.NOT_SUPPORTED else f"GPM: NVML error {answer.nvmlReturn}"
        return Refused("nvmlGpmMetricsGet", codes.NOT_SUPPORTED, f"metric {metric.id}", reason)
    if not math.isfinite(answer.value):
        return Refused("nvmlGpmMetricsGet", codes.NOT_SUPPORTED, f"metric {metric.id}", "GPM counted no cycles")
    return answer.value * metric.scale


def _explained(refused: Refused, ask: Ask, handle: Any) -> Refused:
    """The refusal with what can be done about it."""
    reason = refused.reason
    if refused.code == codes.NO_PERMISSION:
        reason = _NOT_PERMITTED
    elif refused.code == codes.NOT_SUPPORTED and reason != _NOT_THERE and _is_split(ask, handle):
        reason = _IN_MIG
    return Refused("GPM", refused.code, str(refused), reason)


def _is_split(ask: Ask, handle: Any) -> bool:
    try:
        return bool(ask("nvmlDeviceGetMigMode", handle)[0])
    except Refused:
        return False


def _gap(reason: str) -> dict[str, Refused]:
    return dict.fromkeys(FIELDS, Refused("nvmlGpmSampleGet", _NO_DATA, reason, reason))

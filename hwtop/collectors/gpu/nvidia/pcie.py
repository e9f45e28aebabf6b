"""PCIe traffic of an NVIDIA GPU where GPM does not report it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia.activity import ActivityReader
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused

PCIE_EVERY_S = 4.9
"""Dear: each call watches the bus for 20 ms (nvmlDeviceGetPcieThroughput in nvml.h)."""
_COUNTERS = {"pcie_tx_bytes_per_s": 0, "pcie_rx_bytes_per_s": 1}  # nvmlPcieUtilCounter_t
_KIB = 1024.0  # it comes in KB/s, by which NVML means KiB/s


class PcieReader:
    """Asks only where `activity` has no answer: GPM counts all the time, and costs nothing more."""

    def __init__(self, activity: ActivityReader) -> None:
        self._activity = activity

    def question(self) -> Question:
        """Fills the two fields of the traffic."""
        return Question(tuple(_COUNTERS), self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        if self._activity.tells_pcie:
            return {}  # what GPM said stays
        return {field: _rate(ask, handle, counter) for field, counter in _COUNTERS.items()}


def _rate(ask: Ask, handle: Any, counter: int) -> float | Refused:
    try:
        return float(ask("nvmlDeviceGetPcieThroughput", handle, counter) * _KIB)
    except Refused as refused:
        return refused

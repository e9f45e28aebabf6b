"""Rates of accelerators: what their counters did of late.

A driver may renew a counter less often than it is read: then readings repeat it. A rate is therefore taken from one movement of
the counter to the next, and stands until then.
"""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.gpu.device import Gpu, GpuCounters, GpuRates, GpuReading

HOLD_S = 2.5
"""A counter that has not moved for so long has the rate 0. Sources read it each tick, and some drivers renew it once a
second only. Engineering default."""
MOST_POWER_W = 5000.0
"""No board takes as much (a GB200 module: 2.7 kW): the energy counter jumped. Engineering default."""
MOST_SHARE = 1.25
"""Time in a state cannot pass faster than time: beyond what the unequal times of two readings explain, the counter jumped.
Engineering default."""
MOST_NVLINK_BYTES_PER_S = 4e12
"""NVLink 5 moves 0.9e12 bytes/s in one direction: the counter jumped. Engineering default."""
MOST_REPLAYS_PER_S = 1e7
"""More than a PCIe link has packets: the counter jumped. Engineering default."""


class _Kind(Struct, frozen=True):
    """Counter of `GpuCounters` -> rate of `GpuRates`."""

    rate: str
    scale: float
    most: float


_KINDS = {
    "energy_mj": _Kind("power_w", 1e-3, MOST_POWER_W),
    "power_violation_ns": _Kind("power_violation_share", 1e-9, MOST_SHARE),
    "thermal_violation_ns": _Kind("thermal_violation_share", 1e-9, MOST_SHARE),
    "reliability_violation_ns": _Kind("reliability_violation_share", 1e-9, MOST_SHARE),
    "board_violation_ns": _Kind("board_violation_share", 1e-9, MOST_SHARE),
    "pcie_replays": _Kind("pcie_replays_per_s", 1.0, MOST_REPLAYS_PER_S),
    "nvlink_tx_bytes": _Kind("nvlink_tx_bytes_per_s", 1.0, MOST_NVLINK_BYTES_PER_S),
    "nvlink_rx_bytes": _Kind("nvlink_rx_bytes_per_s", 1.0, MOST_NVLINK_BYTES_PER_S),
}


class _Mark(Struct):
    """Where a counter stood when it last moved, and the rate of that movement."""

    value: int
    at_s: float
    rate: float | None = None


class GpuRater:
    """Takes each new reading in order."""

    def __init__(self) -> None:
        self._marks: dict[tuple[object, str], _Mark] = {}
        self._rates: tuple[GpuRates, ...] = ()
        self._at_s: float | None = None

    def advance(self, reading: GpuReading | None) -> tuple[GpuRates, ...]:
        """One entry for each device; a reading that is repeated because its source is stale keeps its rates.

        A rate is None until its counter has moved or stood still for `HOLD_S`, and so again after a reset or a jump.
        """
        if reading is not None and reading.at_s != self._at_s:
            known, self._marks = self._marks, {}
            self._rates = tuple(self._of_one(gpu, reading.at_s - gpu.age_s, known) for gpu in reading.gpus)
            self._at_s = reading.at_s
        return self._rates

    def _of_one(self, gpu: Gpu, at_s: float, known: dict[tuple[object, str], _Mark]) -> GpuRates:
        counters = gpu.counters or GpuCounters()
        rates: dict[str, float | None] = {}
        for field, kind in _KINDS.items():
            value: int | None = getattr(counters, field)
            if value is None:
                continue
            key = (gpu.uuid or gpu.index, field)
            mark = self._marks[key] = _moved(known.get(key), value, at_s, kind)
            rates[kind.rate] = mark.rate
        return GpuRates(index=gpu.index, **rates)


def _moved(mark: _Mark | None, value: int, at_s: float, kind: _Kind) -> _Mark:
    if mark is None or value < mark.value:
        return _Mark(value, at_s)
    seconds = at_s - mark.at_s
    if value == mark.value:
        return mark if seconds < HOLD_S else _Mark(value, at_s, 0.0)
    if seconds <= 0:
        return mark
    rate = (value - mark.value) * kind.scale / seconds
    if rate > kind.most:
        return _Mark(value, at_s)
    return _Mark(value, at_s, min(rate, 1.0) if kind.most == MOST_SHARE else rate)

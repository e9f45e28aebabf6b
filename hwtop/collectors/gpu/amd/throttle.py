"""What holds the clocks of an AMD GPU down, and for how long, from its gpu_metrics table.

Boards up to MI250 and Radeon report which limits apply now. MI300 and later count in how many of the firmware's samples each
limit held; the share of an interval is the difference of that count over the difference of looks, as `amd-smi` has it
(amdsmi_get_violation_status). That share of the time between two reads is added up here to the counters of time that
`GpuCounters` has: they begin at 0 with hwtop, and only their growth means something.
"""

from __future__ import annotations

from collections.abc import Callable

from hwtop.collectors.gpu.amd.metrics import Metrics, decode, throttle_reasons
from hwtop.collectors.gpu.drm.sysfs import Fields, Files, why
from hwtop.model.gpu.device import ThrottleReason

_WRAP = 1 << 32

_RESIDENCIES: tuple[tuple[str, ThrottleReason], ...] = (
    ("power", "sw_power_cap"),
    ("socket_heat", "hw_thermal"),
    ("regulator_heat", "hw_thermal"),
    ("memory_heat", "hw_thermal"),
    ("prochot", "hw_slowdown"),
)
"""Field of `Metrics` -> nearest of NVML's words."""


class Throttle:
    """Remembers the last table, to count what was added since."""

    def __init__(self, files: Files, device: str, now: Callable[[], float]) -> None:
        self.metrics: Metrics | None = None
        self._files = files
        self._device = device
        self._now = now
        self._read_at_s = 0.0
        self._power_ns: int | None = None
        self._thermal_ns: int | None = None

    def read(self, fields: Fields) -> None:
        """Fill "throttle" with what holds now, or held since the last read."""
        before, before_s = self.metrics, self._read_at_s
        try:
            self.metrics = decode(self._files.raw(f"{self._device}/gpu_metrics"))
        except (OSError, ValueError) as error:
            self.metrics = None
            fields.lack(why(error), "throttle")
            return
        self._read_at_s = self._now()
        if self.metrics.throttle_bits is not None:
            fields.values["throttle"] = throttle_reasons(self.metrics.throttle_bits)
        elif self.metrics.samples is None:
            major, minor = self.metrics.revision
            fields.lack(f"gpu_metrics v{major}.{minor} of this GPU does not report throttle reasons", "throttle")
        elif before is None or before.samples is None:
            self._power_ns, self._thermal_ns = self._power_ns or 0, self._thermal_ns or 0
            fields.lack(
                "reported from the second reading on: it is the growth of a counter of the firmware", "throttle"
            )
        else:
            self._count(fields, before, self.metrics, self._read_at_s - before_s)

    def violations_ns(self) -> dict[str, int]:
        """Fields of `GpuCounters`; empty where the firmware does not count."""
        if self._power_ns is None or self._thermal_ns is None:
            return {}
        return {"power_violation_ns": self._power_ns, "thermal_violation_ns": self._thermal_ns}

    def _count(self, fields: Fields, before: Metrics, metrics: Metrics, elapsed_s: float) -> None:
        looks = ((metrics.samples or 0) - (before.samples or 0)) % _WRAP
        grown = {name: _growth(before, metrics, name) for name, _ in _RESIDENCIES}
        if looks == 0 or any(growth > looks for growth in grown.values()):
            fields.lack("the firmware has not counted since the last read", "throttle")
            return
        held = [reason for name, reason in _RESIDENCIES if grown[name]]
        fields.values["throttle"] = tuple(dict.fromkeys(held))
        heat = max(grown["socket_heat"], grown["regulator_heat"], grown["memory_heat"])
        self._power_ns = (self._power_ns or 0) + round(elapsed_s * 1e9 * grown["power"] / looks)
        self._thermal_ns = (self._thermal_ns or 0) + round(elapsed_s * 1e9 * heat / looks)


def _growth(before: Metrics, metrics: Metrics, name: str) -> int:
    """Of a counter of 32 bits, which may begin again. 0 for one that the chip does not keep."""
    old, new = getattr(before, name), getattr(metrics, name)
    return 0 if old is None or new is None else int(new - old) % _WRAP

"""What AMD's own library reports beyond the kernel's files: throttling and ECC totals of chips whose tables are not decoded.

The `amdsmi` module comes with ROCm, not from an index. It is used only where it is installed, only for what the files do not
report, and in a thread of its own: it asks the same driver and hangs as that does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from hwtop.collectors.gpu.drm.process import Latest
from hwtop.model.gpu.device import ThrottleReason

_EVERY_S = 10.0
"""amdsmi_get_violation_status itself watches the GPU for 100 ms."""

_VIOLATIONS: tuple[tuple[str, ThrottleReason], ...] = (
    ("active_ppt_pwr", "sw_power_cap"),
    ("active_socket_thrm", "hw_thermal"),
    ("active_vr_thrm", "hw_thermal"),
    ("active_hbm_thrm", "hw_thermal"),
    ("active_prochot_thrm", "hw_slowdown"),
)


class SmiReport(NamedTuple):
    """Of one GPU; None where the library does not report it."""

    throttle: tuple[ThrottleReason, ...] | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None


class AmdSmi:
    """Asks the library every 10 s."""

    def __init__(self, now: Callable[[], float], load: Callable[[], Any] | None = None) -> None:
        self._now = now
        self._load = load or (lambda: importlib.import_module("amdsmi"))
        self._module: Any = None
        self._due_s: float | None = None
        self._is_absent = False
        self._call = "amdsmi_init"
        self._latest = Latest("amdsmi", self._read, lambda: self._call, now)

    def poll(self) -> None:
        """Begin to ask when it is time; never waits."""
        if self._is_absent or (self._due_s is not None and self._now() < self._due_s):
            return
        if self._latest.poll(0.0):
            self._due_s = self._now() + _EVERY_S

    def of(self, pci_bus_id: str) -> SmiReport:
        """What was last reported of one GPU."""
        return (self._latest.value or {}).get(pci_bus_id, SmiReport())

    def _read(self) -> dict[str, SmiReport]:
        try:
            return self._ask()
        except (
            Exception
        ):  # no module, no library below it, no permission, an older ROCm: the files report most without it
            self._is_absent = True
            return {}

    def _ask(self) -> dict[str, SmiReport]:
        if self._module is None:
            module = self._load()
            module.amdsmi_init()
            self._module = module
        reported = {}
        for handle in self._module.amdsmi_get_processor_handles():
            address = str(self._ask_one("amdsmi_get_gpu_device_bdf", handle) or "").lower()
            violations = self._ask_one("amdsmi_get_violation_status", handle) or {}
            ecc = self._ask_one("amdsmi_get_gpu_total_ecc_count", handle) or {}
            reported[address] = SmiReport(
                _throttle(violations), _count(ecc, "correctable_count"), _count(ecc, "uncorrectable_count")
            )
        return reported

    def _ask_one(self, function: str, handle: object) -> Any:
        """None where this chip or this version of the library has no answer."""
        self._call = function
        try:
            return getattr(self._module, function)(handle)
        except Exception:  # AmdSmiLibraryException and its kin, which have no base in common with AttributeError
            return None


def _throttle(violations: dict[str, Any]) -> tuple[ThrottleReason, ...] | None:
    """Fields are "N/A" where the chip does not count."""
    reported = [
        (reason, violations[name]) for name, reason in _VIOLATIONS if isinstance(violations.get(name), (bool, int))
    ]
    return tuple(dict.fromkeys(reason for reason, is_active in reported if is_active)) if reported else None


def _count(counts: dict[str, Any], name: str) -> int | None:
    value = counts.get(name)
    return value if isinstance(value, int) else None

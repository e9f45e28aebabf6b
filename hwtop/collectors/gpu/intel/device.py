"""One Intel GPU, read through the files of the xe or i915 driver in a thread that may be abandoned.

Sensors: Documentation/ABI/testing/sysfs-driver-intel-{xe,i915}-hwmon. Clocks and throttling: drivers/gpu/drm/xe/xe_gt_freq.c and
xe_gt_throttle.c, drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c. Utilization and used memory are not in files of the device: they
are sums over its clients (`gpu_intel.py`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from hwtop.collectors.gpu.drm.pcie import read_pcie, slot_of
from hwtop.collectors.gpu.drm.sysfs import Card, Fields, Files, NotReported, folders, hwmon_of, is_asleep
from hwtop.collectors.gpu.intel.names import name_of
from hwtop.model.gpu.device import Gpu, GpuCounters, GpuStatus, ThrottleReason

_LEVELS = ("power_w", "temp_c", "sm_clock_mhz", "throttle")
"""Where these are refused, nothing of the device can be reported."""

_NOT_OF_INTEL = (
    "pstate",
    "remapped",
    "retired",
    "recovery_action",
    "fabric",
    "persistence_mode",
    "compute_mode",
    "mig_mode",
    "mem_reserved_bytes",
)
_NOT_REPORTED = (
    "mem_util_pct",
    "activity",
    "bar1_used_bytes",
    "bar1_total_bytes",
    "power_limit_min_w",
    "power_limit_max_w",
    "temp_slowdown_c",
    "temp_shutdown_c",
    "fan_pct",
    "mem_clock_mhz",
    "mem_clock_max_mhz",
    "pcie_tx_bytes_per_s",
    "pcie_rx_bytes_per_s",
    "ecc",
    "nvlinks",
    "unlisted_bytes",
)

_THROTTLE: dict[str, ThrottleReason] = {
    "pl1": "sw_power_cap",
    "pl2": "sw_power_cap",
    "psys_pl1": "sw_power_cap",
    "psys_pl2": "sw_power_cap",
    "psys_crit": "sw_power_cap",
    "pl4": "hw_current",
    "iccmax": "hw_current",
    "vr_tdc": "hw_current",
    "fastvmode": "hw_current",
    "thermal": "hw_thermal",
    "soc_thermal": "hw_thermal",
    "soc_avg_thermal": "hw_thermal",
    "mem_thermal": "hw_thermal",
    "vr_thermal": "hw_thermal",
    "vr_thermalert": "hw_thermal",
    "ratl": "hw_thermal",
    "prochot": "hw_slowdown",
}
"""Ending of the file's name -> nearest of NVML's words. PL4 is the limit on peak current; RATL a thermal one of the average."""


class IntelDevice:
    """Reads one GPU."""

    def __init__(self, index: int, card: Card, now: Callable[[], float]) -> None:
        self.files = Files()
        self.slot = slot_of(self.files, card.device)
        """The device, or the upper end of the PCIe switch on its board."""
        self._index = index
        self._card = card
        self._now = now
        self._energy: tuple[float, int] | None = None
        """When the energy counter was last read, and what it reported, in uJ."""

    @property
    def doing(self) -> str:
        """The file that is being read now."""
        return self.files.doing

    def blank(self) -> Gpu:
        """Its identity, without any metric."""
        return self._gpu("stale", Fields())

    def read(self) -> Gpu:
        """The device now. Never raises for what it does; may never return."""
        if not os.path.isdir(self._card.device):
            return self._gpu(
                "lost", Fields(), "GPU is gone: the kernel no longer lists it; look for xe or i915 in dmesg"
            )
        fields = Fields()
        if is_asleep(self._card.device):
            reason = "GPU is switched off to save power (runtime suspend); reading would wake it"
            fields.lack(reason, *_LEVELS)
            return self._gpu("ok", fields)
        self._read_clocks(fields)
        self._read_sensors(fields)
        fields.take("mem_total_bytes", self._memory)
        read_pcie(self.files, self._card.device, self.slot, fields)
        fields.lack(f"not reported by {self._card.driver}", *_NOT_REPORTED)
        refusal = fields.refusal(_LEVELS)
        if refusal is not None:
            return self._gpu("error", Fields(), f"{self._card.driver} refuses every number ({refusal}); see dmesg")
        return self._gpu("ok", fields)

    def _gpu(self, status: GpuStatus, fields: Fields, reason: str | None = None) -> Gpu:
        fields.lack("Intel GPUs have none, or their driver does not report it", *_NOT_OF_INTEL)
        fields.lack("the kernel does not report the serial number of Intel GPUs", "uuid")
        values: dict[str, Any] = fields.values
        return Gpu(
            index=self._index,
            vendor="intel",
            name=name_of(self._card.device_id),
            uuid=None,
            pci_bus_id=self._card.pci_bus_id,
            status=status,
            reason=reason,
            missing={field: why for field, why in fields.missing.items() if values.get(field) is None},
            **values,
        )

    def _read_clocks(self, fields: Fields) -> None:
        """The fastest of the GPU's parts (a Max has two tiles), and all that holds any of them down."""
        parts = self._clock_files()
        if not parts:
            reason = f"not reported by {self._card.driver} on this GPU (no clock files)"
            fields.lack(reason, "sm_clock_mhz", "sm_clock_max_mhz", "throttle")
            return
        fields.take("sm_clock_mhz", lambda: max(self._mhz(now) for now, _, _ in parts))
        fields.take("sm_clock_max_mhz", lambda: max(self._mhz(most) for _, most, _ in parts))
        fields.take("throttle", lambda: self._throttle([prefix for _, _, prefix in parts]))

    def _clock_files(self) -> list[tuple[str, str, str]]:
        """Of each part: present clock, highest clock, and how the paths of its throttle reasons begin."""
        xe = [gt for tile in folders(self._card.device, "tile") for gt in folders(tile, "gt")]
        found = [
            (f"{gt}/freq0/act_freq", f"{gt}/freq0/rp0_freq", f"{gt}/freq0/throttle/reason_")
            for gt in xe
            if os.path.exists(f"{gt}/freq0/act_freq")
        ]
        found += [
            (f"{gt}/rps_act_freq_mhz", f"{gt}/rps_RP0_freq_mhz", f"{gt}/throttle_reason_")
            for gt in folders(f"{self._card.card}/gt", "gt")
        ]
        if not found and os.path.exists(f"{self._card.card}/gt_act_freq_mhz"):  # kernels before 5.19
            card = self._card.card
            found = [(f"{card}/gt_act_freq_mhz", f"{card}/gt_RP0_freq_mhz", f"{card}/gt_throttle_reason_")]
        return found

    def _mhz(self, path: str) -> float:
        return float(self.files.number(path))

    def _throttle(self, prefixes: list[str]) -> tuple[ThrottleReason, ...]:
        """A part that is powered down reports zeros, as one that is not throttled does."""
        found: dict[ThrottleReason, None] = {}
        reported = 0
        for prefix in prefixes:
            folder, start = os.path.split(prefix)
            for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
                if name.startswith(start) and name.removeprefix(start) in _THROTTLE:
                    reported += 1
                    if self.files.number(f"{folder}/{name}"):
                        found[_THROTTLE[name.removeprefix(start)]] = None
        if not reported:
            raise NotReported(f"not reported by {self._card.driver} on this GPU (no throttle files)")
        return tuple(found)

    def _read_sensors(self, fields: Fields) -> None:
        hwmon = hwmon_of(self._card.device, self._card.driver)
        if hwmon is None:
            reason = f"not reported by {self._card.driver} on this GPU (no sensors)"
            fields.lack(reason, "power_w", "power_limit_w", "power_limit_default_w", "temp_c", "mem_temp_c")
            fields.values["counters"] = GpuCounters()
            return
        self._read_energy(fields, hwmon)
        fields.take("power_limit_w", lambda: self._limit(hwmon))
        fields.take("power_limit_default_w", lambda: self._either(hwmon, "power", "_rated_max") / 1e6)
        chip, memory = self._temperature_files(hwmon)
        fields.take("temp_c", lambda: self.files.number(chip) / 1e3)
        fields.take("mem_temp_c", lambda: self.files.number(memory) / 1e3)

    def _read_energy(self, fields: Fields, hwmon: str) -> None:
        """Power is not reported: it is the growth of the energy counter since the last read."""
        try:
            energy = self._either(hwmon, "energy", "_input")
        except (OSError, ValueError) as error:
            self._energy = None
            fields.fail(error, "power_w")
            fields.values["counters"] = GpuCounters()
            return
        before, now_s = self._energy, self._now()
        self._energy = (now_s, energy)
        fields.values["counters"] = GpuCounters(energy_mj=energy // 1000)
        if before is None or now_s <= before[0] or energy < before[1]:
            fields.lack("reported from the second reading on: it is the growth of the energy counter", "power_w")
        else:
            fields.values["power_w"] = (energy - before[1]) / 1e6 / (now_s - before[0])

    def _either(self, hwmon: str, kind: str, ending: str) -> int:
        """Of the card (1), else of the package (2): boards have the one, the other, or both."""
        try:
            return self.files.number(f"{hwmon}/{kind}1{ending}")
        except OSError:
            return self.files.number(f"{hwmon}/{kind}2{ending}")

    def _limit(self, hwmon: str) -> float:
        limit = self._either(hwmon, "power", "_max")
        if limit == 0:
            raise NotReported("no power limit is set (PL1 is off)")
        return limit / 1e6

    def _temperature_files(self, hwmon: str) -> tuple[str, str]:
        """i915 has one of the chip; xe labels one of the package and one of the memory."""
        labels = {}
        for number in (1, 2, 3):
            with contextlib.suppress(OSError):
                labels[self.files.text(f"{hwmon}/temp{number}_label")] = number
        default = 1 if self._card.driver == "i915" else 2
        return f"{hwmon}/temp{labels.get('pkg', default)}_input", f"{hwmon}/temp{labels.get('vram', 3)}_input"

    def _memory(self) -> int:
        """All of the device's own memory, where the driver has a file for it."""
        tiles = [f"{tile}/physical_vram_size_bytes" for tile in folders(self._card.device, "tile")]
        reported = [self.files.number(path) for path in tiles if os.path.exists(path)]
        if reported:
            return sum(reported)
        for path in (f"{self._card.card}/lmem_total_bytes", f"{self._card.device}/lmem_total_bytes"):
            if os.path.exists(path):
                return self.files.number(path)
        raise NotReported(f"{self._card.driver} has no file for it in this kernel")

"""One AMD GPU, read through the files of the amdgpu driver (Documentation/gpu/amdgpu/) in a thread that may be abandoned.

All is read at each tick but the error counts, which are read every 30 s. Files whose reading does harm are left alone: pcie_bw
sleeps for a second in the kernel, xgmi_error clears the counter that it reads.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from typing import Any

from hwtop.collectors.gpu.amd.names import has_two_dies, is_instinct, name_of
from hwtop.collectors.gpu.amd.ras import read_ecc, read_retired
from hwtop.collectors.gpu.amd.throttle import Throttle
from hwtop.collectors.gpu.drm.pcie import read_pcie, slot_of
from hwtop.collectors.gpu.drm.sysfs import Card, Fields, Files, NotReported, hwmon_of, is_asleep
from hwtop.model.gpu.device import Gpu, GpuCounters, GpuStatus

_SLOW_EVERY_S = 30.0
"""Error counts make the driver ask each block of the chip."""

_LEVELS = ("util_pct", "power_w", "temp_c", "sm_clock_mhz")
"""Where these are refused, nothing of the device can be reported; used memory is the driver's own count and says nothing about it."""

_NOT_OF_AMD = (
    "pstate",
    "remapped",
    "recovery_action",
    "fabric",
    "persistence_mode",
    "compute_mode",
    "mig_mode",
    "mem_reserved_bytes",
)
_CLOCK = re.compile(r"\w+: (\d{1,6})Mhz", re.IGNORECASE)


class AmdDevice:
    """Reads one GPU."""

    def __init__(self, index: int, card: Card, now: Callable[[], float]) -> None:
        self.files = Files()
        self.slot = slot_of(self.files, card.device)
        """The device, or the upper end of the PCIe switch on its board."""
        self._index = index
        self._card = card
        self._now = now
        self._throttle = Throttle(self.files, card.device, now)
        self._name = name_of(card.device_id, None)
        self._uuid: str | None = None
        self._slow = Fields()
        self._slow_due_s: float | None = None

    @property
    def doing(self) -> str:
        """The file that is being read now."""
        return self.files.doing

    @property
    def links_up(self) -> dict[int, bool]:
        """Of each xGMI link in use, whether it is up. Empty where the firmware does not report it."""
        metrics = self._throttle.metrics
        status = () if metrics is None else metrics.xgmi_status
        return {link: state == 1 for link, state in enumerate(status) if state in (0, 1)}

    def blank(self) -> Gpu:
        """Its identity, without any metric."""
        return self._gpu("stale", Fields())

    def read(self) -> Gpu:
        """The device now. Never raises for what it does; may never return."""
        if not os.path.isdir(self._card.device):
            self._slow_due_s = None
            return self._gpu("lost", Fields(), "GPU is gone: the kernel no longer lists it; look for amdgpu in dmesg")
        self._identify()
        if is_asleep(self._card.device):
            fields = Fields()
            fields.lack("GPU is switched off to save power (runtime suspend); reading would wake it", *_LEVELS)
            return self._gpu("ok", fields)
        fields = Fields()
        self._read_levels(fields)
        self._read_sensors(fields)
        self._read_metrics(fields)
        read_pcie(self.files, self._card.device, self.slot, fields)
        refusal = fields.refusal(_LEVELS)
        if refusal is not None:
            reason = f"amdgpu refuses every number ({refusal}): GPU in reset, or failed; see dmesg | grep amdgpu"
            return self._gpu("error", Fields(), reason)
        self._read_slow()
        fields.values = self._slow.values | fields.values
        fields.missing = self._slow.missing | fields.missing
        return self._gpu("ok", fields)

    def _gpu(self, status: GpuStatus, fields: Fields, reason: str | None = None) -> Gpu:
        fields.lack("AMD GPUs have none", *_NOT_OF_AMD)
        values: dict[str, Any] = fields.values
        return Gpu(
            index=self._index,
            vendor="amd",
            name=self._name,
            uuid=self._uuid,
            pci_bus_id=self._card.pci_bus_id,
            status=status,
            reason=reason,
            missing={field: why for field, why in fields.missing.items() if values.get(field) is None},
            **values,
        )

    def _identify(self) -> None:
        try:
            reported = self.files.text(f"{self._card.device}/product_name")
        except OSError:
            reported = None
        self._name = name_of(self._card.device_id, reported)
        try:
            self._uuid = self.files.text(f"{self._card.device}/unique_id") or None
        except OSError:
            self._uuid = None

    def _read_levels(self, fields: Fields) -> None:
        """Utilization and memory."""
        for field, name in (
            ("mem_used_bytes", "mem_info_vram_used"),
            ("mem_total_bytes", "mem_info_vram_total"),
            ("bar1_used_bytes", "mem_info_vis_vram_used"),
            ("bar1_total_bytes", "mem_info_vis_vram_total"),
        ):
            fields.take(field, lambda name=name: self.files.number(f"{self._card.device}/{name}"))  # type: ignore[misc]
        fields.take("util_pct", lambda: self._percent("gpu_busy_percent"))
        fields.take("mem_util_pct", lambda: self._percent("mem_busy_percent"))
        fields.lack("AMD counts encoder and decoder together", "encoder_pct", "decoder_pct")
        fields.lack("amdgpu does not report the activity of single units", "activity")
        fields.lack("not all users of an AMD GPU can be listed (graphics in other containers)", "unlisted_bytes")
        fields.lack(
            "amdgpu counts packets, not bytes, and takes a second for it (pcie_bw)",
            "pcie_tx_bytes_per_s",
            "pcie_rx_bytes_per_s",
        )

    def _read_sensors(self, fields: Fields) -> None:
        """Power, temperatures, clocks and fan, of hwmon."""
        hwmon = hwmon_of(self._card.device, "amdgpu")
        if hwmon is None:
            fields.lack(
                "amdgpu has no sensors here (a virtual GPU?)",
                *("power_w", "power_limit_w", "power_limit_default_w", "power_limit_min_w", "power_limit_max_w"),
                *("temp_c", "mem_temp_c", "temp_slowdown_c", "temp_shutdown_c", "fan_pct"),
                *("sm_clock_mhz", "mem_clock_mhz"),
            )
        else:
            self._read_power(fields, hwmon)
            self._read_temperatures(fields, hwmon)
            fields.take("sm_clock_mhz", lambda: self.files.number(f"{hwmon}/freq1_input") / 1e6)
            fields.take("mem_clock_mhz", lambda: self.files.number(f"{hwmon}/freq2_input") / 1e6)
            fields.take("fan_pct", lambda: self._fan(hwmon))
        for field, name in (("sm_clock", "pp_dpm_sclk"), ("mem_clock", "pp_dpm_mclk")):
            self._read_steps(fields, field, name)

    def _read_power(self, fields: Fields, hwmon: str) -> None:
        fields.take("power_w", lambda: self._power(hwmon))
        for field, name in (
            ("power_limit_w", "power1_cap"),
            ("power_limit_default_w", "power1_cap_default"),
            ("power_limit_min_w", "power1_cap_min"),
            ("power_limit_max_w", "power1_cap_max"),
        ):
            fields.take(field, lambda name=name: self._limit(f"{hwmon}/{name}"))  # type: ignore[misc]

    def _power(self, hwmon: str) -> float:
        """power1_average, which chips since MI300 and RX 9000 no longer have; power1_input is the newer, momentary one."""
        average = f"{hwmon}/power1_average"
        power_w = self.files.number(average if os.path.exists(average) else f"{hwmon}/power1_input") / 1e6
        if power_w == 0 and has_two_dies(self._card.device_id):
            raise NotReported("the first die of the board reports the power of both dies")
        return power_w

    def _limit(self, path: str) -> float:
        limit_w = self.files.number(path) / 1e6
        if limit_w == 0 and has_two_dies(self._card.device_id):
            raise NotReported("the first die of the board reports the power limit of both dies")
        return limit_w

    def _read_temperatures(self, fields: Fields, hwmon: str) -> None:
        """Junction is the hottest spot, by which the firmware throttles; boards without it report the edge only."""
        channels = self._temperature_channels(hwmon)
        hot = channels.get("junction") or channels.get("edge")
        if hot is None:
            fields.lack("amdgpu labels no temperature of the chip", "temp_c", "temp_slowdown_c", "temp_shutdown_c")
        else:
            fields.take("temp_c", lambda: self._celsius(f"{hwmon}/{hot}_input"))
            fields.take("temp_slowdown_c", lambda: self._celsius(f"{hwmon}/{hot}_crit"))
            fields.take("temp_shutdown_c", lambda: self._celsius(f"{hwmon}/{hot}_emergency"))
        if "mem" in channels:
            fields.take("mem_temp_c", lambda: self._celsius(f"{hwmon}/{channels['mem']}_input"))
        else:
            fields.lack("amdgpu labels no temperature of the memory", "mem_temp_c")

    def _temperature_channels(self, hwmon: str) -> dict[str, str]:
        channels = {}
        for number in (1, 2, 3):
            with contextlib.suppress(OSError):
                channels[self.files.text(f"{hwmon}/temp{number}_label")] = f"temp{number}"
        return channels

    def _celsius(self, path: str) -> float:
        temperature_c = self.files.number(path) / 1e3
        if not -50 < temperature_c < 250:
            raise NotReported(f"{path} reports {temperature_c:.0f} C, which is impossible")
        return temperature_c

    def _fan(self, hwmon: str) -> float:
        try:
            return self.files.number(f"{hwmon}/pwm1") * 100.0 / 255
        except FileNotFoundError:
            raise NotReported("no fan of its own (the chassis cools it)") from None

    def _read_steps(self, fields: Fields, field: str, name: str) -> None:
        """Highest step of a clock's table, and its present one ("1: 1700Mhz *") where hwmon reports none."""
        try:
            lines = self.files.text(f"{self._card.device}/{name}").splitlines()
        except OSError as error:
            fields.fail(error, f"{field}_max_mhz")
            return
        steps = {float(match.group(1)): line for line in lines if (match := _CLOCK.match(line.strip()))}
        fields.take(f"{field}_max_mhz", lambda: _largest(steps, name))
        present = [mhz for mhz, line in steps.items() if line.rstrip().endswith("*")]
        if fields.values.get(f"{field}_mhz") is None and present:
            fields.values[f"{field}_mhz"] = present[0]

    def _percent(self, name: str) -> float:
        percent = self.files.number(f"{self._card.device}/{name}")
        if not 0 <= percent <= 100:
            raise NotReported(f"{name} reports {percent} %, which is impossible")
        return float(percent)

    def _read_metrics(self, fields: Fields) -> None:
        """Throttling and the counters."""
        self._throttle.read(fields)
        counters = Fields()
        counters.take("pcie_replays", lambda: self.files.number(f"{self._card.device}/pcie_replay_count"))
        metrics = self._throttle.metrics
        if (
            metrics is not None
            and metrics.energy is not None
            and (metrics.samples or is_instinct(self._card.device_id))
        ):
            counters.values["energy_mj"] = metrics.energy * 1000 >> 16
        if metrics is not None and metrics.xgmi_written_kb:
            counters.values["nvlink_tx_bytes"] = sum(metrics.xgmi_written_kb) << 10
            counters.values["nvlink_rx_bytes"] = sum(metrics.xgmi_read_kb) << 10
        counters.values |= self._throttle.violations_ns()
        fields.values["counters"] = GpuCounters(**counters.values)

    def _read_slow(self) -> None:
        if self._slow_due_s is not None and self._now() < self._slow_due_s:
            return
        fields = Fields()
        fields.take("ecc", lambda: read_ecc(self.files, self._card.device))
        fields.take("retired", lambda: read_retired(self.files, self._card.device))
        self._slow, self._slow_due_s = fields, self._now() + _SLOW_EVERY_S


def _largest(steps: dict[float, str], name: str) -> float:
    if not steps:
        raise NotReported(f"{name} lists no clocks")
    return max(steps)

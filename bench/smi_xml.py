"""What `nvidia-smi -q -x` says, in the units and words of hwtop's Gpu.

The names are those of nvsmi_device_v12.dtd (drivers 535 to 580) and, behind them, of older ones. "N/A" and the like become None.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree import ElementTree

MIB = 1024**2
KIB = 1024
_REASONS = {
    "gpu_idle": "idle",
    "applications_clocks_setting": "app_clocks",
    "sw_power_cap": "sw_power_cap",
    "hw_slowdown": "hw_slowdown",
    "sync_boost": "sync_boost",
    "sw_thermal_slowdown": "sw_thermal",
    "hw_thermal_slowdown": "hw_thermal",
    "hw_power_brake_slowdown": "hw_power_brake",
    "display_clocks_setting": "display_clocks",
}
_WORDS = {"Enabled": True, "Disabled": False, "Yes": True, "No": False}


class Theirs(NamedTuple):
    """Where nvidia-smi tells a field of Gpu: the first of these elements that is there; several behind "+" are summed."""

    paths: tuple[str, ...]
    convert: Callable[[str], Any]
    must_equal: bool
    """It cannot change between two readings a moment apart."""


def number(text: str) -> float:
    """ "700.00 W", "16x", "P0", "41 C": the number in it."""
    return float(text.split()[0].strip("xP"))


def mib(text: str) -> float:
    """ "81559 MiB" in bytes."""
    return number(text) * MIB


def switch(text: str) -> bool:
    """ "Enabled", "No"."""
    if text not in _WORDS:
        raise ValueError(text)
    return _WORDS[text]


_POWER, _OLD_POWER = "gpu_power_readings", "power_readings"
_LINK = "pci/pci_gpu_link_info"
_VOLATILE, _AGGREGATE = "ecc_errors/volatile", "ecc_errors/aggregate"

FIELDS: dict[str, Theirs] = {
    "name": Theirs(("product_name",), str, True),
    "uuid": Theirs(("uuid",), str, True),
    "mem_total_bytes": Theirs(("fb_memory_usage/total",), mib, True),
    "mem_reserved_bytes": Theirs(("fb_memory_usage/reserved",), mib, True),
    "bar1_total_bytes": Theirs(("bar1_memory_usage/total",), mib, True),
    "power_limit_w": Theirs((f"{_POWER}/current_power_limit", f"{_OLD_POWER}/enforced_power_limit"), number, True),
    "power_limit_default_w": Theirs(
        (f"{_POWER}/default_power_limit", f"{_OLD_POWER}/default_power_limit"), number, True
    ),
    "power_limit_min_w": Theirs((f"{_POWER}/min_power_limit", f"{_OLD_POWER}/min_power_limit"), number, True),
    "power_limit_max_w": Theirs((f"{_POWER}/max_power_limit", f"{_OLD_POWER}/max_power_limit"), number, True),
    "sm_clock_max_mhz": Theirs(("max_clocks/sm_clock",), number, True),
    "mem_clock_max_mhz": Theirs(("max_clocks/mem_clock",), number, True),
    "pcie_gen_max": Theirs((f"{_LINK}/pcie_gen/max_link_gen",), number, True),
    "pcie_width_max": Theirs((f"{_LINK}/link_widths/max_link_width",), number, True),
    "persistence_mode": Theirs(("persistence_mode",), switch, True),
    "compute_mode": Theirs(("compute_mode",), lambda text: text.lower().replace("_", " "), True),
    "mig_mode": Theirs(("mig_mode/current_mig",), switch, True),
    "ecc.is_enabled": Theirs(("ecc_mode/current_ecc",), switch, True),
    "ecc.volatile_corrected": Theirs((f"{_VOLATILE}/sram_correctable+{_VOLATILE}/dram_correctable",), number, True),
    "ecc.aggregate_corrected": Theirs((f"{_AGGREGATE}/sram_correctable+{_AGGREGATE}/dram_correctable",), number, True),
    "ecc.dram_uncorrected": Theirs((f"{_VOLATILE}/dram_uncorrectable",), number, True),
    "ecc.sram_uncorrected": Theirs(
        (
            f"{_VOLATILE}/sram_uncorrectable",
            f"{_VOLATILE}/sram_uncorrectable_parity+{_VOLATILE}/sram_uncorrectable_secded",
        ),
        number,
        True,
    ),
    "remapped.corrected": Theirs(("remapped_rows/remapped_row_corr",), number, True),
    "remapped.uncorrected": Theirs(("remapped_rows/remapped_row_unc",), number, True),
    "remapped.is_pending": Theirs(("remapped_rows/remapped_row_pending",), switch, True),
    "remapped.has_failed": Theirs(("remapped_rows/remapped_row_failure",), switch, True),
    "retired.single_bit": Theirs(("retired_pages/multiple_single_bit_retirement/retired_count",), number, True),
    "retired.double_bit": Theirs(("retired_pages/double_bit_retirement/retired_count",), number, True),
    "retired.is_pending": Theirs(("retired_pages/pending_retirement",), switch, True),
    "counters.pcie_replays": Theirs(("pci/replay_counter",), number, False),
    "counters.power_violation_ns": Theirs(
        ("clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap",),
        lambda text: number(text) * 1e3,
        False,
    ),
    "recovery_action": Theirs(("gpu_recovery_action",), str, False),
    "util_pct": Theirs(("utilization/gpu_util",), number, False),
    "mem_util_pct": Theirs(("utilization/memory_util",), number, False),
    "encoder_pct": Theirs(("utilization/encoder_util",), number, False),
    "decoder_pct": Theirs(("utilization/decoder_util",), number, False),
    "mem_used_bytes": Theirs(("fb_memory_usage/used",), mib, False),
    "bar1_used_bytes": Theirs(("bar1_memory_usage/used",), mib, False),
    "power_w": Theirs(
        (f"{_POWER}/average_power_draw", f"{_POWER}/power_draw", f"{_OLD_POWER}/power_draw"), number, False
    ),
    "temp_c": Theirs(("temperature/gpu_temp",), number, False),
    "mem_temp_c": Theirs(("temperature/memory_temp",), number, False),
    "temp_slowdown_c": Theirs(("temperature/gpu_temp_slow_threshold",), number, False),
    "temp_shutdown_c": Theirs(("temperature/gpu_temp_max_threshold",), number, False),
    "fan_pct": Theirs(("fan_speed",), number, False),
    "sm_clock_mhz": Theirs(("clocks/sm_clock",), number, False),
    "mem_clock_mhz": Theirs(("clocks/mem_clock",), number, False),
    "pstate": Theirs(("performance_state",), number, False),
    "pcie_gen": Theirs((f"{_LINK}/pcie_gen/current_link_gen",), number, False),
    "pcie_width": Theirs((f"{_LINK}/link_widths/current_link_width",), number, False),
    "pcie_tx_bytes_per_s": Theirs(("pci/tx_util",), lambda text: number(text) * KIB, False),
    "pcie_rx_bytes_per_s": Theirs(("pci/rx_util",), lambda text: number(text) * KIB, False),
    "fabric": Theirs(("fabric/state",), lambda text: text.lower(), False),
}


class SmiGpu:
    """One GPU as nvidia-smi describes it."""

    def __init__(self, element: ElementTree.Element) -> None:
        self._element = element
        domain, _, rest = element.get("id", "").lower().partition(":")
        self.pci_bus_id = f"{domain[-4:]}:{rest}"

    def value(self, field: str) -> Any:
        """A field of FIELDS, or None where nvidia-smi does not tell it."""
        theirs = FIELDS[field]
        found = (self._sum(path, theirs.convert) for path in theirs.paths)
        return next((value for value in found if value is not None), None)

    def limit_c(self, threshold: str) -> float | None:
        """The temperature of a threshold that is told as a distance to the limit (Ada and later)."""
        now_c, margin_c, away_c = (
            self._sum(f"temperature/{name}", number) for name in ("gpu_temp", "gpu_temp_tlimit", threshold)
        )
        return None if None in (now_c, margin_c, away_c) else now_c + margin_c - away_c

    def throttle(self) -> tuple[str, ...]:
        """Reasons that are active, in hwtop's words."""
        active = {
            element.tag.partition("_reason_")[2]
            for group in ("clocks_event_reasons", "clocks_throttle_reasons")
            for element in self._element.findall(f"{group}/*")
            if element.text == "Active"
        }
        return tuple(word for name, word in _REASONS.items() if name in active)

    def processes(self) -> dict[int, tuple[str, str]]:
        """Type ("C", "G", "C+G", "M+C") and memory as it is told, by PID."""
        return {
            int(info.findtext("pid", "0")): (info.findtext("type", ""), info.findtext("used_memory", ""))
            for info in self._element.findall("processes/process_info")
        }

    def mig(self) -> dict[int, tuple[int, int, float]]:
        """GPU instance, compute instance and memory in bytes of the MIG instances, by index."""
        return {
            int(device.findtext("index", "0")): (
                int(device.findtext("gpu_instance_id", "0")),
                int(device.findtext("compute_instance_id", "0")),
                mib(device.findtext("fb_memory_usage/total", "0 MiB")),
            )
            for device in self._element.findall("mig_devices/mig_device")
        }

    def _sum(self, path: str, convert: Callable[[str], Any]) -> Any:
        values = [self._one(part, convert) for part in path.split("+")]
        if None in values:
            return None
        return values[0] if len(values) == 1 else sum(values)

    def _one(self, path: str, convert: Callable[[str], Any]) -> Any:
        text = (self._element.findtext(path) or "").strip()
        if not text or text == "N/A" or text.startswith(("Requested functionality", "[", "Not Supported")):
            return None
        try:
            return convert(text)
        except ValueError:
            return None


def parsed(text: str) -> dict[str, SmiGpu]:
    """The GPUs in the XML, by PCI bus id as sysfs spells it."""
    gpus = [SmiGpu(element) for element in ElementTree.fromstring(text).findall("gpu")]
    return {gpu.pci_bus_id: gpu for gpu in gpus}


def read() -> dict[str, SmiGpu]:
    """Ask nvidia-smi; nothing where it is absent or fails."""
    try:
        result = subprocess.run(["nvidia-smi", "-q", "-x"], capture_output=True, text=True, timeout=120, check=True)
        return parsed(result.stdout)
    except (OSError, subprocess.SubprocessError, ElementTree.ParseError) as error:
        print(f"nvidia-smi -q -x: {error}")
        return {}

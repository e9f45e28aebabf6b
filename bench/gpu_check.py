"""Compare what hwtop reads of real NVIDIA GPUs with nvidia-smi, and tell what a reading costs.

    python3 bench/gpu_check.py            needs pynvml, msgspec and hwtop on PYTHONPATH, and nvidia-smi on PATH

Exit code 1 when a number that cannot have changed differs or nothing could be compared, 2 without a driver. Levels (utilization, power, clocks) are read by the two tools a
moment apart, so they are printed side by side but not judged.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from hwtop.collectors.gpu_nvidia import GpuNvidiaSource
from hwtop.collectors.nvml_device import NvmlDevice
from hwtop.collectors.nvml_levels import throttle_reasons
from hwtop.errors import CannotError
from hwtop.model.gpu import Gpu

READS = 20
MIB = 1024**2

# field of Gpu: (names in nvidia-smi --help-query-gpu, newest first; its text as our unit; must it be equal?)
FIELDS: dict[str, tuple[tuple[str, ...], Callable[[str], Any], bool]] = {
    "name": (("name",), str, True),
    "uuid": (("uuid",), str, True),
    "pci_bus_id": (("pci.bus_id",), lambda text: text.lower()[-12:], True),
    "mem_total_bytes": (("memory.total",), lambda text: float(text) * MIB, True),
    "power_limit_w": (("enforced.power.limit", "power.limit"), float, True),
    "sm_clock_max_mhz": (("clocks.max.sm",), float, True),
    "pcie_gen_max": (("pcie.link.gen.max",), float, True),
    "pcie_width_max": (("pcie.link.width.max",), float, True),
    "util_pct": (("utilization.gpu",), float, False),
    "mem_util_pct": (("utilization.memory",), float, False),
    "mem_used_bytes": (("memory.used",), lambda text: float(text) * MIB, False),
    "power_w": (("power.draw",), float, False),
    "temp_c": (("temperature.gpu",), float, False),
    "sm_clock_mhz": (("clocks.sm",), float, False),
    "mem_clock_mhz": (("clocks.mem",), float, False),
    "pcie_gen": (("pcie.link.gen.current",), float, False),
    "pcie_width": (("pcie.link.width.current",), float, False),
    "throttle": (
        ("clocks_event_reasons.active", "clocks_throttle_reasons.active"),
        lambda text: throttle_reasons(int(text, 16)),
        False,
    ),
}


class Clock:
    """Monotonic, and can be moved on so that what is read seldom is due."""

    skipped_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.skipped_s


class TimedLib:
    """The module pynvml with a stopwatch on each function."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self.took_ms: dict[str, list[float]] = defaultdict(list)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._lib, name)

        def timed(*args: Any) -> Any:
            started_s = time.perf_counter()
            try:
                return function(*args)
            finally:
                self.took_ms[name].append((time.perf_counter() - started_s) * 1e3)

        return timed


def smi(*args: str) -> list[list[str]] | None:
    """Rows of nvidia-smi's CSV, or None where it does not know the field or is absent."""
    command = ["nvidia-smi", *args, "--format=csv,noheader,nounits"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return [[cell.strip() for cell in line.split(",")] for line in result.stdout.splitlines() if line.strip()]


def smi_values(field: str) -> dict[int, Any]:
    """What nvidia-smi says of a field, by GPU index; without the GPUs for which it says nothing."""
    names, convert, _ = FIELDS[field]
    for name in names:
        rows = smi(f"--query-gpu=index,{name}")
        if rows is not None:
            values = {int(index): converted(", ".join(text), convert) for index, *text in rows}
            return {index: value for index, value in values.items() if value is not None}
    return {}


def converted(text: str, convert: Callable[[str], Any]) -> Any:
    """A cell as our unit; None for "[N/A]", "[Not Supported]" and the like."""
    try:
        return convert(text)
    except ValueError:
        return None


def smi_processes() -> dict[str, dict[int, str]]:
    """Memory in MiB by PID by GPU UUID."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for row in smi("--query-compute-apps=gpu_uuid,pid,used_memory") or []:
        if len(row) == 3 and row[1].isdigit():
            found[row[0]][int(row[1])] = row[2]
    return found


def compare(gpus: tuple[Gpu, ...]) -> tuple[int, int]:
    """Print ours beside theirs; how many fields were judged, and how many of these differ."""
    theirs = {field: smi_values(field) for field in FIELDS}
    processes = smi_processes()
    judged = wrong = 0
    for gpu in gpus:
        print(f"\nGPU {gpu.index}: {gpu.status} {gpu.reason or ''}\n  {'field':22s} {'hwtop':>42s} {'nvidia-smi':>42s}")
        for field, (_, _, must_equal) in FIELDS.items():
            ours, other = getattr(gpu, field), theirs[field].get(gpu.index)
            is_judged = must_equal and other is not None
            is_wrong = is_judged and not is_close(ours, other)
            judged += is_judged
            wrong += is_wrong
            note = "DIFFERS" if is_wrong else gpu.missing.get(field, "")
            print(f"  {field:22s} {ours!s:>42s} {other!s:>42s}  {note}")
        for field in ("pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"):
            print(f"  {field:22s} {getattr(gpu, field)!s:>42s} {'-':>42s}  {gpu.missing.get(field, '')}")
        ours_by_pid = {process.pid: process.mem_bytes for process in gpu.processes or ()}
        print(f"  processes (pid: bytes) {ours_by_pid}  {gpu.missing.get('processes', '')}")
        print(f"  nvidia-smi (pid: MiB)  {processes.get(gpu.uuid or '', {})}")
    return judged, wrong


def is_close(ours: Any, other: Any) -> bool:
    """Equal, but for what nvidia-smi rounds away."""
    if isinstance(ours, (int, float)) and isinstance(other, (int, float)):
        return abs(ours - other) <= max(0.01 * abs(other), 0.01)
    return bool(ours == other)


def cost(source: GpuNvidiaSource) -> None:
    """Print wall and CPU time of a reading of all GPUs."""
    wall_ms, cpu_started_s = [], time.process_time()
    for _ in range(READS):
        started_s = time.perf_counter()
        source.read()
        wall_ms.append((time.perf_counter() - started_s) * 1e3)
        time.sleep(0.1)
    cpu_ms = (time.process_time() - cpu_started_s) * 1e3 / READS
    print(
        f"\none reading of all GPUs: median {statistics.median(wall_ms):.2f} ms, worst {max(wall_ms):.2f} ms wall; {cpu_ms:.2f} ms CPU"
    )


def call_costs(index: int) -> None:
    """Print what each NVML call takes, everything asked at each reading."""
    import pynvml

    lib, clock = TimedLib(pynvml), Clock()
    device = NvmlDevice(lib, index, clock)
    for _ in range(READS):
        device.read()
        clock.skipped_s += 10.0
    print(f"\nNVML calls for GPU {index}, ms: median, worst, calls")
    for name, took_ms in sorted(lib.took_ms.items(), key=lambda item: -statistics.median(item[1])):
        print(f"  {name:46s} {statistics.median(took_ms):9.3f} {max(took_ms):9.3f} {len(took_ms):5d}")


def main() -> int:
    clock = Clock()
    source = GpuNvidiaSource(now=clock, deadline_s=10.0)
    started_s = time.perf_counter()
    reason = source.probe()
    print(f"NVML ready after {(time.perf_counter() - started_s) * 1e3:.0f} ms: {reason or 'ok'}")
    if reason is not None:
        return 2
    try:
        started_s = time.perf_counter()
        reading = source.read()
        print(
            f"first reading {(time.perf_counter() - started_s) * 1e3:.1f} ms, driver {reading.driver}, {len(reading.gpus)} GPUs"
        )
        clock.skipped_s += 6.0
        judged, wrong = compare(source.read().gpus)
        cost(source)
    except CannotError as error:
        print(error)
        return 2
    call_costs(reading.gpus[0].index)
    print(
        f"\n{wrong} of {judged} fields differ that must not"
        if judged
        else "\nnothing compared: nvidia-smi gave no values"
    )
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main())

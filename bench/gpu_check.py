"""Compare what hwtop reads of real NVIDIA GPUs with nvidia-smi, and tell what a reading costs.

    python3 bench/gpu_check.py            needs pynvml, msgspec and hwtop on PYTHONPATH, and nvidia-smi on PATH

Exit code 1 when a number that cannot have changed differs or nothing could be compared, 2 without a driver. Levels (utilization,
power, clocks) are read by the two tools a moment apart, so they are printed side by side but not judged.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import smi_xml

from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu

READS = 20


class Clock:
    """Monotonic, and can be moved on so that what is read seldom is due."""

    skipped_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.skipped_s


def ours(gpu: Gpu, field: str) -> Any:
    """A field of Gpu, or "parent.child"."""
    value: Any = gpu
    for part in field.split("."):
        value = getattr(value, part, None)
    return value


def compare(gpus: tuple[Gpu, ...]) -> tuple[int, int]:
    """Print ours beside theirs; how many fields were judged, and how many of these differ."""
    theirs = smi_xml.read()
    judged = wrong = 0
    for gpu in gpus:
        print(f"\nGPU {gpu.index}: {gpu.status} {gpu.reason or ''}\n  {'field':28s} {'hwtop':>40s} {'nvidia-smi':>40s}")
        other = theirs.get(gpu.pci_bus_id or "")
        if other is None:
            print(f"  nvidia-smi tells nothing of {gpu.pci_bus_id}")
            continue
        for field, place in smi_xml.FIELDS.items():
            mine, said = ours(gpu, field), other.value(field)
            is_judged = place.must_equal and said is not None
            is_wrong = is_judged and not is_close(mine, said)
            judged += is_judged
            wrong += is_wrong
            note = "DIFFERS" if is_wrong else reason(gpu, field)
            print(f"  {field:28s} {mine!s:>40s} {said!s:>40s}  {note}")
        compare_rest(gpu, other)
    return judged, wrong


def compare_rest(gpu: Gpu, other: smi_xml.SmiGpu) -> None:
    """Print side by side what is more than one number."""
    limits = [other.limit_c(f"gpu_temp_{name}_tlimit_threshold") for name in ("slow", "max")]
    processes = {process.pid: (process.kind, process.mem_bytes, process.sm_pct) for process in gpu.processes or ()}
    mig = {m.index: (m.gpu_instance, m.compute_instance, m.mem_total_bytes) for m in gpu.mig}
    for name, mine, said in (
        ("slowdown, shutdown by limit", (gpu.temp_slowdown_c, gpu.temp_shutdown_c), limits),
        ("throttle", gpu.throttle, other.throttle()),
        ("processes", processes, other.processes()),
        ("MIG instances", mig, other.mig()),
        ("NUMA node, CPUs", (gpu.numa_node, gpu.cpus), "see nvidia-smi topo -m"),
    ):
        print(f"  {name}\n    hwtop       {mine}  {gpu.missing.get(name, '')}\n    nvidia-smi  {said}")


def reason(gpu: Gpu, field: str) -> str:
    """Why ours is None."""
    return gpu.missing.get(field) or gpu.missing.get(field.partition(".")[0], "")


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


def call_costs(source: GpuNvidiaSource, clock: Clock) -> None:
    """Print what each NVML function takes, everything asked at each reading."""
    for _ in range(READS):
        clock.skipped_s += 11.0
        reading = source.read()
    print(f"\nNVML calls for {len(reading.gpus)} GPUs, ms: mean, worst, calls")
    for cost in sorted(reading.costs, key=lambda cost: -cost.mean_ms):
        print(f"  {cost.function:46s} {cost.mean_ms:9.3f} {cost.max_ms:9.3f} {cost.calls:5d}")


def main() -> int:
    clock = Clock()
    source = GpuNvidiaSource(now=clock, deadline_s=10.0, costs=True)
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
        call_costs(source, clock)
    except CannotError as error:
        print(error)
        return 2
    print(
        f"\n{wrong} of {judged} fields differ that must not"
        if judged
        else "\nnothing compared: nvidia-smi gave no values"
    )
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main())

"""A snapshot in a few lines of text."""

from __future__ import annotations

from hwtop.job.size import part, size
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.gpu.device import Gpu
from hwtop.report.fit import Section, fitted
from hwtop.report.frame.brief import rank_groups


def machine(frame: Frame, *, is_brief: bool = False, most_bytes: int | None = None) -> str:
    """A few lines about the machine and the job: what `hwtop snapshot` prints without --json; at most so many bytes of it.

    `is_brief`: one line for all ranks that do the same.
    """
    derived = frame.derived
    job = derived.job
    ranks = [
        f"rank {rank.rank:<3} PID {rank.pid}: {rank.state}, {rank.stack.phase or 'phase unknown'}"
        for rank in (job.ranks if job else ())
    ]
    sections = [
        Section("the processor and memory", _host(derived)),
        Section("GPUs", [f"gpu {gpu.index:<4} {gpu.name}: {_gpu(gpu)}" for gpu in derived.gpus]),
        Section("disks and networks", _traffic(derived)),
        Section("ranks", rank_groups(job) if job and is_brief else ranks),
        Section("what is not visible", [f"not visible: {spot.source}: {spot.reason}" for spot in frame.blind]),
    ]
    whole = f"hwtop snapshot{f' --pid {job.target_pid}' if job else ''}"
    return fitted([f"{derived.host}  {frame.verdict.text}"], sections, most_bytes, whole)


def _host(derived: DerivedState) -> list[str]:
    lines = []
    if derived.cpu is not None:
        lines.append(
            f"cpu      {_pct(derived.cpu.util_pct)} of {derived.cores:g} cores, load {derived.cpu.load[0]:.2f}"
        )
    if derived.memory is not None:
        lines.append(f"memory   {part(derived.memory.used_bytes, derived.memory.total_bytes)} used")
    return lines


def _traffic(derived: DerivedState) -> list[str]:
    disks = [
        f"disk     {disk.name}: read {_size(disk.read_bytes_per_s)}/s, write {_size(disk.write_bytes_per_s)}/s, busy {_pct(disk.busy_pct)}"
        for disk in derived.disks
    ]
    return disks + [
        f"network  {nic.name}: in {_size(nic.rx_bytes_per_s)}/s, out {_size(nic.tx_bytes_per_s)}/s"
        for nic in (derived.network.nics if derived.network else ())
        if not nic.is_virtual
    ]


def _gpu(gpu: Gpu) -> str:
    """Utilization, memory, power and temperature, or why they are unknown; of a stale one the last values."""
    if gpu.status in ("lost", "error"):
        return f"{gpu.status}: {gpu.reason}"
    unknown = [gpu.missing.get(field) for field in ("util_pct", "mem_used_bytes")]
    facts = [
        "utilization unknown" if gpu.util_pct is None else _pct(gpu.util_pct),
        _device_memory(gpu),
    ]
    if gpu.power_w is not None:
        facts.append(f"{gpu.power_w:.0f} W" + (f" of {gpu.power_limit_w:.0f} W" if gpu.power_limit_w else ""))
    if gpu.temp_c is not None:
        facts.append(f"{gpu.temp_c:.0f} °C")
    reasons = dict.fromkeys(reason for reason in unknown if reason is not None)
    reported = ", ".join(facts) + (f" ({'; '.join(reasons)})" if reasons else "")
    if gpu.status == "ok":
        return reported
    has_numbers = gpu.util_pct is not None or gpu.mem_used_bytes is not None
    return f"stale for {gpu.age_s:.0f} s: {gpu.reason}" + (f"; last values: {reported}" if has_numbers else "")


def _device_memory(gpu: Gpu) -> str:
    """In GiB, as in findings and in the tools of the vendors (MiB): an "80 GB" board has 80 GiB."""
    if gpu.mem_used_bytes is None:
        return "memory unknown"
    if gpu.mem_total_bytes is None:
        return size(gpu.mem_used_bytes)
    return part(gpu.mem_used_bytes, gpu.mem_total_bytes)


def _pct(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} %"


def _size(value: float | None) -> str:
    return "unknown" if value is None else size(value)
